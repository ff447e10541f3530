//! By value, then by pair: every record that a rare pair of variables leads to is looked at once,
//! for all rows together.

use crate::bucket::Bucket;
use crate::finding::{Finder, Found, Other, admits, is_overlapping, times};
use crate::head::key_of;
use crate::meetings::{Met, meet};
use crate::meter::Meter;
use crate::plan::{Plan, StageId};
use crate::record::Record;
use crate::store::{Place, Seen, Store};

/// The first documents are all learnt from, later ones now and then.
const LEARN_ALL: u64 = 64;
const LEARN_EVERY: u64 = 16;

/// Buffers of the search, and how much was learnt.
#[derive(Default)]
pub struct Shared {
    seen: Seen,
    places: Vec<Place>,
    met: Vec<Met>,
    learnt: u64,
}

impl Finder for Shared {
    /// Notes how many records the values of a record meet at each pair, so that the rarest pairs
    /// come first in the trie.
    fn learn(&mut self, plan: &mut Plan, store: &Store, record: &Record<'_>) {
        self.learnt += 1;
        if self.learnt > LEARN_ALL && !self.learnt.is_multiple_of(LEARN_EVERY) {
            return;
        }
        let mut last = None;
        for variable in record.variables() {
            if last.replace(variable) == Some(variable) {
                continue;
            }
            plan.pairs_mut().learn(variable, |other| {
                let nodes = record.nodes_of(variable).iter();
                let met = nodes.map(|node| store.head.count(key_of(other, record.node(node).hash)));
                met.sum::<usize>() as u64
            });
        }
        // At 64, 256, 1024 and so on: what is rare is known soon and changes slowly.
        if self.learnt >= LEARN_ALL
            && self.learnt.is_power_of_two()
            && self.learnt.ilog2().is_multiple_of(2)
        {
            plan.rank();
        }
    }

    fn find<'r>(
        &mut self,
        plan: &Plan,
        store: &'r Store,
        record: &Record<'r>,
        meter: &Meter,
        found: &mut Found<'_, 'r>,
    ) {
        let bucket = store.keys.bucket;
        for is_left in [true, false] {
            self.collect(plan, store, record, is_left, meter);
            for at in 0..self.places.len() {
                let place = self.places[at];
                let Some(other) = store.record(place) else {
                    continue;
                };
                let pair = if is_left {
                    (other, *record)
                } else {
                    (*record, other)
                };
                self.pair(plan, bucket, pair, meter, &mut |row, left, right| {
                    found(row, left, right, Other { place, is_left });
                });
            }
        }
    }
}

impl Shared {
    /// Puts the places of the records that an access pair leads to into `places`, each once.
    fn collect(
        &mut self,
        plan: &Plan,
        store: &Store,
        record: &Record<'_>,
        is_right: bool,
        meter: &Meter,
    ) {
        self.places.clear();
        self.seen.begin(store.head.places());
        let own = record
            .entries()
            .filter(|entry| store.keys.bucket.holds(entry.hash));
        let mut last = None;
        for entry in own {
            // Nodes of one value lead to the same records.
            if last.replace((entry.hash, entry.variable)) == Some((entry.hash, entry.variable)) {
                continue;
            }
            let mut visited = 1;
            for other in plan.access(entry.variable, is_right) {
                let (from, to) = times(record.time(), other.distances, is_right);
                store.find(key_of(other.variable, entry.hash), from, to, &mut |place| {
                    visited += 1;
                    if self.seen.insert(place) {
                        self.places.push(place);
                    }
                });
            }
            meter.spend(visited);
        }
    }

    #[inline(never)]
    fn pair<'r>(
        &mut self,
        plan: &Plan,
        bucket: Bucket,
        (left, right): (Record<'r>, Record<'r>),
        meter: &Meter,
        found: &mut impl FnMut(StageId, Record<'r>, Record<'r>),
    ) {
        if is_overlapping(&left, &right) {
            return;
        }
        let ranks = plan.pairs().ranks();
        meet(ranks, bucket, &left, &right, &mut self.met, meter);
        let distance = right.time().saturating_sub(left.time());
        plan.trie().walk(&self.met, distance, &mut |row| {
            meter.spend(1);
            if admits(plan.stage(row), &left, &right) {
                found(row, left, right);
            }
        });
    }
}
