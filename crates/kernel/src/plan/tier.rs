//! A plan as one of several: its numbers in a session, and what was removed from it.

use super::{Plan, SubscriptionId};
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
    pub fn is_removed(&self, own: SubscriptionId) -> bool {
        let word = self.removed.get(own.index() / 64);
        word.is_some_and(|word| word >> (own.0 % 64) & 1 == 1)
    }

    /// The session's number of a subscription, unless it was removed.
    #[inline]
    pub fn number(&self, own: SubscriptionId) -> Option<SubscriptionId> {
        (!self.is_removed(own)).then(|| self.shift(own))
    }

    /// The session's number of a subscription, removed or not.
    pub(crate) fn shift(&self, own: SubscriptionId) -> SubscriptionId {
        SubscriptionId(self.first.saturating_add(own.0))
    }

    /// The plan's own ids of subscriptions that the session knows by others.
    pub(crate) fn own_ids(&self, ids: &[SubscriptionId]) -> impl Iterator<Item = SubscriptionId> {
        let own = ids.iter().filter_map(|id| id.0.checked_sub(self.first));
        own.map(SubscriptionId)
    }

    /// The tier without some of its subscriptions, by the session's ids.
    pub(crate) fn without(&self, ids: &[SubscriptionId]) -> Tier {
        let mut tier = self.clone();
        let mut removed = self.removed.to_vec();
        for own in self.own_ids(ids) {
            let word = own.index() / 64;
            removed.resize(removed.len().max(word + 1), 0);
            removed[word] |= 1 << (own.0 % 64);
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
