//! Spines, guards and the segments between them.

use super::{Layout, Operands, root_formulas};
use crate::plan::builder::{Below, Builder, Way};
use crate::plan::image::Section;
use crate::plan::records::Output;
use crate::plan::{FormulaId, GuardId, OperandId, SegmentId, SpineId, TargetId, TestId};
use crate::tables::Table;
use crate::vocabulary::{Aggregate, Axis};
use rustc_hash::FxHashMap;

/// What hangs on a step.
#[derive(Default)]
struct SpineLinks {
    kids: Vec<(Axis, TestId, SpineId)>,
    plain: Vec<TargetId>,
    segments: Vec<SegmentId>,
    formulas: Vec<FormulaId>,
    claims: Vec<OperandId>,
    reach: Vec<TargetId>,
}

/// What hangs on a guard.
#[derive(Default)]
struct GuardLinks {
    segment: SegmentId,
    above: Vec<SegmentId>,
    targets: Vec<TargetId>,
    operands: Vec<OperandId>,
}

/// The steps from a guard down to the next guard or the leaf, and the guards that share them.
struct Segment {
    upper: SpineId,
    lower: SpineId,
    guards: Vec<GuardId>,
}

struct Links<'a> {
    builder: &'a Builder,
    spines: Table<SpineId, SpineLinks>,
    guards: Table<GuardId, GuardLinks>,
    segments: Table<SegmentId, Segment>,
}

pub(super) fn freeze_spines_and_guards(
    builder: &Builder,
    operands: &Operands,
    layout: &mut Layout,
) {
    let mut links = Links {
        builder,
        spines: Table::of_defaults(builder.spines.len()),
        guards: Table::of_defaults(builder.guards.keys().len()),
        segments: Table::default(),
    };
    links.add_guards();
    links.add_targets();
    links.add_kids();
    links.add_operands(operands);
    links.freeze_spines(layout);
    links.freeze_guards(layout);
    for segment in links.segments {
        let guards = layout.list(&segment.guards);
        let record = [segment.upper.0, segment.lower.0, guards];
        layout.push(Section::Segments, &record);
    }
}

impl Links<'_> {
    /// Guards at one step with the same below share a segment.
    fn add_guards(&mut self) {
        let keys = self.builder.guards.keys();
        let mut segments: FxHashMap<(SpineId, Below), SegmentId> = FxHashMap::default();
        for (id, guard) in keys.pairs() {
            let place = segments.entry((guard.spine, guard.below));
            let segment = *place.or_insert_with(|| {
                let lower = match guard.below {
                    Below::Leaf(leaf) => leaf,
                    Below::Guard(inner) => keys[inner].spine,
                };
                let segment = self.segments.push(Segment {
                    upper: guard.spine,
                    lower,
                    guards: Vec::new(),
                });
                match guard.below {
                    Below::Leaf(leaf) => self.spines[leaf].segments.push(segment),
                    Below::Guard(inner) => self.guards[inner].above.push(segment),
                }
                segment
            });
            self.segments[segment].guards.push(id);
            self.guards[id].segment = segment;
            self.spines[guard.spine].formulas.push(guard.formula);
        }
        let shape_of = &self.builder.shape_of;
        for segment in self.segments.iter_mut() {
            let shape = |guard: &GuardId| shape_of[keys[*guard].formula];
            segment.guards.sort_by_key(shape);
        }
    }

    fn add_targets(&mut self) {
        for (id, target) in self.builder.targets.keys().pairs() {
            let at_root = &mut self.spines[SpineId::ROOT].formulas;
            at_root.extend(root_formulas(&target.output));
            for way in &target.ways {
                let leaf = match *way {
                    Way::Plain(leaf) => {
                        self.spines[leaf].plain.push(id);
                        leaf
                    }
                    Way::Guarded(top) => {
                        self.guards[top].targets.push(id);
                        leaf_of(self.builder, top)
                    }
                };
                self.spines[leaf].reach.push(id);
            }
        }
    }

    fn add_kids(&mut self) {
        for (id, spine) in self.builder.spines.pairs() {
            if let Some(parent) = spine.parent {
                let kid = (spine.axis, spine.test, id);
                self.spines[parent].kids.push(kid);
            }
        }
    }

    fn add_operands(&mut self, operands: &Operands) {
        for (operand, &id) in operands {
            let Some(path) = operand.path else { continue };
            self.spines[path.leaf].claims.push(id);
            if let Some(guard) = path.guard {
                self.guards[guard].operands.push(id);
            }
        }
    }

    fn freeze_spines(&mut self, layout: &mut Layout) {
        let targets = self.builder.targets.keys();
        for (id, spine) in self.builder.spines.pairs() {
            let links = &mut self.spines[id];
            links.kids.sort_unstable();
            sort_distinct(&mut links.formulas);
            sort_distinct(&mut links.claims);
            sort_distinct(&mut links.reach);
            let kids = links.kids.iter();
            let kids: Vec<u32> = kids.flat_map(|&(a, t, s)| [a as u32, t.0, s.0]).collect();
            let mut reach = links.reach.iter();
            let needs_number = reach.any(|&target| needs_number(&targets[target].output));
            let record = [
                spine.parent.unwrap_or(SpineId::NONE).0,
                spine.axis as u32,
                spine.test.0,
                layout.words(&kids),
                layout.list(&links.plain),
                layout.list(&links.segments),
                layout.list(&links.formulas),
                layout.list(&links.claims),
                layout.list(&links.reach),
                u32::from(needs_number),
            ];
            layout.push(Section::Spines, &record);
        }
    }

    fn freeze_guards(&mut self, layout: &mut Layout) {
        for (id, guard) in self.builder.guards.keys().pairs() {
            let links = &mut self.guards[id];
            // The map of operands has no order of its own; equal plans have equal images.
            links.operands.sort_unstable();
            let record = [
                guard.spine.0,
                guard.formula.0,
                links.segment.0,
                layout.list(&links.above),
                layout.list(&links.targets),
                layout.list(&links.operands),
            ];
            layout.push(Section::Guards, &record);
        }
    }
}

fn sort_distinct<I: Ord>(ids: &mut Vec<I>) {
    ids.sort_unstable();
    ids.dedup();
}

fn leaf_of(builder: &Builder, guard: GuardId) -> SpineId {
    match builder.guards.keys()[guard].below {
        Below::Leaf(leaf) => leaf,
        Below::Guard(inner) => leaf_of(builder, inner),
    }
}

fn needs_number(output: &Output) -> bool {
    matches!(output, Output::Aggregate { function, .. } if *function != Aggregate::Count)
}
