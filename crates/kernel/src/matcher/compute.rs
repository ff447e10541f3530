//! Formulas over operands: the first node of each operand's path gives its value.

use super::frames::{Claim, Computation, OperandValue, Runner};
use super::states::flag;
use super::values::{Value, compare_numbers, evaluate, parse_number};
use super::{Matcher, Node};
use crate::plan::{FormulaKind, NONE, OperandKind};
use smallvec::SmallVec;
use std::rc::Rc;

impl Matcher {
    /// Starts the computed formulas of a node; the parts of its own name are known at once.
    pub(super) fn begin_computations(&mut self, depth: usize, node: &Node<'_>) {
        let plan = self.plan.clone();
        let formulas = self.state_at(depth).computed.clone();
        for &formula in formulas.iter() {
            let operands = plan.formula(formula).children().iter().map(|&id| {
                let operand = plan.operand(id);
                if operand.root != NONE {
                    return OperandValue::Open;
                }
                name_part(operand.kind, node)
                    .map_or(OperandValue::Open, |part| OperandValue::Known(part.into()))
            });
            let operands = operands.collect();
            let computation = Computation {
                formula,
                operands,
                is_decided: false,
            };
            self.frames.memory_mut(depth).computations.push(computation);
        }
        for &formula in formulas.iter() {
            self.try_compute(depth, formula);
        }
    }

