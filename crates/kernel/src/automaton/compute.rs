//! Formulas over operands: the first node of each operand's path gives its value.
//!
//! An operand exists once per node, however many formulas use it.

use super::frames::{Claim, MemoryId, OperandValue, Runner};
use super::states::Flags;
use super::{Automaton, Node};
use crate::circuit::CandidateId;
use crate::plan::{
    AtomKind, FormulaId, FormulaKind, OperandId, OperandKind, Output, ShapeId, ShapeKind, SpineId,
};
use crate::values::{Value, compare_numbers, parse_number};
use smallvec::SmallVec;
use std::rc::Rc;

/// Runners of one node, by the leaves of their operands.
type Runners = SmallVec<[(SpineId, CandidateId); 2]>;

/// An operand at an open node, by the depth of that.
type Place = (u32, OperandId);

impl Automaton {
    /// Starts the operands of a node; the parts of its own name are known at once.
    pub(super) fn begin_operands(&mut self, depth: usize, node: &Node<'_>) {
        let plan = self.plan.clone();
        for (id, _) in self.state_at(depth).operands.clone().iter() {
            let operand = plan.operand(*id);
            let part = node.part(operand.kind).filter(|_| operand.root.is_none());
            let value = part.map_or(OperandValue::Open, |p| OperandValue::Known(p.into()));
            self.frames.memory_mut(depth).operands.push((*id, value));
        }
        // A formula may have no operand at all, or only parts of the name.
        for &formula in self.state_at(depth).computed.clone().iter() {
            self.try_compute(depth, formula);
        }
    }

    /// The node is one that an operand of some open node reaches.
    pub(super) fn claim_operands(&mut self, depth: usize, node: &Node<'_>) {
        let plan = self.plan.clone();
        let mut runners = Runners::new();
        for &(id, leaf) in self.state_at(depth).claims.clone().iter() {
            let operand = plan.operand(id);
            self.spend_depths(depth);
            for at in self.up(leaf, depth, operand.root) {
                if operand.is_guarded {
                    self.enter_race(depth, node, leaf, (at, id), &mut runners);
                } else {
                    self.claim(depth, node, (at, id), operand.kind);
                }
            }
        }
        for (leaf, candidate) in runners {
            for &segment in plan.spine(leaf).segments() {
                self.rise(segment, depth, candidate);
            }
            self.retire(candidate);
        }
    }

    /// Without conditions the first node reached is the operand.
    fn claim(&mut self, depth: usize, node: &Node<'_>, place: Place, kind: OperandKind) {
        let (at, operand) = place;
        let Some(value @ OperandValue::Open) = self.operand_mut(at as usize, operand) else {
            return;
        };
        match node.part(kind) {
            Some(part) => {
                *value = OperandValue::Known(part.into());
                self.use_operand(at as usize, operand);
            }
            None => {
                *value = OperandValue::Claimed;
                let claim = Claim {
                    depth: at,
                    operand,
                    runner: None,
                };
                self.frames.memory_mut(depth).claims.push(claim);
            }
        }
    }

    /// With conditions, nodes race: the first in document order to pass them is the operand.
    fn enter_race(
        &mut self,
        depth: usize,
        node: &Node<'_>,
        leaf: SpineId,
        place: Place,
        runners: &mut Runners,
    ) {
        let (at, operand) = place;
        let part: Option<Box<[u8]>> = node.part(self.plan.operand(operand).kind).map(Box::from);
        let needs_value = part.is_none();
        let known = runners
            .iter()
            .find(|&&(of, _)| of == leaf)
            .map(|&(_, candidate)| candidate);
        let order = known.map_or(self.next_runner, |candidate| {
            self.candidates[candidate].order
        });
        let Some(value) = self.operand_mut(at as usize, operand) else {
            return;
        };
        if matches!(value, OperandValue::Open) {
            *value = OperandValue::Race(Vec::new());
        }
        let OperandValue::Race(race) = value else {
            return;
        };
        // Whoever comes after one that passed can no longer be the first.
        if race.last().is_some_and(|last| last.passed == Some(true)) {
            return;
        }
        race.push(Runner {
            node: order,
            passed: None,
            value: part,
        });
        let candidate = known.unwrap_or_else(|| {
            self.next_runner += 1;
            let candidate = self.new_candidate(depth, node, order, Rc::from([]), false);
            runners.push((leaf, candidate));
            candidate
        });
        self.candidates[candidate].runs_for.push(place);
        if needs_value {
            let claim = Claim {
                depth: at,
                operand,
                runner: Some(order),
            };
            self.frames.memory_mut(depth).claims.push(claim);
        }
    }

    /// A runner passed the topmost condition of an operand's path, at `depth`.
    pub(super) fn admit(
        &mut self,
        operand: OperandId,
        spine: SpineId,
        depth: usize,
        candidate: CandidateId,
    ) {
        let root = self.plan.operand(operand).root;
        let order = self.candidates[candidate].order;
        self.spend_depths(depth);
        for at in self.up(spine, depth, root) {
            self.judge(at as usize, operand, order, |runner| {
                runner.passed = Some(true)
            });
        }
    }

