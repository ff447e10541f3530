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

    /// The plan's own ids of subscriptions that the same plan lacks in another tier, because they
    /// were removed there.
    pub(crate) fn left_out_by(&self, other: &Tier) -> impl Iterator<Item = SubscriptionId> {
        let is_same = Arc::ptr_eq(&self.removed, &other.removed);
        let words = if is_same { &[] } else { &*other.removed };
        words.iter().enumerate().flat_map(move |(at, &word)| {
            let mut bits = word & !self.removed.get(at).copied().unwrap_or(0);
            std::iter::from_fn(move || {
                let bit = bits.trailing_zeros();
                bits &= bits.wrapping_sub(1);
                (bit < u64::BITS).then(|| SubscriptionId(at as u32 * u64::BITS + bit))
            })
        })
    }

    /// Whether two tiers have the same plan under the same numbers.
    pub(crate) fn is_same_plan(&self, other: &Tier) -> bool {
        Arc::ptr_eq(&self.plan, &other.plan) && self.first == other.first
    }

    /// Whether two tiers have the same plan, numbers and removed subscriptions.
    pub(crate) fn is_same(&self, other: &Tier) -> bool {
        self.is_same_plan(other) && self.removed == other.removed
    }

    /// Whether a subscription's own number is the session's, and none was removed.
    pub(crate) fn is_plain(&self) -> bool {
        self.first == 0 && self.removed.is_empty()
    }
}
