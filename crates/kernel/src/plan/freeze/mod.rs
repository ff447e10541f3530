//! Lays a builder's tables out as an image.

mod reverse;
mod spines;

use super::builder::{Builder, SpineNode};
use super::formulas::{FormulaKey, OperandKey, OperandPath, ShapeKey};
use super::image::{HEAD, MAGIC, NONE, Plan, SECTIONS, Section, VERSION, hash_bytes};
use super::program::OutputSpec;
use super::questions;
use super::requests::freeze_requests;
use crate::vocabulary::{Axis, Comparison};
use reverse::Reverse;
use rustc_hash::FxHashMap;
use spines::freeze_spines_and_guards;

/// One section under construction beside the pool of lists.
pub(super) struct Layout {
    sections: [Vec<u32>; SECTIONS],
}

impl Layout {
    fn new() -> Self {
        let mut layout = Layout {
            sections: Default::default(),
        };
        // The empty list has place 0 and is shared by everyone.
        layout.sections[Section::Lists as usize].push(0);
        layout
    }

    fn list(&mut self, items: &[u32]) -> u32 {
        if items.is_empty() {
            return 0;
        }
        let pool = &mut self.sections[Section::Lists as usize];
        let at = pool.len() as u32;
        pool.push(items.len() as u32);
        pool.extend_from_slice(items);
        at
    }

    pub fn push(&mut self, section: Section, record: &[u32]) -> u32 {
        let words = &mut self.sections[section as usize];
        let at = words.len() / record.len().max(1);
        words.extend_from_slice(record);
        at as u32
    }

    fn finish(self) -> Vec<u32> {
        let mut words = vec![0; HEAD];
        (words[0], words[1]) = (MAGIC, VERSION);
        for (index, section) in self.sections.into_iter().enumerate() {
            words[2 + 2 * index] = words.len() as u32;
            words[3 + 2 * index] = section.len() as u32;
            words.extend_from_slice(&section);
        }
        words
    }
}

/// Builds the image of everything in the builder.
pub fn freeze(builder: &Builder) -> Plan {
    let mut layout = Layout::new();
    freeze_constants(builder, &mut layout);
    let operands = freeze_operands(builder, &mut layout);
    let reverse = Reverse::of(builder, &operands);
    freeze_formulas(builder, &reverse, &operands, &mut layout);
    freeze_shapes(builder, &operands, &mut layout);
    freeze_spines_and_guards(builder, &operands, &mut layout);
    freeze_parts(builder, &mut layout);
    freeze_targets(builder, &mut layout);
    freeze_questions(builder, &mut layout);
    freeze_requests(builder, &mut layout);
    Plan::from_words(layout.finish())
        .unwrap_or_else(|reason| panic!("a fresh plan is sound: {reason}"))
}

fn freeze_constants(builder: &Builder, layout: &mut Layout) {
    let mut bytes: Vec<u8> = Vec::new();
    let programs = builder.requests.iter().map(|request| &request.program);
    for string in builder.strings.keys().iter().chain(programs) {
        layout.push(Section::Strings, &[bytes.len() as u32, string.len() as u32]);
        bytes.extend_from_slice(string);
    }
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    for chunk in bytes.chunks_exact(4) {
        layout.push(
            Section::Bytes,
            &[u32::from_ne_bytes([chunk[0], chunk[1], chunk[2], chunk[3]])],
        );
    }
    for &number in builder.numbers.keys() {
        layout.push(Section::Numbers, &[number as u32, (number >> 32) as u32]);
    }
    for test in builder.tests.keys() {
        let uris = test.uris.as_ref().map_or(NONE, |uris| layout.list(uris));
        layout.push(
            Section::Tests,
            &[test.kind as u32, test.local.unwrap_or(NONE), uris],
        );
    }
    for (op, args) in builder.exprs.keys() {
        let args = layout.list(args);
        layout.push(Section::Exprs, &[*op as u32, args]);
    }
}

fn root_formulas(output: &OutputSpec) -> Vec<u32> {
    match *output {
        OutputSpec::Boolean { holds, fails } => vec![holds, fails],
        OutputSpec::Filter { holds } => vec![holds],
        OutputSpec::Value { formula, .. } => vec![formula],
        _ => Vec::new(),
    }
}

