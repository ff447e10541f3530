//! For whom the work is done: a sample of it, and the bytes held now.

use super::Automaton;
use crate::ledger::Actor;
use crate::plan::{FormulaId, GuardId, SubscriptionId, TargetId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A sample is charged to so many subscriptions at most, in equal shares.
const CHARGED_MAX: usize = 16;
/// Formulas and guards that are visited to find them.
const VISITED_MAX: usize = 64;

/// Open nodes that are looked at in the time of a step.
const DEPTHS_PER_STEP: u64 = 8;

/// Steps by the subscription that they were done for, by the plan's own numbers.
pub type Charges = FxHashMap<SubscriptionId, f64>;

impl Automaton {
    /// Counts a step of work that was done because of a formula.
    #[inline]
    pub(super) fn count_step(&mut self, formula: FormulaId) {
        self.account.actor = formula.0;
        self.account.spend(1);
    }

    /// Counts a look at so many open nodes, each of which is fast.
    #[inline]
    pub(super) fn spend_depths(&mut self, depths: usize) {
        self.account.walk(depths as u64 / DEPTHS_PER_STEP);
    }

    /// Steps charged to subscriptions since the last call.
    pub fn take_charges(&mut self) -> Charges {
        let twigs: Vec<_> = self.account.take_samples().collect();
        let circuit = self.circuit.as_mut();
        let expressions = circuit.map(|circuit| circuit.account().take_samples().collect());
        self.charge(twigs, expressions.unwrap_or_default())
    }

    /// Steps charged for the document under way.
    pub fn charges(&mut self) -> Charges {
        let twigs: Vec<_> = self.account.samples().collect();
        let circuit = self.circuit.as_mut();
        let expressions = circuit.map(|circuit| circuit.account().samples().collect());
        self.charge(twigs, expressions.unwrap_or_default())
    }

    /// Bytes that are held now for undecided results, shared among those who wait for them.
    pub fn held_by_subscription(&self) -> Vec<(SubscriptionId, u64)> {
        let mut held = Vec::new();
        let candidates = self.candidates.iter();
        for candidate in candidates.filter(|c| c.references > 0 && c.needs_bytes && !c.is_done) {
            let end = if candidate.is_open {
                self.source.end()
            } else {
                candidate.end
            };
            let waiting = candidate.reach.iter();
            let waiting = waiting.filter(|&target| !candidate.selected.contains(target));
            let postings = waiting.flat_map(|&target| self.plan.target(target).1);
            let holders: Vec<SubscriptionId> = postings.copied().take(CHARGED_MAX).collect();
            let share = end.saturating_sub(candidate.start) / holders.len().max(1) as u64;
            held.extend(
                holders
                    .into_iter()
                    .map(|subscription| (subscription, share)),
            );
        }
        held
    }

    /// Shares out samples of twigs and of expressions.
    fn charge(&mut self, twigs: Vec<(Actor, u64)>, expressions: Vec<(Actor, u64)>) -> Charges {
        let mut charges = Charges::default();
        let mut share = |askers: Vec<SubscriptionId>, steps: u64| {
            let share = steps as f64 / askers.len().max(1) as f64;
            for subscription in askers {
                *charges.entry(subscription).or_default() += share;
            }
        };
        for (formula, steps) in twigs {
            share(self.askers(FormulaId(formula)), steps);
        }
        for (actor, steps) in expressions {
            share(self.askers_of_expression(actor), steps);
        }
        charges
    }

    /// Some of the subscriptions for which the circuit works.
    fn askers_of_expression(&mut self, actor: Actor) -> Vec<SubscriptionId> {
        let plan = self.plan.clone();
        let targets = self.circuit.as_mut().map_or(&[][..], |c| c.askers(actor));
        let postings = targets.iter().flat_map(|&target| plan.target(target).1);
        postings.copied().take(CHARGED_MAX).collect()
    }

    /// Some of the subscriptions for which a formula is decided.
    fn askers(&self, formula: FormulaId) -> Vec<SubscriptionId> {
        let plan = &self.plan;
        let mut askers = Vec::new();
        let (mut formulas, mut guards) = (vec![formula], Vec::new());
        let mut seen_formulas: FxHashSet<FormulaId> = FxHashSet::default();
        let mut seen_guards: FxHashSet<GuardId> = FxHashSet::default();
        while seen_formulas.len() + seen_guards.len() < VISITED_MAX && askers.len() < CHARGED_MAX {
            let mut targets: Vec<TargetId> = Vec::new();
            if let Some(guard) = guards.pop() {
                let view = plan.guard(guard);
                targets.extend_from_slice(view.targets);
                let above = view.above.iter().flat_map(|&s| plan.segment(s).2);
                guards.extend(above.filter(|&&g| seen_guards.insert(g)).take(VISITED_MAX));
            } else if let Some(formula) = formulas.pop() {
                let view = plan.formula(formula);
                targets.extend_from_slice(view.root_targets());
                let own = view.guards().iter();
                guards.extend(own.filter(|&&g| seen_guards.insert(g)).take(VISITED_MAX));
                let lists = [view.conjunctions(), view.disjunctions(), view.edges()];
                let above = lists.into_iter().flatten();
                formulas.extend(
                    above
                        .filter(|&&f| seen_formulas.insert(f))
                        .take(VISITED_MAX),
                );
            } else {
                break;
            }
            askers.extend(targets.iter().flat_map(|&t| plan.target(t).1));
        }
        askers.truncate(CHARGED_MAX);
        askers
    }
}
