//! Conditions that an index answers: comparisons of a value that each item of a source has with a
//! value that does not depend on the item.
//!
//! `for $t in SOURCE where $t/KEY = PROBE`, `some $t in SOURCE satisfies …` and
//! `SOURCE[KEY = PROBE]` become lookups. The evaluator builds the index when the same source is
//! asked for the second time.

use super::expr::{Clause, Expr, ExprId, For, Slot, Step};
use super::facts::{Amount, Truth};
use super::read::Tables;
use crate::atomic::Comparison;

/// The number of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LookupId(pub u32);

/// How an item is bound while its key is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binder {
    /// To a variable.
    Variable(Slot),
    /// As the context item.
    Context,
}

/// How key and probe compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// Some pair is equal.
    Equal,
    /// Some pair holds, with the key on the left: `<`, `<=`, `>` or `>=`.
    Order(Comparison),
}

/// A condition that an index answers.
#[derive(Clone, Debug)]
pub struct Lookup {
    /// The items.
    pub source: ExprId,
    /// How one of them is bound.
    pub binder: Binder,
    /// The values of an item.
    pub key: ExprId,
    /// What they are compared with.
    pub probe: ExprId,
    /// How.
    pub match_: Match,
    /// The comparison itself.
    pub condition: ExprId,
    /// Of a predicate: the conjuncts beside the comparison.
    pub rest: Box<[ExprId]>,
    /// The variables that items and keys depend on.
    pub depends: Box<[Slot]>,
    /// Whether they depend on the tree of the context item.
    pub is_rooted: bool,
}

impl Tables {
    /// Adds an expression, with lookups where it has conditions for them.
    pub(super) fn push_planned(&mut self, mut expr: Expr) -> ExprId {
        match &mut expr {
            Expr::Flwor(clauses, _) => {
                self.plan_clauses(clauses);
                let is_empty =
                    |clause: &Clause| matches!(clause, Clause::Where(test) if test.is_empty());
                let mut left = std::mem::take(clauses).into_vec();
                left.retain(|clause| !is_empty(clause));
                *clauses = left.into();
            }
            Expr::Quantified {
                is_every: false,
                bindings,
                test,
            } => self.plan_bindings(bindings, test),
            Expr::Filter {
                base,
                predicates,
                lookup,
            } => *lookup = self.plan_predicate(*base, predicates),
            Expr::Step(step) => self.plan_step(step),
            _ => {}
        }
        self.push(expr)
    }

    fn plan_clauses(&mut self, clauses: &mut [Clause]) {
        for clause in &mut *clauses {
            if let Clause::Where(test) = clause {
                *test = test.iter().flat_map(|&id| self.conjuncts(id)).collect();
            }
        }
        for at in 0..clauses.len() {
            let (head, tail) = clauses.split_at_mut(at + 1);
            let Some(Clause::For(clause)) = head.last_mut() else {
                continue;
            };
            let mut later: Vec<Slot> = clause.position.into_iter().collect();
            for next in tail {
                match next {
                    Clause::For(next) => {
                        later.push(next.slot);
                        later.extend(next.position);
                    }
                    Clause::Let { slot, .. } => later.push(*slot),
                    Clause::Where(test) => self.plan_for(clause, test, &later),
                    Clause::OrderBy(..) => break,
                }
            }
        }
    }

    fn plan_bindings(&mut self, bindings: &mut [For], test: &mut Box<[ExprId]>) {
        *test = test.iter().flat_map(|&id| self.conjuncts(id)).collect();
        for at in 0..bindings.len() {
            let (head, tail) = bindings.split_at_mut(at + 1);
            let later: Vec<Slot> = tail.iter().map(|binding| binding.slot).collect();
            if let Some(binding) = head.last_mut() {
                self.plan_for(binding, test, &later);
            }
        }
    }

    /// Takes the conjunct out of a condition that a lookup for a variable can answer. The variables
    /// in `later` have no value yet when the variable gets its own.
    fn plan_for(&mut self, clause: &mut For, test: &mut Box<[ExprId]>, later: &[Slot]) {
        if clause.lookup.is_some() || clause.type_.is_some() || !self.is_source(clause.source) {
            return;
        }
        let is_early = |id: ExprId| {
            let facts = self.facts(id);
            later.iter().all(|&slot| !facts.depends_on(slot))
        };
        let is_key = |id: ExprId| {
            let facts = self.facts(id);
            facts.depends_on(clause.slot) && !facts.is_focused && is_early(id)
        };
        let is_probe = |id: ExprId| !self.facts(id).depends_on(clause.slot) && is_early(id);
        let Some((at, match_, key, probe)) = self.best(test, &is_key, &is_probe) else {
            return;
        };
        let mut conjuncts = test.to_vec();
        let condition = conjuncts.remove(at);
        *test = conjuncts.into();
        let binder = Binder::Variable(clause.slot);
        let lookup = self.push_lookup(Lookup {
            source: clause.source,
            binder,
            key,
            probe,
            match_,
            condition,
            rest: Box::default(),
            depends: Box::default(),
            is_rooted: false,
        });
        clause.lookup = Some((lookup, condition));
    }

