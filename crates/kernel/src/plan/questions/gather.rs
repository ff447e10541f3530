//! Targets as questions to a whole document, where they can be asked that way.

use super::image::BARE;
use super::question::{
    CODES_MAX, ChainId, Code, CodeId, Question, Questions, Relation, STEPS_MAX, Step,
};
use crate::plan::builder::{Below, Builder, GuardKey, TargetKey, Way};
use crate::plan::formulas::FormulaKey;
use crate::plan::intern::Interner;
use crate::plan::records::Output;
use crate::plan::{FormulaId, SpineId, TargetId, TestId};
use crate::tables::Table;
use crate::vocabulary::{Axis, Comparison};
use rustc_hash::FxHashSet;

/// Whether a target can be asked of a whole document. Only constructs that are listed here can;
/// everything else is left to the automaton.
pub(in crate::plan) fn is_question(builder: &Builder, target: &TargetKey) -> bool {
    let keys = builder.formulas.keys();
    match target.output {
        Output::Filter { holds } => is_plain(keys, holds),
        Output::Fragments | Output::Spans => match target.ways[..] {
            [way] => {
                let (guards, leaf) = guards_of(builder, way);
                guards.iter().all(|guard| is_plain(keys, guard.formula)) && is_short(builder, leaf)
            }
            _ => false,
        },
        _ => false,
    }
}

fn is_plain(keys: &Table<FormulaId, FormulaKey>, formula: FormulaId) -> bool {
    // Shared parts are looked at once; the number of steps bounds the depth of what follows.
    let (mut todo, mut seen) = (vec![formula], FxHashSet::default());
    while let Some(formula) = todo.pop() {
        if !seen.insert(formula) {
            continue;
        }
        if seen.len() > STEPS_MAX {
            return false;
        }
        match &keys[formula] {
            FormulaKey::And(parts) | FormulaKey::Or(parts) => todo.extend_from_slice(parts),
            FormulaKey::Not(part) => todo.push(*part),
            FormulaKey::Edge {
                axis: Axis::Child | Axis::Descendant | Axis::Attribute,
                sub,
                ..
            } => todo.push(*sub),
            FormulaKey::True
            | FormulaKey::False
            | FormulaKey::Is(_)
            | FormulaKey::Text { .. }
            | FormulaKey::Number { .. }
            | FormulaKey::Contains(_)
            | FormulaKey::StartsWith(_) => {}
            _ => return false,
        }
    }
    true
}

fn is_short(builder: &Builder, leaf: SpineId) -> bool {
    let mut steps = builder.steps_up(leaf).take(STEPS_MAX - 1);
    let is_plain = |axis| matches!(axis, Axis::Child | Axis::Descendant | Axis::Attribute);
    let mut top = leaf;
    steps.all(|(axis, parent)| {
        top = parent;
        is_plain(axis)
    }) && top == SpineId::ROOT
}

/// The guards of a way from the top down, and its leaf.
fn guards_of(builder: &Builder, way: Way) -> (Vec<GuardKey>, SpineId) {
    let mut guards = Vec::new();
    let mut below = match way {
        Way::Plain(leaf) => Below::Leaf(leaf),
        Way::Guarded(guard) => Below::Guard(guard),
    };
    loop {
        match below {
            Below::Leaf(leaf) => return (guards, leaf),
            Below::Guard(guard) => {
                let guard = builder.guards.keys()[guard];
                guards.push(guard);
                below = guard.below;
            }
        }
    }
}

/// The questions of a builder's targets.
pub(in crate::plan) fn questions(builder: &Builder) -> Questions {
    let mut asking = Asking {
        builder,
        codes: Interner::default(),
        chains: Interner::default(),
        questions: Questions::default(),
    };
    asking.chains.intern(Vec::new());
    for (id, target) in builder.targets.keys().pairs() {
        if builder.is_question[id] {
            asking.target(id, target);
        }
    }
    Questions {
        codes: asking.codes.into_keys(),
        chains: asking.chains.into_keys(),
        ..asking.questions
    }
}