    /// Nothing can let the runner pass any more.
    pub(super) fn drop_runner(&mut self, candidate: CandidateId) {
        let order = self.candidates[candidate].order;
        for (at, operand) in std::mem::take(&mut self.candidates[candidate].runs_for) {
            self.judge(at as usize, operand, order, |runner| {
                runner.passed.get_or_insert(false);
            });
        }
        self.candidates.remove(candidate);
    }

    /// Changes what is known of a runner and ends the race if that decides it.
    fn judge(
        &mut self,
        depth: usize,
        operand: OperandId,
        order: u64,
        change: impl FnOnce(&mut Runner),
    ) {
        let Some(value) = self.operand_mut(depth, operand) else {
            return;
        };
        let OperandValue::Race(race) = value else {
            return;
        };
        let Some(runner) = race.iter_mut().find(|runner| runner.node == order) else {
            return;
        };
        change(runner);
        let lost = race
            .iter()
            .take_while(|runner| runner.passed == Some(false))
            .count();
        race.drain(..lost);
        match race.first() {
            Some(Runner {
                passed: Some(true),
                value: Some(text),
                ..
            }) => {
                *value = OperandValue::Known(text.clone());
                self.use_operand(depth, operand);
            }
            None => *value = OperandValue::Open,
            _ => {}
        }
    }

    /// The value of a node is known: the operands that claimed it get it.
    pub(super) fn answer_claims(&mut self, depth: usize, value: &[u8]) {
        if self.frames.memory(depth).claims.is_empty() {
            return;
        }
        for claim in std::mem::take(&mut self.frames.memory_mut(depth).claims) {
            let at = claim.depth as usize;
            if let Some(order) = claim.runner {
                self.judge(at, claim.operand, order, |runner| {
                    runner.value = Some(value.into())
                });
            } else if let Some(operand) = self.operand_mut(at, claim.operand) {
                *operand = OperandValue::Known(value.into());
                self.use_operand(at, claim.operand);
            }
        }
    }

    /// A condition that serves as an operand is decided.
    pub(super) fn answer_truth(&mut self, depth: usize, operand: OperandId, truth: bool) {
        if let Some(value @ OperandValue::Open) = self.operand_mut(depth, operand) {
            let text: &[u8] = if truth { b"true" } else { b"false" };
            *value = OperandValue::Known(text.into());
            self.use_operand(depth, operand);
        }
    }

    /// The attributes are known: operands that reach no further and found nothing are empty.
    pub(super) fn end_near_operands(&mut self, depth: usize) {
        let plan = self.plan.clone();
        for (id, _) in self.state_at(depth).operands.clone().iter() {
            let operand = plan.operand(*id);
            let is_over = operand.is_near || !self.state_at(depth).matches(operand.entry);
            if operand.root.is_some()
                && is_over
                && let Some(value @ OperandValue::Open) = self.operand_mut(depth, *id)
            {
                *value = OperandValue::Known(Box::default());
                self.use_operand(depth, *id);
            }
        }
    }

    /// The node closes: an operand that reached nothing is the empty string, its own value is
    /// known. Operands that race wait for the formulas that may decide the race; when those are
    /// all decided, everyone lost.
    pub(super) fn end_operands(&mut self, depth: usize, value: &[u8]) {
        let operands = self.state_at(depth).operands.clone();
        for is_last in [false, true] {
            loop {
                self.review_from(depth);
                let mut is_changed = false;
                for (id, _) in operands.iter() {
                    is_changed |= self.end_operand(depth, *id, value, is_last);
                    self.drain();
                }
                if !is_changed {
                    break;
                }
            }
        }
    }

    fn end_operand(&mut self, depth: usize, id: OperandId, value: &[u8], is_last: bool) -> bool {
        let operand = self.plan.operand(id);
        let is_own = operand.root.is_none() && operand.kind == OperandKind::Value;
        let Some(known) = self.operand_mut(depth, id) else {
            return false;
        };
        let is_over = match known {
            OperandValue::Open => true,
            OperandValue::Race(_) => is_last,
            OperandValue::Claimed | OperandValue::Known(_) => false,
        };
        if is_over {
            *known = OperandValue::Known(if is_own { value.into() } else { Box::default() });
            self.use_operand(depth, id);
        }
        is_over
    }

    /// An operand at an open node. A runner may outlive a node that it ran for, hence the first
    /// line; nodes opened since then do not know its number.
    fn operand_mut(&mut self, depth: usize, operand: OperandId) -> Option<&mut OperandValue> {
        self.frames
            .stack
            .get(depth)
            .filter(|frame| frame.memory != MemoryId::EMPTY)?;
        let operands = &mut self.frames.memory_mut(depth).operands;
        operands
            .iter_mut()
            .find(|(known, _)| *known == operand)
            .map(|(_, value)| value)
    }