    /// The node is one that an operand of some open node reaches.
    pub(super) fn claim_operands(&mut self, depth: usize, node: &Node<'_>) {
        let plan = self.plan.clone();
        let mut runners: SmallVec<[(u32, u32); 2]> = SmallVec::new();
        for (formula, place, leaf) in self.state_at(depth).claims.clone().iter().copied() {
            let operand = plan.operand(plan.formula(formula).children()[place as usize]);
            for at in self.up(leaf, depth, operand.root) {
                if self.is_armed(at as usize, formula) && operand.is_guarded {
                    self.enter_race(depth, node, leaf, (at, formula, place), &mut runners);
                } else if self.is_armed(at as usize, formula) {
                    self.claim(depth, node, (at, formula, place), operand.kind);
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

    /// Without conditions the first node to come is the operand.
    fn claim(&mut self, depth: usize, node: &Node<'_>, place: (u32, u32, u32), kind: OperandKind) {
        let (at, formula, index) = place;
        let Some(value @ OperandValue::Open) = self.operand_mut(at as usize, formula, index) else {
            return;
        };
        match name_part(kind, node) {
            Some(part) => {
                *value = OperandValue::Known(part.into());
                self.try_compute(at as usize, formula);
            }
            None => {
                *value = OperandValue::Claimed;
                let claim = Claim {
                    depth: at,
                    formula,
                    place: index,
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
        leaf: u32,
        place: (u32, u32, u32),
        runners: &mut SmallVec<[(u32, u32); 2]>,
    ) {
        let (at, formula, index) = place;
        let kind = self
            .plan
            .operand(self.plan.formula(formula).children()[index as usize])
            .kind;
        let number = self.next_runner;
        let Some(value) = self.operand_mut(at as usize, formula, index) else {
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
        let known = runners
            .iter()
            .find(|&&(of, _)| of == leaf)
            .map(|&(_, candidate)| candidate);
        let part = name_part(kind, node).map(Box::from);
        let needs_value = part.is_none();
        let order = known.map_or(number, |candidate| self.candidates[candidate].order);
        if let Some(OperandValue::Race(race)) = self.operand_mut(at as usize, formula, index) {
            race.push(Runner {
                node: order,
                passed: None,
                value: part,
            });
        }
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
                formula,
                place: index,
                runner: Some(order),
            };
            self.frames.memory_mut(depth).claims.push(claim);
        }
    }

    /// A runner passed the topmost condition of an operand's path, at `depth`.
    pub(super) fn admit(
        &mut self,
        formula: u32,
        place: u32,
        spine: u32,
        depth: usize,
        candidate: u32,
    ) {
        let root = self
            .plan
            .operand(self.plan.formula(formula).children()[place as usize])
            .root;
        let order = self.candidates[candidate].order;
        for at in self.up(spine, depth, root) {
            self.judge(at as usize, formula, place, order, |runner| {
                runner.passed = Some(true)
            });
        }
    }

    /// Nothing can let the runner pass any more.
    pub(super) fn drop_runner(&mut self, candidate: u32) {
        let order = self.candidates[candidate].order;
        for (at, formula, place) in std::mem::take(&mut self.candidates[candidate].runs_for) {
            self.judge(at as usize, formula, place, order, |runner| {
                runner.passed.get_or_insert(false);
            });
        }
        self.candidates.remove(candidate);
    }

    /// Changes what is known of a runner and ends the race if that decides it.
    fn judge(
        &mut self,
        depth: usize,
        formula: u32,
        place: u32,
        order: u64,
        change: impl FnOnce(&mut Runner),
    ) {
        let Some(value) = self.operand_mut(depth, formula, place) else {
            return;
        };
        let OperandValue::Race(race) = value else {
            return;
        };
        let Some(runner) = race.iter_mut().find(|runner| runner.node == order) else {
            return;
        };
        change(runner);
        let first = race
            .iter()
            .position(|runner| runner.passed != Some(false))
            .unwrap_or(race.len());
        race.drain(..first);
        if let Some(Runner {
            passed: Some(true),
            value: Some(found),
            ..
        }) = race.first()
        {
            *value = OperandValue::Known(found.clone());
            self.try_compute(depth, formula);
        } else if race.is_empty() {
            *value = OperandValue::Open;
        }
    }

    /// The value of a node is known: the operands that claimed it get it.
    pub(super) fn answer_claims(&mut self, depth: usize, value: &[u8]) {
        if self.frames.memory(depth).claims.is_empty() {
            return;
        }
        for claim in std::mem::take(&mut self.frames.memory_mut(depth).claims) {
            let Claim {
                depth: at,
                formula,
                place,
                runner,
            } = claim;
            if let Some(order) = runner {
                self.judge(at as usize, formula, place, order, |runner| {
                    runner.value = Some(value.into())
                });
            } else if let Some(operand) = self.operand_mut(at as usize, formula, place) {
                *operand = OperandValue::Known(value.into());
                self.try_compute(at as usize, formula);
            }
        }
    }

    /// The attributes are known: operands that reach no further and found nothing are empty.
    pub(super) fn end_near_operands(&mut self, depth: usize) {
        let plan = self.plan.clone();
        for &formula in self.state_at(depth).computed.clone().iter() {
            for (place, &id) in plan.formula(formula).children().iter().enumerate() {
                let operand = plan.operand(id);
                let is_over = operand.is_near || !self.state_at(depth).matches(operand.entry);
                if operand.root == NONE || !is_over {
                    continue;
                }
                if let Some(value @ OperandValue::Open) =
                    self.operand_mut(depth, formula, place as u32)
                {
                    *value = OperandValue::Known(Box::default());
                    self.try_compute(depth, formula);
                }
            }
        }
    }

    /// The node closes: an operand that reached nothing is the empty string, its own value is
    /// known. A formula whose operand races waits for the formulas that may decide the race; when
    /// none is left, everyone lost.
    pub(super) fn end_computations(&mut self, depth: usize, value: &[u8]) {
        let mut rest = self.state_at(depth).computed.to_vec();
        while !rest.is_empty() {
            let before = rest.len();
            self.review_from(depth);
            rest.retain(|&formula| {
                let races = self.has_race(depth, formula);
                if !races {
                    self.end_computation(depth, formula, value);
                    self.drain();
                }
                races
            });
            if rest.len() == before {
                for formula in rest.drain(..) {
                    self.end_computation(depth, formula, value);
                    self.drain();
                }
            }
        }
    }

    fn has_race(&self, depth: usize, formula: u32) -> bool {
        let mut computations = self.frames.memory(depth).computations.iter();
        computations.any(|c| {
            c.formula == formula
                && c.operands
                    .iter()
                    .any(|o| matches!(o, OperandValue::Race(_)))
        })
    }

    fn end_computation(&mut self, depth: usize, formula: u32, value: &[u8]) {
        let plan = self.plan.clone();
        for (place, &id) in plan.formula(formula).children().iter().enumerate() {
            let operand = plan.operand(id);
            let text = if operand.root == NONE && operand.kind == OperandKind::Value {
                value
            } else {
                b""
            };
            let Some(operand) = self.operand_mut(depth, formula, place as u32) else {
                continue;
            };
            if matches!(operand, OperandValue::Open | OperandValue::Race(_)) {
                *operand = OperandValue::Known(text.into());
            }
        }
        self.try_compute(depth, formula);
    }

    /// A condition that serves as an operand is decided.
    pub(super) fn answer_truth(&mut self, depth: usize, formula: u32, place: u32, truth: bool) {
        if let Some(operand @ OperandValue::Open) = self.operand_mut(depth, formula, place) {
            *operand = OperandValue::Known(if truth {
                b"true"[..].into()
            } else {
                b"false"[..].into()
            });
            self.try_compute(depth, formula);
        }
    }

    /// An operand at an open node. A runner may outlive a node that it ran for, hence the first
    /// line; nodes opened since then do not know its number.
    fn operand_mut(&mut self, depth: usize, formula: u32, place: u32) -> Option<&mut OperandValue> {
        self.frames
            .stack
            .get(depth)
            .filter(|frame| frame.memory != 0)?;
        let computations = &mut self.frames.memory_mut(depth).computations;
        let computation = computations.iter_mut().find(|c| c.formula == formula)?;
        computation.operands.get_mut(place as usize)
    }

    /// Decides the formula if all its operands are known.
    fn try_compute(&mut self, depth: usize, formula: u32) {
        let plan = self.plan.clone();
        let computations = &mut self.frames.memory_mut(depth).computations;
        let Some(computation) = computations
            .iter_mut()
            .find(|c| c.formula == formula && !c.is_decided)
        else {
            return;
        };
        if !computation
            .operands
            .iter()
            .all(|o| matches!(o, OperandValue::Known(_)))
        {
            return;
        }
        computation.is_decided = true;
        let operands = std::mem::take(&mut computation.operands);
        let operand = |place: u32| match operands.get(place as usize) {
            Some(OperandValue::Known(bytes)) => std::str::from_utf8(bytes).unwrap_or(""),
            _ => "",
        };
        let value = evaluate(&plan, plan.formula(formula).expr(), &operand);
        let holds = value.boolean();
        if depth == 0 {
            self.decide_value(formula, value);
        }
        if holds {
            self.assume(depth, formula);
        } else {
            self.frames.memory_mut(depth).falsehoods.insert(formula);
            self.dirty = self.dirty.min(depth);
            let negation = plan.formula(formula).negation();
            if negation != NONE {
                self.assume(depth, negation);
            }
        }
    }

    /// The value atoms that the node's string value satisfies.
    pub(super) fn try_atoms(&mut self, depth: usize, value: &[u8]) {
        let plan = self.plan.clone();
        if self.state_at(depth).flags & flag::EQUAL != 0
            && let Some(atom) = plan.equal_atom(value)
        {
            self.assume(depth, atom);
        }
        if self.state_at(depth).atoms.is_empty() {
            return;
        }
        let mut number = None;
        for index in 0..self.state_at(depth).atoms.len() {
            let atom = self.state_at(depth).atoms[index];
            let view = plan.formula(atom);
            let holds = match view.kind() {
                FormulaKind::Number => {
                    let number = *number.get_or_insert_with(|| parse_number(value));
                    compare_numbers(view.comparison(), number, plan.number(view.constant()))
                }
                FormulaKind::Contains => {
                    memchr::memmem::find(value, plan.string(view.constant())).is_some()
                }
                FormulaKind::StartsWith => value.starts_with(plan.string(view.constant())),
                // Equality of strings is answered by the hash; what is left is inequality.
                _ => value != plan.string(view.constant()),
            };
            if holds {
                self.assume(depth, atom);
            }
        }
    }

    fn decide_value(&mut self, formula: u32, value: Value<'_>) {
        let plan = self.plan.clone();
        for &target in plan.formula(formula).root_targets() {
            if let crate::plan::Output::Value { kind, .. } = plan.target(target).0 {
                let value = match kind {
                    0 => Value::Text(value.clone().text().into_owned().into()),
                    1 => Value::Number(value.number()),
                    _ => Value::Boolean(value.boolean()),
                };
                self.answers.push((target, value));
            }
        }
    }
}

fn name_part<'a>(kind: OperandKind, node: &Node<'a>) -> Option<&'a [u8]> {
    match kind {
        OperandKind::Value | OperandKind::Truth => None,
        OperandKind::Name => Some(node.name),
        OperandKind::LocalName => Some(node.local()),
        OperandKind::Uri => Some(node.uri),
    }
}