/// Numbers of the operands.
pub(super) type Operands = FxHashMap<OperandKey, u32>;

fn freeze_operands(builder: &Builder, layout: &mut Layout) -> Operands {
    let mut ids = Operands::default();
    for key in builder.formulas.keys() {
        if let FormulaKey::Computed { operands, .. } = key {
            for operand in operands {
                let (holds, fails) = operand.condition.unwrap_or((NONE, NONE));
                ids.entry(*operand).or_insert_with(|| {
                    let Some(OperandPath { root, leaf, guard }) = operand.path else {
                        return layout.push(
                            Section::Operands,
                            &[operand.part, NONE, NONE, 0, NONE, holds, fails],
                        );
                    };
                    let flags =
                        u32::from(guard.is_some()) | u32::from(stays_near(builder, leaf)) << 1;
                    let entry = entry_of(builder, leaf);
                    layout.push(
                        Section::Operands,
                        &[operand.part, root, leaf, flags, entry, holds, fails],
                    )
                });
            }
        }
    }
    ids
}

/// Whether a path from an operand's root takes only self and attribute steps.
fn stays_near(builder: &Builder, mut spine: u32) -> bool {
    while let SpineNode {
        parent: Some(parent),
        axis,
        ..
    } = builder.spines[spine as usize]
    {
        if !matches!(axis, Axis::Itself | Axis::Attribute) {
            return false;
        }
        spine = parent;
    }
    true
}

/// The last spine of the run of self steps below an operand's root.
fn entry_of(builder: &Builder, leaf: u32) -> u32 {
    let mut spine = leaf;
    let mut entry = leaf;
    while let SpineNode {
        parent: Some(parent),
        axis,
        ..
    } = builder.spines[spine as usize]
    {
        if axis != Axis::Itself {
            entry = parent;
        }
        spine = parent;
    }
    entry
}

fn freeze_formulas(builder: &Builder, reverse: &Reverse, operands: &Operands, layout: &mut Layout) {
    let mut equals = Vec::new();
    for (id, key) in builder.formulas.keys().iter().enumerate() {
        let (mut kind, mut a, mut b, mut sub, mut children) = (0, 0, 0, NONE, 0);
        match key {
            FormulaKey::True => {}
            FormulaKey::False => kind = 1,
            FormulaKey::And(parts) => (kind, children) = (2, layout.list(parts)),
            FormulaKey::Or(parts) => (kind, children) = (3, layout.list(parts)),
            FormulaKey::Not(part) => (kind, sub) = (4, *part),
            FormulaKey::Edge {
                axis,
                test,
                sub: to,
            } => (kind, a, b, sub) = (5, *axis as u32, *test, *to),
            FormulaKey::Is(test) => (kind, b) = (6, *test),
            FormulaKey::Text { op, string } => {
                (kind, a, b) = (7, *op as u32, *string);
                if *op == Comparison::Eq {
                    equals.push((id as u32, *string));
                }
            }
            FormulaKey::Number { op, number } => (kind, a, b) = (8, *op as u32, *number),
            FormulaKey::Contains(string) => (kind, b) = (9, *string),
            FormulaKey::StartsWith(string) => (kind, b) = (10, *string),
            FormulaKey::Computed {
                expr,
                operands: keys,
            } => {
                let ids: Vec<u32> = keys.iter().map(|o| operands[o]).collect();
                (kind, b, children) = (11, *expr, layout.list(&ids));
            }
        }
        let lists = [
            &reverse.disjunctions,
            &reverse.conjunctions,
            &reverse.edges,
            &reverse.guards,
            &reverse.root_targets,
            &reverse.operands,
        ]
        .map(|lists| layout.list(&lists[id]));
        let announces = u32::from(reverse.announces[id]);
        let (shape, negation) = (builder.shape_of[id], reverse.negation[id]);
        let [ors, ands, edges, guards, roots, operands] = lists;
        layout.push(
            Section::Formulas,
            &[
                kind, a, b, sub, children, shape, negation, ors, ands, edges, guards, roots,
                announces, operands,
            ],
        );
    }
    freeze_equals(builder, &equals, layout);
}

