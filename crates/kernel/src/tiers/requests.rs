//! What tiers request beside rows, and what changed there from some tiers to others.

use super::Tier;
use crate::plan::Requested;
use std::sync::Arc;

/// A program that requests something else than rows, under the session's number.
pub type Request<'a> = Requested<&'a [u8]>;

/// The requests of tiers, without those of removed subscriptions.
pub fn requests(tiers: &[Tier]) -> impl Iterator<Item = Request<'_>> {
    tiers.iter().flat_map(Tier::requests)
}

/// The numbers of those that went, by the older tiers, and those that came. A subscription that
/// moved from one plan to another is among both. A plan that stays costs what was removed from it.
pub fn requests_since<'a>(older: &[Tier], newer: &'a [Tier]) -> (Vec<u32>, Vec<Request<'a>>) {
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    for tier in older {
        match same_plan(tier, newer) {
            Some(now) => gone.extend(tier.requests_left_out_by(now).map(|one| one.subscription)),
            None => gone.extend(tier.requests().map(|one| one.subscription)),
        }
    }
    for tier in newer {
        match same_plan(tier, older) {
            Some(before) => come.extend(tier.requests_left_out_by(before)),
            None => come.extend(tier.requests()),
        }
    }
    (gone, come)
}

fn same_plan<'a>(tier: &Tier, others: &'a [Tier]) -> Option<&'a Tier> {
    others
        .iter()
        .find(|other| Arc::ptr_eq(&other.plan, &tier.plan))
}

impl Tier {
    fn requests(&self) -> impl Iterator<Item = Request<'_>> {
        (0..self.plan.request_count()).filter_map(|id| self.request(id))
    }

    fn request(&self, id: u32) -> Option<Request<'_>> {
        let request = self.plan.request(id);
        let subscription = self.number(request.subscription)?;
        Some(Request {
            subscription,
            ..request
        })
    }

    /// The requests that the same plan lacks in another tier, because they were removed there.
    fn requests_left_out_by(&self, other: &Tier) -> impl Iterator<Item = Request<'_>> {
        let has_requests = self.plan.request_count() > 0;
        let is_same = !has_requests || Arc::ptr_eq(&self.removed, &other.removed);
        let words = if is_same { &[] } else { &*other.removed };
        words.iter().enumerate().flat_map(move |(at, &word)| {
            let mut bits = word & !self.removed.get(at).copied().unwrap_or(0);
            std::iter::from_fn(move || {
                let bit = bits.trailing_zeros();
                bits &= bits.wrapping_sub(1);
                (bit < u64::BITS).then(|| at as u32 * u64::BITS + bit)
            })
            .filter_map(|subscription| self.request(self.find_request(subscription)?))
        })
    }

    fn find_request(&self, subscription: u32) -> Option<u32> {
        let (mut low, mut high) = (0, self.plan.request_count());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.plan.request(middle).subscription < subscription {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let is_there =
            low < self.plan.request_count() && self.plan.request(low).subscription == subscription;
        is_there.then_some(low)
    }
}
