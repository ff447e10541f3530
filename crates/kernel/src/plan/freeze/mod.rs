//! Lays a builder's tables out as an image.

mod reverse;
mod spines;

use super::builder::Builder;
use super::formulas::{FormulaKey, OperandKey, OperandPath, Order, ShapeKey};
use super::ids::{FormulaId, OperandId, PartId, ShapeId, SpineId, StringId};
use super::image::{HEAD, MAGIC, NONE, Plan, SECTIONS, Section, VERSION, hash_bytes, size};
use super::questions;
use super::records::{FormulaKind, Output, ShapeKind};
use super::requests::freeze_requests;
use crate::ids::{Id, as_words};
use crate::tables::Table;
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

    /// Adds a list of ids to the pool; its place.
    fn list<I: Id>(&mut self, ids: &[I]) -> u32 {
        self.words(as_words(ids))
    }

    /// The same for words.
    fn words(&mut self, items: &[u32]) -> u32 {
        if items.is_empty() {
            return 0;
        }
        let pool = &mut self.sections[Section::Lists as usize];
        let at = pool.len() as u32;
        pool.push(items.len() as u32);
        pool.extend_from_slice(items);
        at
    }

    pub fn push(&mut self, section: Section, record: &[u32]) {
        self.sections[section as usize].extend_from_slice(record);
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
    for &number in builder.numbers.keys().iter() {
        layout.push(Section::Numbers, &[number as u32, (number >> 32) as u32]);
    }
    for test in builder.tests.keys().iter() {
        let local = test.local.unwrap_or(StringId::NONE).0;
        let uris = test.uris.as_ref().map_or(NONE, |uris| layout.list(uris));
        layout.push(Section::Tests, &[test.kind as u32, local, uris]);
    }
    for (op, args) in builder.exprs.keys().iter() {
        let args = layout.words(args);
        layout.push(Section::Exprs, &[*op as u32, args]);
    }
}

fn root_formulas(output: &Output) -> Vec<FormulaId> {
    match *output {
        Output::Boolean { holds, fails } => vec![holds, fails],
        Output::Filter { holds } | Output::End { holds } => vec![holds],
        Output::Value { formula, .. } => vec![formula],
        _ => Vec::new(),
    }
}

/// Numbers of the operands.
pub(super) type Operands = FxHashMap<OperandKey, OperandId>;

fn freeze_operands(builder: &Builder, layout: &mut Layout) -> Operands {
    let mut ids = Operands::default();
    for key in builder.formulas.keys().iter() {
        let FormulaKey::Computed { operands, .. } = key else {
            continue;
        };
        for operand in operands {
            let next = OperandId::at(ids.len());
            if *ids.entry(*operand).or_insert(next) == next {
                layout.push(Section::Operands, &operand_record(builder, operand));
            }
        }
    }
    ids
}

fn operand_record(builder: &Builder, operand: &OperandKey) -> [u32; size::OPERAND] {
    let none = (FormulaId::NONE, FormulaId::NONE);
    let (holds, fails) = operand.condition.unwrap_or(none);
    let (root, leaf, entry, flags) = match operand.path {
        None => (SpineId::NONE, SpineId::NONE, SpineId::NONE, 0),
        Some(OperandPath { root, leaf, guard }) => {
            let is_near = stays_near(builder, leaf);
            let flags = u32::from(guard.is_some()) | u32::from(is_near) << 1;
            (root, leaf, entry_of(builder, leaf), flags)
        }
    };
    [
        operand.part,
        root.0,
        leaf.0,
        flags,
        entry.0,
        holds.0,
        fails.0,
    ]
}

/// Whether a path from an operand's root takes only self and attribute steps.
fn stays_near(builder: &Builder, leaf: SpineId) -> bool {
    let mut steps = builder.steps_up(leaf);
    steps.all(|(axis, _)| matches!(axis, Axis::Itself | Axis::Attribute))
}

/// The last spine of the run of self steps below an operand's root.
fn entry_of(builder: &Builder, leaf: SpineId) -> SpineId {
    let others = builder
        .steps_up(leaf)
        .filter(|&(axis, _)| axis != Axis::Itself);
    others.last().map_or(leaf, |(_, parent)| parent)
}

