//! Formulas over operands: the first node of each operand's path gives its value.

use super::frames::{Computation, OperandValue};
use super::values::{Value, evaluate};
use super::{Matcher, Node};
use crate::plan::{FormulaKind, NONE, OperandKind};

impl Matcher {
    /// Starts the computed formulas of a node; the parts of its own name are known at once.
    pub(super) fn begin_computations(&mut self, depth: usize, node: &Node<'_>) {
        let plan = self.plan.clone();
        let formulas: Vec<u32> = self.state_at(depth).computed.to_vec();
        for &formula in &formulas {
            let operands = plan.formula(formula).children().iter().map(|&id| {
                let operand = plan.operand(id);
                if operand.root != NONE {
                    return OperandValue::Open;
                }
                name_part(operand.kind, node).map_or(OperandValue::Open, |part| OperandValue::Known(part.into()))
            });
            let operands = operands.collect();
            let computation = Computation { formula, operands, is_decided: false };
            self.frames.memory_mut(depth).computations.push(computation);
        }
        for formula in formulas {
            self.try_compute(depth, formula);
        }
    }

    /// The node is the first one that an operand of some open node reaches.
    pub(super) fn claim_operands(&mut self, depth: usize, node: &Node<'_>) {
        let plan = self.plan.clone();
        for (formula, place, leaf) in self.state_at(depth).claims.to_vec() {
            let operand = plan.operand(plan.formula(formula).children()[place as usize]);
            for at in self.up(leaf, depth, operand.root) {
                if !self.is_armed(at as usize, formula) {
                    continue;
                }
                let Some(value) = self.operand_mut(at as usize, formula, place) else { continue };
                if !matches!(value, OperandValue::Open) {
                    continue;
                }
                match name_part(operand.kind, node) {
                    Some(part) => {
                        *value = OperandValue::Known(part.into());
                        self.try_compute(at as usize, formula);
                    }
                    None => {
                        *value = OperandValue::Claimed;
                        self.frames.memory_mut(depth).claims.push((at, formula, place));
                    }
                }
            }
        }
    }

    /// The value of a node is known: the operands that claimed it get it.
    pub(super) fn answer_claims(&mut self, depth: usize, value: &[u8]) {
        if self.frames.memory(depth).claims.is_empty() {
            return;
        }
        for (at, formula, place) in std::mem::take(&mut self.frames.memory_mut(depth).claims) {
            if let Some(operand) = self.operand_mut(at as usize, formula, place) {
                *operand = OperandValue::Known(value.into());
            }
            self.try_compute(at as usize, formula);
        }
    }

    /// The node closes: an operand that reached nothing is the empty string, its own value is known.
    pub(super) fn end_computations(&mut self, depth: usize, value: &[u8]) {
        let plan = self.plan.clone();
        for formula in self.state_at(depth).computed.to_vec() {
            for (place, &id) in plan.formula(formula).children().iter().enumerate() {
                let text = if plan.operand(id).root == NONE { value } else { b"" };
                if let Some(operand @ OperandValue::Open) = self.operand_mut(depth, formula, place as u32) {
                    *operand = OperandValue::Known(text.into());
                }
            }
            self.try_compute(depth, formula);
        }
    }

    fn operand_mut(&mut self, depth: usize, formula: u32, place: u32) -> Option<&mut OperandValue> {
        let computations = &mut self.frames.memory_mut(depth).computations;
        let computation = computations.iter_mut().find(|c| c.formula == formula)?;
        computation.operands.get_mut(place as usize)
    }

    /// Decides the formula if all its operands are known.
    fn try_compute(&mut self, depth: usize, formula: u32) {
        let plan = self.plan.clone();
        let computations = &mut self.frames.memory_mut(depth).computations;
        let Some(computation) = computations.iter_mut().find(|c| c.formula == formula && !c.is_decided) else {
            return;
        };
        if !computation.operands.iter().all(|o| matches!(o, OperandValue::Known(_))) {
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
        if self.state_at(depth).flags & super::states::flag::EQUAL != 0 {
            if let Some(atom) = plan.equal_atom(value) {
                self.assume(depth, atom);
            }
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
                    let number = *number.get_or_insert_with(|| super::values::parse_number(value));
                    super::values::compare_numbers(view.comparison(), number, plan.number(view.constant()))
                }
                FormulaKind::Contains => memchr::memmem::find(value, plan.string(view.constant())).is_some(),
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
        OperandKind::Value => None,
        OperandKind::Name => Some(node.name),
        OperandKind::LocalName => Some(node.local()),
        OperandKind::Uri => Some(node.uri),
    }
}