fn freeze_equals(builder: &Builder, atoms: &[(u32, u32)], layout: &mut Layout) {
    if atoms.is_empty() {
        return;
    }
    let slots = (atoms.len() * 2).next_power_of_two();
    let mut table = vec![NONE; 2 * slots];
    for &(formula, string) in atoms {
        let hash = hash_bytes(&builder.strings.keys()[string as usize]);
        let mut slot = hash as usize & (slots - 1);
        while table[2 * slot] != NONE {
            slot = (slot + 1) & (slots - 1);
        }
        table[2 * slot..2 * slot + 2].copy_from_slice(&[formula, string]);
    }
    layout.sections[Section::Equals as usize] = table;
}

fn freeze_shapes(builder: &Builder, operands: &Operands, layout: &mut Layout) {
    let mut formulas = vec![Vec::new(); builder.shapes.keys().len()];
    for (id, &shape) in builder.shape_of.iter().enumerate() {
        // Equality atoms are found by their value, never listed.
        if !matches!(
            builder.shapes.keys()[shape as usize],
            ShapeKey::Equal | ShapeKey::Constant
        ) {
            formulas[shape as usize].push(id as u32);
        }
    }
    for (id, key) in builder.shapes.keys().iter().enumerate() {
        let (mut kind, mut axis, mut test, mut sub, mut children) = (0, 0, 0, NONE, 0);
        match key {
            ShapeKey::Constant => {}
            ShapeKey::And(parts) => (kind, children) = (1, layout.list(parts)),
            ShapeKey::Or(parts) => (kind, children) = (2, layout.list(parts)),
            ShapeKey::Not(part) => (kind, sub) = (3, *part),
            ShapeKey::Edge {
                axis: a,
                test: t,
                sub: s,
            } => (kind, axis, test, sub) = (4, *a as u32, *t, *s),
            ShapeKey::Is(t) => (kind, test) = (5, *t),
            ShapeKey::Equal => kind = 6,
            ShapeKey::Atom => kind = 7,
            ShapeKey::Computed(keys) => {
                let ids: Vec<u32> = keys.iter().map(|o| operands[o]).collect();
                (kind, children) = (8, layout.list(&ids));
            }
        }
        let list = layout.list(&formulas[id]);
        layout.push(Section::Shapes, &[kind, axis, test, sub, children, list]);
    }
}

fn freeze_parts(builder: &Builder, layout: &mut Layout) {
    for part in builder.parts.keys() {
        let words = layout.list(&part.words);
        layout.push(Section::Parts, &[part.kind as u32, words]);
    }
}

fn freeze_targets(builder: &Builder, layout: &mut Layout) {
    for (target, postings) in builder.targets.keys().iter().zip(&builder.postings) {
        let mut beside_part = NONE;
        let [kind, a, b] = match target.output {
            OutputSpec::Fragments => [0, 0, 0],
            OutputSpec::Spans => [5, 0, 0],
            OutputSpec::Aggregate { function, running } => [1, function, u32::from(running)],
            OutputSpec::Boolean { holds, fails } => [2, holds, fails],
            OutputSpec::Value { formula, kind } => [3, formula, kind],
            OutputSpec::Filter { holds } => [4, holds, 0],
            OutputSpec::Select { set, spans, beside } => {
                beside_part = beside;
                [6, set, u32::from(spans) | u32::from(beside != NONE) << 1]
            }
            OutputSpec::SelectValue { atom, kind } => [7, atom, kind],
            OutputSpec::SelectFilter { atom } => [8, atom, 0],
            OutputSpec::SelectAggregate {
                set,
                function,
                running,
            } => [9, set, function << 1 | u32::from(running)],
        };
        let postings = layout.list(postings);
        layout.push(Section::Targets, &[kind, a, b, postings, beside_part]);
    }
}

/// What can be asked of whole documents, and a plan of its own for what cannot.
fn freeze_questions(builder: &Builder, layout: &mut Layout) {
    let Some(rest) = &builder.rest else { return };
    if !builder.is_question.contains(&true) || !questions::fits(builder) {
        return;
    }
    let numbers: Vec<f64> = builder
        .numbers
        .keys()
        .iter()
        .map(|&bits| f64::from_bits(bits))
        .collect();
    layout.sections[Section::Questions as usize] =
        questions::lay_out(questions::questions(builder), &numbers);
    if !rest.targets.keys().is_empty() {
        layout.sections[Section::Rest as usize] = freeze(rest).words().to_vec();
    }
}