    fn plan_step(&mut self, step: &mut Step) {
        let others = step.predicates.iter().skip(1);
        let mut others = others.map(|&id| self.facts(id));
        // Positions count for each node of the base, and the index has them all together.
        if step.predicates.is_empty()
            || !others.all(|facts| facts.truth == Truth::Boolean && !facts.is_positional)
        {
            return;
        }
        let bare = Step {
            predicates: Box::default(),
            ..step.clone()
        };
        if self.predicate_match(step.predicates[0]).is_some() {
            let source = self.push(Expr::Step(bare));
            step.lookup = self.plan_predicate(source, &step.predicates);
        }
    }

    fn plan_predicate(&mut self, source: ExprId, predicates: &[ExprId]) -> Option<LookupId> {
        let first = *predicates.first()?;
        let (at, match_, key, probe) = self.predicate_match(first)?;
        if !self.is_source(source) {
            return None;
        }
        let mut rest = self.conjuncts(first);
        let condition = rest.remove(at);
        Some(self.push_lookup(Lookup {
            source,
            binder: Binder::Context,
            key,
            probe,
            match_,
            condition,
            rest: rest.into(),
            depends: Box::default(),
            is_rooted: false,
        }))
    }

    fn predicate_match(&self, predicate: ExprId) -> Option<(usize, Match, ExprId, ExprId)> {
        let facts = self.facts(predicate);
        if facts.truth != Truth::Boolean || facts.is_positional {
            return None;
        }
        let is_key = |id: ExprId| self.facts(id).is_focused;
        let is_probe = |id: ExprId| !self.facts(id).is_focused && !self.facts(id).is_rooted;
        self.best(&self.conjuncts(predicate), &is_key, &is_probe)
    }

    /// The conjunct to look up: an equality if there is one.
    fn best(
        &self,
        conjuncts: &[ExprId],
        is_key: &dyn Fn(ExprId) -> bool,
        is_probe: &dyn Fn(ExprId) -> bool,
    ) -> Option<(usize, Match, ExprId, ExprId)> {
        let candidate = |(at, &id): (usize, &ExprId)| {
            let Expr::GeneralCompare(comparison, left, right) = self.expr(id) else {
                return None;
            };
            let (comparison, key, probe) = if is_key(*left) && is_probe(*right) {
                (*comparison, *left, *right)
            } else if is_key(*right) && is_probe(*left) {
                (comparison.mirrored(), *right, *left)
            } else {
                return None;
            };
            match comparison {
                Comparison::Equal => Some((at, Match::Equal, key, probe)),
                Comparison::NotEqual => None,
                order => Some((at, Match::Order(order), key, probe)),
            }
        };
        let candidates: Vec<_> = conjuncts.iter().enumerate().filter_map(candidate).collect();
        let equal = candidates.iter().find(|found| found.1 == Match::Equal);
        equal.or(candidates.first()).copied()
    }

    /// Whether an index over the items of an expression can be used again.
    fn is_source(&self, id: ExprId) -> bool {
        let facts = self.facts(id);
        !facts.is_fresh && !facts.is_focused && facts.amount == Amount::Many
    }

    fn push_lookup(&mut self, mut lookup: Lookup) -> LookupId {
        let (source, key) = (self.facts(lookup.source), self.facts(lookup.key));
        let slots = source.free.iter().chain(key.free.iter());
        let mut depends: Vec<Slot> = slots
            .copied()
            .filter(|&slot| lookup.binder != Binder::Variable(slot))
            .collect();
        depends.sort_unstable();
        depends.dedup();
        lookup.is_rooted = source.is_rooted || key.is_rooted;
        lookup.depends = depends.into();
        self.lookups.push(lookup);
        LookupId(self.lookups.len() as u32 - 1)
    }

    /// The parts of a conjunction, or the expression itself.
    fn conjuncts(&self, id: ExprId) -> Vec<ExprId> {
        let (mut parts, mut pending) = (Vec::new(), vec![id]);
        while let Some(id) = pending.pop() {
            match self.expr(id) {
                Expr::And(inner) => pending.extend(inner.iter().rev()),
                _ => parts.push(id),
            }
        }
        parts
    }
}