fn freeze_formulas(builder: &Builder, reverse: &Reverse, operands: &Operands, layout: &mut Layout) {
    use FormulaKind as Kind;
    let mut equals = Vec::new();
    for (id, key) in builder.formulas.keys().pairs() {
        let (kind, [a, b, sub, children]) = match key {
            FormulaKey::True => (Kind::True, [0, 0, NONE, 0]),
            FormulaKey::False => (Kind::False, [0, 0, NONE, 0]),
            FormulaKey::And(parts) => (Kind::And, [0, 0, NONE, layout.list(parts)]),
            FormulaKey::Or(parts) => (Kind::Or, [0, 0, NONE, layout.list(parts)]),
            FormulaKey::Not(part) => (Kind::Not, [0, 0, part.0, 0]),
            FormulaKey::Edge { axis, test, sub } => (Kind::Edge, [*axis as u32, test.0, sub.0, 0]),
            FormulaKey::Is(test) => (Kind::Is, [0, test.0, NONE, 0]),
            FormulaKey::Text { op, string } => {
                if *op == Comparison::Eq {
                    equals.push((id, *string));
                }
                (Kind::Text, [*op as u32, string.0, NONE, 0])
            }
            FormulaKey::Number { op, number } => (Kind::Number, [*op as u32, number.0, NONE, 0]),
            FormulaKey::Contains(string) => (Kind::Contains, [0, string.0, NONE, 0]),
            FormulaKey::StartsWith(string) => (Kind::StartsWith, [0, string.0, NONE, 0]),
            FormulaKey::Computed {
                expr,
                operands: keys,
            } => {
                let list = list_operands(keys, operands, layout);
                (Kind::Computed, [0, expr.0, NONE, list])
            }
        };
        let record = [
            kind as u32,
            a,
            b,
            sub,
            children,
            builder.shape_of[id].0,
            reverse.negation[id].0,
            layout.list(&reverse.disjunctions[id]),
            layout.list(&reverse.conjunctions[id]),
            layout.list(&reverse.edges[id]),
            layout.list(&reverse.guards[id]),
            layout.list(&reverse.root_targets[id]),
            u32::from(reverse.announces[id]),
            layout.words(&reverse.operands[id]),
            layout.list(&reverse.memberships[id]),
        ];
        layout.push(Section::Formulas, &record);
    }
    freeze_equals(builder, &equals, layout);
}

fn list_operands(keys: &[OperandKey], operands: &Operands, layout: &mut Layout) -> u32 {
    let ids: Vec<OperandId> = keys.iter().map(|key| operands[key]).collect();
    layout.list(&ids)
}

fn freeze_equals(builder: &Builder, atoms: &[(FormulaId, StringId)], layout: &mut Layout) {
    if atoms.is_empty() {
        return;
    }
    let slots = (atoms.len() * 2).next_power_of_two();
    let mut table = vec![NONE; 2 * slots];
    for &(formula, string) in atoms {
        let hash = hash_bytes(&builder.strings.keys()[string]);
        let mut slot = hash as usize & (slots - 1);
        while table[2 * slot] != NONE {
            slot = (slot + 1) & (slots - 1);
        }
        table[2 * slot..2 * slot + 2].copy_from_slice(&[formula.0, string.0]);
    }
    layout.sections[Section::Equals as usize] = table;
}

fn freeze_shapes(builder: &Builder, operands: &Operands, layout: &mut Layout) {
    use ShapeKind as Kind;
    let shapes = builder.shapes.keys();
    let mut formulas: Table<ShapeId, Vec<FormulaId>> = Table::of_defaults(shapes.len());
    for (id, &shape) in builder.shape_of.pairs() {
        // Equality atoms are found by their value, never listed.
        if !matches!(shapes[shape], ShapeKey::Equal | ShapeKey::Constant) {
            formulas[shape].push(id);
        }
    }
    for (id, key) in shapes.pairs() {
        sort_by_number(builder, key, &mut formulas[id]);
    }
    for (id, key) in shapes.pairs() {
        let (kind, [axis, test, sub, children]) = match key {
            ShapeKey::Constant => (Kind::Constant, [0, 0, NONE, 0]),
            ShapeKey::And(parts) => (Kind::And, [0, 0, NONE, layout.list(parts)]),
            ShapeKey::Or(parts) => (Kind::Or, [0, 0, NONE, layout.list(parts)]),
            ShapeKey::Not(part) => (Kind::Not, [0, 0, part.0, 0]),
            ShapeKey::Edge { axis, test, sub } => (Kind::Edge, [*axis as u32, test.0, sub.0, 0]),
            ShapeKey::Is(test) => (Kind::Is, [0, test.0, NONE, 0]),
            ShapeKey::Equal => (Kind::Equal, [0, 0, NONE, 0]),
            ShapeKey::Atom => (Kind::Atom, [0, 0, NONE, 0]),
            ShapeKey::Ordered(order) => {
                let kind = match order {
                    Order::Above => Kind::Above,
                    Order::Below => Kind::Below,
                    Order::Same => Kind::Same,
                };
                (kind, [0, 0, NONE, 0])
            }
            ShapeKey::Computed(keys) => {
                let list = list_operands(keys, operands, layout);
                (Kind::Computed, [0, 0, NONE, list])
            }
        };
        let formulas = layout.list(&formulas[id]);
        let record = [kind as u32, axis, test, sub, children, formulas];
        layout.push(Section::Shapes, &record);
    }
}