struct Asking<'a> {
    builder: &'a Builder,
    codes: Interner<CodeId, (Axis, TestId)>,
    chains: Interner<ChainId, Vec<Code>>,
    questions: Questions,
}

impl Asking<'_> {
    fn target(&mut self, id: TargetId, target: &TargetKey) {
        let mut steps = Vec::new();
        let is_filter = matches!(target.output, Output::Filter { .. });
        let can_hold = match target.output {
            Output::Filter { holds } => {
                self.descend(holds, &mut steps);
                holds != FormulaId::FALSE
            }
            _ => {
                self.walk(target.ways[0], &mut steps);
                true
            }
        };
        if !can_hold {
            return;
        }
        self.questions.distinct += 1;
        let mark = if target.output == Output::Spans {
            BARE
        } else {
            0
        };
        let asked = if is_filter {
            &mut self.questions.filters
        } else {
            &mut self.questions.queries
        };
        for &subscription in &self.builder.postings[id] {
            let (steps, asker) = (steps.clone(), subscription.0 | mark);
            asked.push(Question { steps, asker });
        }
    }

    /// A way of a query, step by step, the conditions of a step behind it.
    fn walk(&mut self, way: Way, steps: &mut Vec<Step>) {
        let (guards, leaf) = guards_of(self.builder, way);
        let mut spines = vec![leaf];
        spines.extend(self.builder.steps_up(leaf).map(|(_, parent)| parent));
        for &spine in spines.iter().rev() {
            let node = self.builder.spines[spine];
            if node.parent.is_some() {
                steps.push(self.step(node.axis, node.test));
            }
            for guard in guards.iter().filter(|guard| guard.spine == spine) {
                let parts = self.parts(guard.formula);
                self.conditions(&parts, steps);
            }
        }
    }

    /// The way of a filter: from conjunction to conjunction along one edge of each.
    fn descend(&mut self, mut formula: FormulaId, steps: &mut Vec<Step>) {
        loop {
            let mut parts = self.parts(formula);
            let next = self.continuation(&parts);
            let Some(next) = next else {
                return self.conditions(&parts, steps);
            };
            let edge = parts.remove(next);
            self.conditions(&parts, steps);
            let FormulaKey::Edge { axis, test, sub } = self.key(edge) else {
                return;
            };
            let (axis, test, sub) = (*axis, *test, *sub);
            steps.push(self.step(axis, test));
            if sub == FormulaId::TRUE {
                return;
            }
            formula = sub;
        }
    }

    /// The part to follow: the only one, or the longest of those that lead to no constant.
    /// Conditions on values are found by their constants, so they are better left conditions. If
    /// there is nothing else, the longest is followed all the same, once the others hold: a way
    /// shares its steps with other ways and its nodes with all constants.
    fn continuation(&self, parts: &[FormulaId]) -> Option<usize> {
        let is_edge = |part: FormulaId| matches!(self.key(part), FormulaKey::Edge { .. });
        if let [only] = parts {
            return is_edge(*only).then_some(0);
        }
        let edges = parts.iter().enumerate().filter(|&(_, &part)| is_edge(part));
        let far = edges.clone().filter(|&(_, &part)| self.length(part) > 1);
        edges
            .filter(|&(_, &part)| self.value_at_end(part).is_none())
            .max_by_key(|&(_, &part)| self.length(part))
            .or_else(|| far.max_by_key(|&(_, &part)| self.length(part)))
            .map(|(index, _)| index)
    }

    fn length(&self, mut formula: FormulaId) -> usize {
        let mut length = 0;
        while let FormulaKey::Edge { sub, .. } = self.key(formula) {
            formula = *sub;
            length += 1;
        }
        length
    }

    fn conditions(&mut self, parts: &[FormulaId], steps: &mut Vec<Step>) {
        let from = steps.len();
        for &part in parts {
            let step = match self.value_at_end(part) {
                Some((relation, constant)) => {
                    let chain = self.chain_to_end(part);
                    self.questions.needs_values = true;
                    Step::Value {
                        relation,
                        chain,
                        constant,
                    }
                }
                None => Step::Holds(part),
            };
            self.note_values(part);
            steps.push(step);
        }
        // The order of conditions means nothing; an order of their own makes ways common.
        steps[from..].sort_unstable();
    }

    /// The relation to a constant that a chain of edges ends in.
    fn value_at_end(&self, mut formula: FormulaId) -> Option<(Relation, u32)> {
        while let FormulaKey::Edge { sub, .. } = self.key(formula) {
            formula = *sub;
        }
        match *self.key(formula) {
            FormulaKey::Text { op, string } => Some(match op {
                Comparison::Eq => (Relation::Equal, string.0),
                Comparison::Ne => (Relation::Differs, string.0),
                _ => return None,
            }),
            FormulaKey::Number { op, number } => {
                let relation = match op {
                    Comparison::Eq => Relation::Same,
                    Comparison::Lt => Relation::Less,
                    Comparison::Le => Relation::AtMost,
                    Comparison::Gt => Relation::Greater,
                    Comparison::Ge => Relation::AtLeast,
                    Comparison::Ne => return None,
                };
                // Nothing compares with NaN, and it has no place among numbers.
                let value = f64::from_bits(self.builder.numbers.keys()[number]);
                (!value.is_nan()).then_some((relation, number.0))
            }
            _ => None,
        }
    }

    fn chain_to_end(&mut self, mut formula: FormulaId) -> ChainId {
        let mut chain = Vec::new();
        while let FormulaKey::Edge { axis, test, sub } = *self.key(formula) {
            chain.push(self.code(axis, test));
            formula = sub;
        }
        self.chains.intern(chain)
    }

    /// Takes down what a condition needs of values.
    fn note_values(&mut self, formula: FormulaId) {
        let (mut todo, mut seen) = (vec![formula], FxHashSet::default());
        while let Some(formula) = todo.pop() {
            if !seen.insert(formula) {
                continue;
            }
            match self.key(formula) {
                FormulaKey::And(parts) | FormulaKey::Or(parts) => todo.extend_from_slice(parts),
                FormulaKey::Not(sub) | FormulaKey::Edge { sub, .. } => todo.push(*sub),
                FormulaKey::Text { string, .. } => {
                    let length = self.builder.strings.keys()[*string].len() as u32;
                    self.questions.equal_bytes_max = self.questions.equal_bytes_max.max(length);
                    self.questions.needs_values = true;
                }
                FormulaKey::Number { .. } | FormulaKey::Contains(_) | FormulaKey::StartsWith(_) => {
                    self.questions.needs_values = true
                }
                _ => {}
            }
        }
    }

    fn parts(&self, formula: FormulaId) -> Vec<FormulaId> {
        match self.key(formula) {
            FormulaKey::And(parts) => parts.clone(),
            FormulaKey::True => Vec::new(),
            _ => vec![formula],
        }
    }

    fn key(&self, formula: FormulaId) -> &FormulaKey {
        &self.builder.formulas.keys()[formula]
    }

    fn step(&mut self, axis: Axis, test: TestId) -> Step {
        Step::Move(self.code(axis, test))
    }

    fn code(&mut self, axis: Axis, test: TestId) -> Code {
        self.codes.intern((axis, test)).0 as Code
    }
}

/// Whether all questions fit the image: a code is an axis and a test, a mark has a bit of its own.
pub(in crate::plan) fn fits(builder: &Builder) -> bool {
    const AXES: usize = 3;
    let mut askers = builder.postings.iter().flatten();
    builder.tests.keys().len() * AXES <= CODES_MAX && askers.all(|asker| asker.0 < BARE)
}
