//! The lists that point against the direction of interning: who waits for a formula.

use super::{Operands, root_formulas};
use crate::plan::builder::Builder;
use crate::plan::formulas::FormulaKey;
use crate::plan::{FormulaId, GuardId, TargetId};
use crate::tables::Table;

/// A list for each formula.
type Lists<T> = Table<FormulaId, Vec<T>>;
type Keys = Table<FormulaId, FormulaKey>;

/// The lists that point against the direction of interning.
pub(super) struct Reverse {
    pub disjunctions: Lists<FormulaId>,
    pub conjunctions: Lists<FormulaId>,
    /// Conjunctions that another child wakes.
    pub memberships: Lists<FormulaId>,
    pub edges: Lists<FormulaId>,
    pub guards: Lists<GuardId>,
    pub root_targets: Lists<TargetId>,
    /// Operands and the answers that they get.
    pub operands: Lists<u32>,
    pub negation: Table<FormulaId, FormulaId>,
    pub announces: Table<FormulaId, bool>,
    access: Table<FormulaId, FormulaId>,
}

impl Reverse {
    pub fn of(builder: &Builder, operands: &Operands) -> Reverse {
        let keys = builder.formulas.keys();
        let count = keys.len();
        let mut r = Reverse {
            disjunctions: Table::of_defaults(count),
            conjunctions: Table::of_defaults(count),
            memberships: Table::of_defaults(count),
            edges: Table::of_defaults(count),
            guards: Table::of_defaults(count),
            root_targets: Table::of_defaults(count),
            operands: Table::of_defaults(count),
            negation: keys.ids().map(|_| FormulaId::NONE).collect(),
            announces: Table::of_defaults(count),
            access: keys.ids().map(|_| FormulaId::NONE).collect(),
        };
        r.add_parents(keys);
        for (id, guard) in builder.guards.keys().pairs() {
            r.guards[guard.formula].push(id);
            r.announce(keys, guard.formula);
        }
        for (id, target) in builder.targets.keys().pairs() {
            for formula in root_formulas(&target.output) {
                r.root_targets[formula].push(id);
                r.announce(keys, formula);
            }
        }
        for key in keys.iter() {
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
                r.operands[formula].extend([id.0, answer]);
                r.announce(keys, formula);
            }
        }
        r
    }

    /// Lists each formula with those that it is a part of.
    fn add_parents(&mut self, keys: &Keys) {
        let mut parents: Table<FormulaId, u32> = Table::of_defaults(keys.len());
        for key in keys.iter() {
            match key {
                FormulaKey::And(c) | FormulaKey::Or(c) => c.iter().for_each(|&f| parents[f] += 1),
                FormulaKey::Edge { sub, .. } => parents[*sub] += 1,
                _ => {}
            }
        }
        for (id, key) in keys.pairs() {
            match key {
                FormulaKey::Not(child) => self.negation[*child] = id,
                FormulaKey::Edge { sub, .. } => self.edges[*sub].push(id),
                FormulaKey::Or(children) => {
                    let children = children.iter();
                    children.for_each(|&child| self.disjunctions[child].push(id));
                }
                FormulaKey::And(children) => {
                    // The access child wakes the conjunction, the others are only probed. A
                    // positive child with few parents is the most selective one.
                    let own = children.iter().copied();
                    let access = own.min_by_key(|&c| (is_negative(keys, c), parents[c], c));
                    let access = access.unwrap_or(FormulaId::TRUE);
                    self.access[id] = access;
                    self.conjunctions[access].push(id);
                    for &child in children.iter().filter(|&&child| child != access) {
                        self.memberships[child].push(id);
                    }
                }
                _ => {}
            }
        }
    }

    fn announce(&mut self, keys: &Keys, formula: FormulaId) {
        if std::mem::replace(&mut self.announces[formula], true) {
            return;
        }
        match &keys[formula] {
            FormulaKey::And(children) => {
                for &child in children {
                    // A negation beside the access child is woken by a watch, not by itself.
                    if child == self.access[formula] || !matches!(keys[child], FormulaKey::Not(_)) {
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
fn is_negative(keys: &Keys, formula: FormulaId) -> bool {
    match &keys[formula] {
        FormulaKey::Not(_) => true,
        FormulaKey::And(c) => c.iter().all(|&f| is_negative(keys, f)),
        FormulaKey::Or(c) => c.iter().any(|&f| is_negative(keys, f)),
        _ => false,
    }
}