/// Sorts the atoms of an order, or the edges that lead to them, so that those which hold for a
/// value are found by searching: the first ones of `Above` and `Below`, neighbours of `Same`.
fn sort_by_number(builder: &Builder, key: &ShapeKey, formulas: &mut [FormulaId]) {
    let (keys, shapes) = (builder.formulas.keys(), builder.shapes.keys());
    let order = match key {
        ShapeKey::Ordered(order) => *order,
        ShapeKey::Edge { sub, .. } => match shapes[*sub] {
            ShapeKey::Ordered(order) => order,
            _ => return,
        },
        _ => return,
    };
    let place = |formula: FormulaId| {
        let atom = match keys[formula] {
            FormulaKey::Edge { sub, .. } => sub,
            _ => formula,
        };
        match keys[atom] {
            FormulaKey::Number { op, number } => {
                (op, f64::from_bits(builder.numbers.keys()[number]))
            }
            _ => (Comparison::Eq, f64::NAN),
        }
    };
    // Zeros are equal whatever their signs; what compares with no number comes last.
    let is_open = |op| matches!(op, Comparison::Gt | Comparison::Lt);
    formulas.sort_by(|&left, &right| {
        let ((left_op, left), (right_op, right)) = (place(left), place(right));
        let by_number = match order {
            Order::Below => right.partial_cmp(&left),
            Order::Above | Order::Same => left.partial_cmp(&right),
        };
        let by_number = by_number.unwrap_or_else(|| left.is_nan().cmp(&right.is_nan()));
        by_number.then_with(|| is_open(left_op).cmp(&is_open(right_op)))
    });
}

fn freeze_parts(builder: &Builder, layout: &mut Layout) {
    for part in builder.parts.keys().iter() {
        let words = layout.words(&part.words);
        layout.push(Section::Parts, &[part.kind as u32, words]);
    }
}

fn freeze_targets(builder: &Builder, layout: &mut Layout) {
    for (target, postings) in builder.targets.keys().iter().zip(builder.postings.iter()) {
        let mut beside_part = PartId::NONE;
        let [kind, a, b] = match target.output {
            Output::Fragments => [0, 0, 0],
            Output::Spans => [5, 0, 0],
            Output::Aggregate { function, running } => [1, function as u32, u32::from(running)],
            Output::Boolean { holds, fails } => [2, holds.0, fails.0],
            Output::Value { formula, kind } => [3, formula.0, kind as u32],
            Output::Filter { holds } => [4, holds.0, 0],
            Output::End { holds } => [10, holds.0, 0],
            Output::Select { set, spans, beside } => {
                beside_part = beside;
                let flags = u32::from(spans) | u32::from(beside.is_some()) << 1;
                [6, set.0, flags]
            }
            Output::SelectValue { atom, kind } => [7, atom.0, kind as u32],
            Output::SelectFilter { atom } => [8, atom.0, 0],
            Output::SelectAggregate {
                set,
                function,
                running,
            } => [9, set.0, (function as u32) << 1 | u32::from(running)],
        };
        let postings = layout.list(postings);
        layout.push(Section::Targets, &[kind, a, b, postings, beside_part.0]);
    }
}

/// What can be asked of whole documents, and a plan of its own for what cannot.
fn freeze_questions(builder: &Builder, layout: &mut Layout) {
    let Some(rest) = &builder.rest else { return };
    if !builder.is_question.contains(&true) || !questions::fits(builder) {
        return;
    }
    let numbers = builder.numbers.keys().iter();
    let numbers: Vec<f64> = numbers.map(|&bits| f64::from_bits(bits)).collect();
    layout.sections[Section::Questions as usize] =
        questions::lay_out(questions::questions(builder), &numbers);
    if !rest.targets.keys().is_empty() {
        layout.sections[Section::Rest as usize] = freeze(rest).words().to_vec();
    }
}