    /// An operand became known: tries the formulas that use it.
    fn use_operand(&mut self, depth: usize, operand: OperandId) {
        let operands = self.state_at(depth).operands.clone();
        if let Some((_, users)) = operands.iter().find(|(known, _)| *known == operand) {
            for &formula in users.iter() {
                self.try_compute(depth, formula);
            }
        }
    }

    /// Decides the formula if all its operands are known.
    fn try_compute(&mut self, depth: usize, formula: FormulaId) {
        let plan = self.plan.clone();
        let view = plan.formula(formula);
        let memory = self.frames.memory(depth);
        let known = |id: OperandId| memory.operands.iter().find(|(operand, _)| *operand == id);
        let text = |place: usize| match known(view.operands()[place]) {
            Some((_, OperandValue::Known(bytes))) => std::str::from_utf8(bytes).unwrap_or(""),
            _ => "",
        };
        let is_known = |&id: &OperandId| matches!(known(id), Some((_, OperandValue::Known(_))));
        if !view.operands().iter().all(is_known) {
            return;
        }
        let value = plan.evaluate(view.expr(), &text);
        let holds = value.boolean();
        if depth == 0 && !view.root_targets().is_empty() {
            let value = value.into_owned();
            self.decide_value(formula, &value);
        }
        if holds {
            self.assume(depth, formula);
        } else {
            self.frames.memory_mut(depth).falsehoods.insert(formula);
            self.dirty = self.dirty.min(depth);
            if view.negation().is_some() {
                self.assume(depth, view.negation());
            }
        }
    }

    /// The value atoms that the node's string value satisfies.
    pub(super) fn try_atoms(&mut self, depth: usize, value: &[u8]) {
        let plan = self.plan.clone();
        if self.state_at(depth).flags.has(Flags::EQUAL)
            && let Some(atom) = plan.equal_atom(value)
        {
            self.assume(depth, atom);
        }
        let state = self.state_at(depth);
        if state.atoms.is_empty() && state.ranges().is_empty() {
            return;
        }
        // As `ValueTest` has it, without making one: it is tried for each value and atom.
        let mut number = None;
        for index in 0..self.state_at(depth).ranges().len() {
            let shape = self.state_at(depth).ranges()[index];
            let number = *number.get_or_insert_with(|| parse_number(value));
            self.search_numbers(depth, shape, number);
        }
        for index in 0..self.state_at(depth).atoms.len() {
            let atom = self.state_at(depth).atoms[index];
            let view = plan.formula(atom);
            let holds = match view.kind() {
                FormulaKind::Number => {
                    let number = *number.get_or_insert_with(|| parse_number(value));
                    compare_numbers(view.comparison(), number, plan.number(view.number()))
                }
                FormulaKind::Contains => {
                    memchr::memmem::find(value, plan.string(view.string())).is_some()
                }
                FormulaKind::StartsWith => value.starts_with(plan.string(view.string())),
                // Equality of strings is answered by the hash; what is left is inequality.
                _ => value != plan.string(view.string()),
            };
            if holds {
                self.assume(depth, atom);
            }
        }
    }

    /// The atoms of a sorted list that a number satisfies.
    fn search_numbers(&mut self, depth: usize, shape: ShapeId, number: f64) {
        let plan = self.plan.clone();
        let view = plan.shape(shape);
        let is_edge = view.kind() == ShapeKind::Edge;
        let atom_of = |formula: FormulaId| match is_edge {
            true => plan.formula(formula).sub(),
            false => formula,
        };
        let constant = |formula| plan.number(plan.formula(atom_of(formula)).number());
        let holds = |formula| {
            let comparison = plan.formula(atom_of(formula)).comparison();
            compare_numbers(comparison, number, constant(formula))
        };
        let order = if is_edge {
            plan.shape(view.sub())
        } else {
            view
        };
        let from = match order.kind() {
            ShapeKind::Same => view.formulas().partition_point(|&f| constant(f) < number),
            _ => 0,
        };
        let rest = &view.formulas()[from..];
        self.account.spend(1);
        for &formula in &rest[..rest.partition_point(|&formula| holds(formula))] {
            self.assume(depth, atom_of(formula));
        }
    }

    fn decide_value(&mut self, formula: FormulaId, value: &Value<'static>) {
        let plan = self.plan.clone();
        for &target in plan.formula(formula).root_targets() {
            if let Output::Value { kind, .. } = plan.target(target).0 {
                let value = match kind {
                    AtomKind::String => Value::Text(value.clone().text().into_owned().into()),
                    AtomKind::Number => Value::Number(value.number()),
                    AtomKind::Boolean => Value::Boolean(value.boolean()),
                };
                self.answers.push((target, value));
            }
        }
    }
}
