//! Subscriptions that get nothing, whatever a document has for them.

use super::Automaton;
use crate::circuit::Circuit;
use crate::plan::{SubscriptionId, TargetId};
use crate::rows::DocumentId;
use rustc_hash::FxHashSet;

/// The next ordinal of a subscription that gets no more results.
pub(super) const AT_END: u64 = u64::MAX;

impl Automaton {
    /// Makes subscriptions silent from the next document on, and no others. An expression that
    /// nobody else asks for is not evaluated.
    pub fn silence(&mut self, silent: FxHashSet<SubscriptionId>) {
        if silent == self.silent {
            return;
        }
        self.silent = silent;
        let is_silent = |target: &TargetId| {
            let mut postings = self.plan.target(*target).1.iter();
            postings.all(|subscription| self.silent.contains(subscription))
        };
        let targets: FxHashSet<TargetId> = self.plan.targets().filter(is_silent).collect();
        self.is_idle = !targets.is_empty() && targets.len() == self.plan.target_count() as usize;
        let account = self.account.fork();
        self.circuit = Circuit::new(&self.plan, account, &targets);
        let (text, symbols) = (self.symbols.text, &self.symbols);
        let circuit = self.circuit.as_mut();
        self.hears_text = circuit.is_some_and(|circuit| circuit.concerns(text, symbols));
    }

    /// Whether nobody gets anything, so that it need not read documents.
    pub fn is_idle(&self) -> bool {
        self.is_idle
    }

    /// Documents, and subscriptions that had more results there than they may, from an offset on.
    pub fn take_exceeded(&mut self) -> Vec<(DocumentId, SubscriptionId, u64)> {
        std::mem::take(&mut self.exceeded)
    }

    /// A document begins: who is silent gets none of its results.
    pub(super) fn hush(&mut self) {
        for &subscription in &self.silent {
            self.ordinals.reach(subscription, 0);
            self.ordinals[subscription] = AT_END;
        }
    }
}
