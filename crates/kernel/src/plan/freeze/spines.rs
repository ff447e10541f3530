//! Spines, guards and the segments between them.

use super::{Layout, Operands, root_formulas};
use crate::plan::builder::{Below, Builder, Way};
use crate::plan::image::{NONE, Section};
use crate::plan::program::OutputSpec;
use rustc_hash::FxHashMap;

pub(super) fn freeze_spines_and_guards(
    builder: &Builder,
    operands: &Operands,
    layout: &mut Layout,
) {
    let mut segments: FxHashMap<(u32, Below), u32> = FxHashMap::default();
    let mut segment_guards: Vec<Vec<u32>> = Vec::new();
    let mut segment_keys: Vec<(u32, u32)> = Vec::new();
    let n = builder.spines.len();
    let (mut kids, mut plain, mut leaf_segments, mut formulas, mut claims, mut reach) = (
        vec![vec![]; n],
        vec![vec![]; n],
        vec![vec![]; n],
        vec![vec![]; n],
        vec![vec![]; n],
        vec![vec![]; n],
    );
    let mut above = vec![Vec::new(); builder.guards.keys().len()];
    let mut targets = vec![Vec::new(); builder.guards.keys().len()];
    let mut guarded = vec![Vec::new(); builder.guards.keys().len()];
    let mut of_guard = Vec::new();
    for (id, guard) in builder.guards.keys().iter().enumerate() {
        let segment = *segments
            .entry((guard.spine, guard.below))
            .or_insert_with(|| {
                let lower = match guard.below {
                    Below::Leaf(leaf) => leaf,
                    Below::Guard(inner) => builder.guards.keys()[inner as usize].spine,
                };
                let segment = segment_keys.len() as u32;
                segment_keys.push((guard.spine, lower));
                segment_guards.push(Vec::new());
                match guard.below {
                    Below::Leaf(leaf) => leaf_segments[leaf as usize].push(segment),
                    Below::Guard(inner) => above[inner as usize].push(segment),
                }
                segment
            });
        segment_guards[segment as usize].push(id as u32);
        of_guard.push(segment);
        formulas[guard.spine as usize].push(guard.formula);
    }
    for (id, target) in builder.targets.keys().iter().enumerate() {
        for formula in root_formulas(&target.output) {
            formulas[0].push(formula);
        }
        for way in &target.ways {
            let leaf = match *way {
                Way::Plain(leaf) => {
                    plain[leaf as usize].push(id as u32);
                    leaf
                }
                Way::Guarded(top) => {
                    targets[top as usize].push(id as u32);
                    leaf_of(builder, top)
                }
            };
            reach[leaf as usize].push(id as u32);
        }
    }
    for (id, spine) in builder.spines.iter().enumerate() {
        if let Some(parent) = spine.parent {
            kids[parent as usize].push((spine.axis as u32, spine.test, id as u32));
        }
    }
    for (operand, &id) in operands {
        let Some(path) = operand.path else { continue };
        claims[path.leaf as usize].push(id);
        if let Some(guard) = path.guard {
            guarded[guard as usize].push(id);
        }
    }
    for (id, spine) in builder.spines.iter().enumerate() {
        for list in [&mut formulas[id], &mut reach[id], &mut claims[id]] {
            list.sort_unstable();
            list.dedup();
        }
        kids[id].sort_unstable();
        let triples: Vec<u32> = kids[id].iter().flat_map(|&(a, t, s)| [a, t, s]).collect();
        let number = reach[id]
            .iter()
            .any(|&t| needs_number(&builder.targets.keys()[t as usize].output));
        let lists = [
            &triples,
            &plain[id],
            &leaf_segments[id],
            &formulas[id],
            &claims[id],
            &reach[id],
        ]
        .map(|l| layout.list(l));
        let [kids, plain, segments, formulas, claims, reach] = lists;
        let head = [spine.parent.unwrap_or(NONE), spine.axis as u32, spine.test];
        layout.push(
            Section::Spines,
            &[
                head[0],
                head[1],
                head[2],
                kids,
                plain,
                segments,
                formulas,
                claims,
                reach,
                u32::from(number),
            ],
        );
    }
    for (id, guard) in builder.guards.keys().iter().enumerate() {
        // The map of operands has no order of its own; equal plans have equal images.
        guarded[id].sort_unstable();
        let [above, targets, operands] =
            [&above[id], &targets[id], &guarded[id]].map(|l| layout.list(l));
        layout.push(
            Section::Guards,
            &[
                guard.spine,
                guard.formula,
                of_guard[id],
                above,
                targets,
                operands,
            ],
        );
    }
    for (&(upper, lower), guards) in segment_keys.iter().zip(&segment_guards) {
        let guards = layout.list(guards);
        layout.push(Section::Segments, &[upper, lower, guards]);
    }
}

fn leaf_of(builder: &Builder, guard: u32) -> u32 {
    match builder.guards.keys()[guard as usize].below {
        Below::Leaf(leaf) => leaf,
        Below::Guard(inner) => leaf_of(builder, inner),
    }
}

fn needs_number(output: &OutputSpec) -> bool {
    matches!(output, OutputSpec::Aggregate { function: 1.., .. })
}
