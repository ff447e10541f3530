//! The programs of a plan that request something else than rows. Nothing of them is interned: who
//! serves their requests gets them as they are.

use super::builder::Builder;
use super::freeze::Layout;
use super::image::{Plan, Section, size};

/// What tells a subscription from others that had its name before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(pub u64);

/// A program, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requested<P> {
    /// The number of the subscription.
    pub subscription: u32,
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
        let record = [request.subscription, low, high, string];
        layout.push(Section::Requests, &record);
    }
}

impl Plan {
    /// How many programs request something else than rows.
    pub fn request_count(&self) -> u32 {
        self.count(Section::Requests, size::REQUEST)
    }

    /// One of them; they are in the order of their subscriptions.
    pub fn request(&self, id: u32) -> Requested<&[u8]> {
        let r = self.record(Section::Requests, id, size::REQUEST);
        Requested {
            subscription: r[0],
            place: Place(u64::from(r[1]) | u64::from(r[2]) << 32),
            program: self.string(r[3]),
        }
    }
}
