//! A plan as one of several: its numbers in a session, and what was removed from it.

use super::Plan;
use std::sync::Arc;

/// A plan among those of a session.
#[derive(Clone)]
pub struct Tier {
    /// The plan.
    pub plan: Arc<Plan>,
    /// The session's number of the plan's first subscription.
    pub first: u32,
    /// Subscriptions that were removed: a bit for each of the plan's own numbers, as far as the
    /// words go.
    pub removed: Arc<[u64]>,
}

impl Tier {
    /// A plan with all of its subscriptions.
    pub fn of(plan: Arc<Plan>) -> Tier {
        Tier {
            plan,
            first: 0,
            removed: Arc::new([]),
        }
    }

    /// Whether a subscription, by the plan's own number, was removed.
    #[inline]
    pub fn is_removed(&self, subscription: u32) -> bool {
        let word = self.removed.get(subscription as usize / 64);
        word.is_some_and(|word| word >> (subscription % 64) & 1 == 1)
    }

    /// The session's number of a subscription, unless it was removed.
    #[inline]
    pub fn number(&self, subscription: u32) -> Option<u32> {
        (!self.is_removed(subscription)).then(|| self.first.saturating_add(subscription))
    }

    /// The plan's own numbers of subscriptions that the session knows by others.
    pub(crate) fn own_numbers(&self, numbers: &[u32]) -> impl Iterator<Item = u32> {
        numbers
            .iter()
            .filter_map(|number| number.checked_sub(self.first))
    }

    /// The tier without some of its subscriptions, by the session's numbers.
    pub(crate) fn without(&self, numbers: &[u32]) -> Tier {
        let mut tier = self.clone();
        let mut removed = self.removed.to_vec();
        for own in self.own_numbers(numbers) {
            let word = own as usize / 64;
            removed.resize(removed.len().max(word + 1), 0);
            removed[word] |= 1 << (own % 64);
        }
        if !removed.is_empty() {
            tier.removed = removed.into();
        }
        tier
    }

    /// Whether a subscription's own number is the session's, and none was removed.
    pub(crate) fn is_plain(&self) -> bool {
        self.first == 0 && self.removed.is_empty()
    }
}
