//! The programs of a plan that request something else than rows. Nothing of them is interned: who
//! serves their requests gets them as they are.

use super::builder::Builder;
use super::freeze::Layout;
use super::ids::{RequestId, StringId, SubscriptionId};
use super::image::{Plan, Section, size};
use super::program::Request;
use super::tier::Tier;
use crate::ids::Id;
use std::sync::Arc;

/// What tells a subscription from others that had its name before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(pub u64);

/// A program, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requested<P> {
    /// The number of the subscription.
    pub subscription: SubscriptionId,
    /// Its place.
    pub place: Place,
    /// The bytes of the program.
    pub program: P,
}

/// Writes the programs, which lie behind the strings of the plan.
pub(super) fn freeze_requests(builder: &Builder, layout: &mut Layout) {
    let strings = builder.strings.keys().len() as u32..;
    for (request, string) in builder.requests.iter().zip(strings) {
        let Place(place) = request.place;
        let (low, high) = (place as u32, (place >> 32) as u32);
        let record = [request.subscription.0, low, high, string];
        layout.push(Section::Requests, &record);
    }
}

impl Plan {
    /// How many programs request something else than rows.
    pub fn request_count(&self) -> u32 {
        self.count(Section::Requests, size::REQUEST)
    }

    /// One of them; they are in the order of their subscriptions.
    pub fn request(&self, id: RequestId) -> Requested<&[u8]> {
        let r = self.record(Section::Requests, id, size::REQUEST);
        Requested {
            subscription: SubscriptionId(r[0]),
            place: Place(u64::from(r[1]) | u64::from(r[2]) << 32),
            program: self.string(StringId(r[3])),
        }
    }
}

/// The programs of a plan by what they request.
pub(super) type ByRequest = [Box<[RequestId]>; Request::ALL.len()];

impl Plan {
    /// Those of a kind. They are found once, so whoever asks a plan again pays for these alone.
    fn requests_of(&self, kind: Request) -> &[RequestId] {
        let by_request = self.by_request.get_or_init(|| {
            let mut all = Request::ALL.map(|_| Vec::new());
            for id in (0..self.request_count()).map(RequestId) {
                if let Ok((own, _)) = Request::of(self.request(id).program) {
                    all[own as usize].push(id);
                }
            }
            all.map(Vec::into_boxed_slice)
        });
        &by_request[kind as usize]
    }
}

/// The requests of a kind of tiers, without those of removed subscriptions.
pub fn requests(tiers: &[Tier], kind: Request) -> impl Iterator<Item = Requested<&[u8]>> {
    tiers.iter().flat_map(move |tier| tier.requests(kind))
}

/// Those of a kind: the numbers of those that went, by the older tiers, and those that came. A subscription that
/// moved from one plan to another is among both. A plan that stays costs what was removed from it.
pub fn requests_since<'a>(
    older: &'a [Tier],
    newer: &'a [Tier],
    kind: Request,
) -> (Vec<SubscriptionId>, Vec<Requested<&'a [u8]>>) {
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    let subscription =
        |request: Requested<&[u8]>| request.is_of(kind).then_some(request.subscription);
    for tier in older {
        match same_plan(tier, newer) {
            Some(now) => gone.extend(tier.requests_left_out_by(now).filter_map(subscription)),
            None => gone.extend(tier.requests(kind).filter_map(subscription)),
        }
    }
    for tier in newer {
        match same_plan(tier, older) {
            Some(before) => come.extend(tier.requests_left_out_by(before)),
            None => come.extend(tier.requests(kind)),
        }
    }
    come.retain(|request: &Requested<&[u8]>| request.is_of(kind));
    (gone, come)
}

impl Requested<&[u8]> {
    fn is_of(&self, kind: Request) -> bool {
        Request::of(self.program).is_ok_and(|(own, _)| own == kind)
    }
}

fn same_plan<'a>(tier: &Tier, others: &'a [Tier]) -> Option<&'a Tier> {
    others
        .iter()
        .find(|other| Arc::ptr_eq(&other.plan, &tier.plan))
}

impl Tier {
    fn requests(&self, kind: Request) -> impl Iterator<Item = Requested<&[u8]>> {
        let all = self.plan.requests_of(kind).iter();
        all.filter_map(|&id| self.request(id))
    }

    fn request(&self, id: RequestId) -> Option<Requested<&[u8]>> {
        let request = self.plan.request(id);
        let subscription = self.number(request.subscription)?;
        Some(Requested {
            subscription,
            ..request
        })
    }

    /// The requests that the same plan lacks in another tier, because they were removed there.
    fn requests_left_out_by<'a>(
        &'a self,
        other: &'a Tier,
    ) -> impl Iterator<Item = Requested<&'a [u8]>> {
        let has_requests = self.plan.request_count() > 0;
        let gone = self.left_out_by(if has_requests { other } else { self });
        gone.filter_map(|subscription| self.request(self.find_request(subscription)?))
    }

    fn find_request(&self, subscription: SubscriptionId) -> Option<RequestId> {
        // They are in the order of their subscriptions.
        let (records, _) = self.plan.section(Section::Requests).as_chunks();
        let place = records.binary_search_by_key(&subscription.0, |r: &[u32; size::REQUEST]| r[0]);
        place.ok().map(RequestId::at)
    }
}
