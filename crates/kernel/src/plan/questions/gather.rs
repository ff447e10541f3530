//! Targets as questions to a whole document, where they can be asked that way.

use super::image::BARE;
use super::question::{CODES_MAX, Code, Question, Questions, Relation, STEPS_MAX, Step};
use crate::plan::builder::{Below, Builder, GuardKey, TargetKey, Way};
use crate::plan::formulas::{FALSE, FormulaKey, TRUE};
use crate::plan::intern::Interner;
use crate::plan::program::OutputSpec;
use crate::vocabulary::{Axis, Comparison};
use rustc_hash::FxHashSet;

/// Whether a target can be asked of a whole document. Only constructs that are listed here can;
/// everything else is left to the automaton.
pub(in crate::plan) fn is_question(builder: &Builder, target: &TargetKey) -> bool {
    let keys = builder.formulas.keys();
    match target.output {
        OutputSpec::Filter { holds } => is_plain(keys, holds),
        OutputSpec::Fragments | OutputSpec::Spans => match target.ways[..] {
            [way] => {
                let (guards, leaf) = guards_of(builder, way);
                guards.iter().all(|guard| is_plain(keys, guard.formula)) && is_short(builder, leaf)
            }
            _ => false,
        },
        _ => false,
    }
}

fn is_plain(keys: &[FormulaKey], formula: u32) -> bool {
    // Shared parts are looked at once; the number of steps bounds the depth of what follows.
    let (mut todo, mut seen) = (vec![formula], FxHashSet::default());
    while let Some(formula) = todo.pop() {
        if !seen.insert(formula) || seen.len() > STEPS_MAX {
            if seen.len() > STEPS_MAX {
                return false;
            }
            continue;
        }
        match &keys[formula as usize] {
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

fn is_short(builder: &Builder, mut spine: u32) -> bool {
    for _ in 0..STEPS_MAX {
        let node = builder.spines[spine as usize];
        let Some(parent) = node.parent else {
            return spine == 0;
        };
        if !matches!(node.axis, Axis::Child | Axis::Descendant | Axis::Attribute) {
            return false;
        }
        spine = parent;
    }
    false
}

/// The guards of a way from the top down, and its leaf.
fn guards_of(builder: &Builder, way: Way) -> (Vec<GuardKey>, u32) {
    let mut guards = Vec::new();
    let mut below = match way {
        Way::Plain(leaf) => Below::Leaf(leaf),
        Way::Guarded(guard) => Below::Guard(guard),
    };
    loop {
        match below {
            Below::Leaf(leaf) => return (guards, leaf),
            Below::Guard(guard) => {
                let guard = builder.guards.keys()[guard as usize];
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
        found: Questions::default(),
    };
    asking.chain(Vec::new());
    for (id, target) in builder.targets.keys().iter().enumerate() {
        if builder.is_question[id] {
            asking.target(id as u32, target);
        }
    }
    let mut found = asking.found;
    found.codes = asking
        .codes
        .keys()
        .iter()
        .map(|&(axis, test)| (axis as u32, test))
        .collect();
    found.chains = asking.chains.keys().to_vec();
    found
}

struct Asking<'a> {
    builder: &'a Builder,
    codes: Interner<(Axis, u32)>,
    chains: Interner<Vec<Code>>,
    found: Questions,
}

impl Asking<'_> {
    fn target(&mut self, id: u32, target: &TargetKey) {
        let mut steps = Vec::new();
        let is_filter = matches!(target.output, OutputSpec::Filter { .. });
        let can_hold = match target.output {
            OutputSpec::Filter { holds } => {
                self.descend(holds, &mut steps);
                holds != FALSE
            }
            _ => {
                self.walk(target.ways[0], &mut steps);
                true
            }
        };
        if !can_hold {
            return;
        }
        self.found.distinct += 1;
        let mark = if target.output == OutputSpec::Spans {
            BARE
        } else {
            0
        };
        let asked = if is_filter {
            &mut self.found.filters
        } else {
            &mut self.found.queries
        };
        for &subscription in &self.builder.postings[id as usize] {
            let (steps, asker) = (steps.clone(), subscription | mark);
            asked.push(Question { steps, asker });
        }
    }

    /// A way of a query, step by step, the conditions of a step behind it.
    fn walk(&mut self, way: Way, steps: &mut Vec<Step>) {
        let (guards, leaf) = guards_of(self.builder, way);
        let mut spines = vec![leaf];
        while let Some(parent) = self.builder.spines[spines[spines.len() - 1] as usize].parent {
            spines.push(parent);
        }
        for &spine in spines.iter().rev() {
            let node = self.builder.spines[spine as usize];
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
    fn descend(&mut self, mut formula: u32, steps: &mut Vec<Step>) {
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
            if sub == TRUE {
                return;
            }
            formula = sub;
        }
    }

    /// The part to follow: the only one, or the longest of those that lead to no constant.
    /// Conditions on values are found by their constants, so they are better left conditions. If
    /// there is nothing else, the longest is followed all the same, once the others hold: a way
    /// shares its steps with other ways and its nodes with all constants.
    fn continuation(&self, parts: &[u32]) -> Option<usize> {
        let is_edge = |part: u32| matches!(self.key(part), FormulaKey::Edge { .. });
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

    fn length(&self, mut formula: u32) -> usize {
        let mut length = 0;
        while let FormulaKey::Edge { sub, .. } = self.key(formula) {
            formula = *sub;
            length += 1;
        }
        length
    }

    fn conditions(&mut self, parts: &[u32], steps: &mut Vec<Step>) {
        let from = steps.len();
        for &part in parts {
            let step = match self.value_at_end(part) {
                Some((relation, constant)) => {
                    let chain = self.chain_to_end(part);
                    self.found.needs_values = true;
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
    fn value_at_end(&self, mut formula: u32) -> Option<(Relation, u32)> {
        while let FormulaKey::Edge { sub, .. } = self.key(formula) {
            formula = *sub;
        }
        match *self.key(formula) {
            FormulaKey::Text { op, string } => Some(match op {
                Comparison::Eq => (Relation::Equal, string),
                Comparison::Ne => (Relation::Differs, string),
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
                let value = f64::from_bits(self.builder.numbers.keys()[number as usize]);
                (!value.is_nan()).then_some((relation, number))
            }
            _ => None,
        }
    }

    fn chain_to_end(&mut self, mut formula: u32) -> u32 {
        let mut chain = Vec::new();
        while let FormulaKey::Edge { axis, test, sub } = *self.key(formula) {
            chain.push(self.code(axis, test));
            formula = sub;
        }
        self.chain(chain)
    }

    /// Takes down what a condition needs of values.
    fn note_values(&mut self, formula: u32) {
        let (mut todo, mut seen) = (vec![formula], FxHashSet::default());
        while let Some(formula) = todo.pop() {
            if !seen.insert(formula) {
                continue;
            }
            match self.key(formula) {
                FormulaKey::And(parts) | FormulaKey::Or(parts) => todo.extend_from_slice(parts),
                FormulaKey::Not(sub) | FormulaKey::Edge { sub, .. } => todo.push(*sub),
                FormulaKey::Text { string, .. } => {
                    let length = self.builder.strings.keys()[*string as usize].len() as u32;
                    self.found.equal_bytes_max = self.found.equal_bytes_max.max(length);
                    self.found.needs_values = true;
                }
                FormulaKey::Number { .. } | FormulaKey::Contains(_) | FormulaKey::StartsWith(_) => {
                    self.found.needs_values = true
                }
                _ => {}
            }
        }
    }

    fn parts(&self, formula: u32) -> Vec<u32> {
        match self.key(formula) {
            FormulaKey::And(parts) => parts.clone(),
            FormulaKey::True => Vec::new(),
            _ => vec![formula],
        }
    }

    fn key(&self, formula: u32) -> &FormulaKey {
        &self.builder.formulas.keys()[formula as usize]
    }

    fn step(&mut self, axis: Axis, test: u32) -> Step {
        Step::Move(self.code(axis, test))
    }

    fn code(&mut self, axis: Axis, test: u32) -> Code {
        self.codes.intern((axis, test)).0 as Code
    }

    fn chain(&mut self, codes: Vec<Code>) -> u32 {
        self.chains.intern(codes).0
    }
}

/// Whether all questions fit the image: a code is an axis and a test, a mark has a bit of its own.
pub(in crate::plan) fn fits(builder: &Builder) -> bool {
    const AXES: usize = 3;
    let mut askers = builder.postings.iter().flatten();
    builder.tests.keys().len() * AXES <= CODES_MAX && askers.all(|&asker| asker < BARE)
}
