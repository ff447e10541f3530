//! The lists that point against the direction of interning: who waits for a formula.

use super::{Operands, root_formulas};
use crate::plan::builder::Builder;
use crate::plan::formulas::{FormulaKey, TRUE};
use crate::plan::image::NONE;

/// The lists that point against the direction of interning.
pub(super) struct Reverse {
    pub disjunctions: Vec<Vec<u32>>,
    pub conjunctions: Vec<Vec<u32>>,
    pub edges: Vec<Vec<u32>>,
    pub guards: Vec<Vec<u32>>,
    pub root_targets: Vec<Vec<u32>>,
    pub operands: Vec<Vec<u32>>,
    pub negation: Vec<u32>,
    pub announces: Vec<bool>,
    access: Vec<u32>,
}

impl Reverse {
    pub fn of(builder: &Builder, operands: &Operands) -> Reverse {
        let keys = builder.formulas.keys();
        let lists = || vec![Vec::new(); keys.len()];
        let mut r = Reverse {
            disjunctions: lists(),
            conjunctions: lists(),
            edges: lists(),
            guards: lists(),
            root_targets: lists(),
            operands: lists(),
            negation: vec![NONE; keys.len()],
            announces: vec![false; keys.len()],
            access: vec![NONE; keys.len()],
        };
        let mut parents = vec![0u32; keys.len()];
        for key in keys {
            match key {
                FormulaKey::And(c) | FormulaKey::Or(c) => {
                    c.iter().for_each(|&f| parents[f as usize] += 1)
                }
                FormulaKey::Edge { sub, .. } => parents[*sub as usize] += 1,
                _ => {}
            }
        }
        for (id, key) in keys.iter().enumerate() {
            let id = id as u32;
            match key {
                FormulaKey::Not(child) => r.negation[*child as usize] = id,
                FormulaKey::Edge { sub, .. } => r.edges[*sub as usize].push(id),
                FormulaKey::Or(children) => children
                    .iter()
                    .for_each(|&c| r.disjunctions[c as usize].push(id)),
                FormulaKey::And(children) => {
                    // The access child wakes the conjunction, the others are only probed. A
                    // positive child with few parents is the most selective one.
                    let access = children
                        .iter()
                        .copied()
                        .min_by_key(|&c| (is_negative(keys, c), parents[c as usize], c));
                    let access = access.unwrap_or(TRUE);
                    r.access[id as usize] = access;
                    r.conjunctions[access as usize].push(id);
                }
                _ => {}
            }
        }
        for (id, guard) in builder.guards.keys().iter().enumerate() {
            r.guards[guard.formula as usize].push(id as u32);
            r.announce(keys, guard.formula);
        }
        for (id, target) in builder.targets.keys().iter().enumerate() {
            for formula in root_formulas(&target.output) {
                r.root_targets[formula as usize].push(id as u32);
                r.announce(keys, formula);
            }
        }
        for key in keys {
            if let FormulaKey::Edge { sub, .. } = key {
                r.announce(keys, *sub);
            }
        }
        let mut listed: Vec<_> = operands.iter().collect();
        listed.sort_unstable_by_key(|&(_, id)| id);
        for (operand, &id) in listed {
            let Some((holds, fails)) = operand.condition else {
                continue;
            };
            for (formula, answer) in [(holds, 1), (fails, 0)] {
                r.operands[formula as usize].extend([id, answer]);
                r.announce(keys, formula);
            }
        }
        r
    }

    fn announce(&mut self, keys: &[FormulaKey], formula: u32) {
        if std::mem::replace(&mut self.announces[formula as usize], true) {
            return;
        }
        match &keys[formula as usize] {
            FormulaKey::And(children) => {
                for &child in children {
                    // A negation beside the access child is woken by a watch, not by itself.
                    if child == self.access[formula as usize]
                        || !matches!(keys[child as usize], FormulaKey::Not(_))
                    {
                        self.announce(keys, child);
                    }
                }
            }
            FormulaKey::Or(children) => children
                .iter()
                .for_each(|&child| self.announce(keys, child)),
            _ => {}
        }
    }
}

/// Whether the formula may turn true without a positive event.
fn is_negative(keys: &[FormulaKey], formula: u32) -> bool {
    match &keys[formula as usize] {
        FormulaKey::Not(_) => true,
        FormulaKey::And(c) => c.iter().all(|&f| is_negative(keys, f)),
        FormulaKey::Or(c) => c.iter().any(|&f| is_negative(keys, f)),
        _ => false,
    }
}
