//! By value: which variables of two records have a value in common.

use crate::bucket::Bucket;
use crate::meter::Meter;
use crate::record::Record;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A pair of variables that has a value in common: its rank, the place of the value among all in
/// common, and whether the pair is a matter of this bucket. In one word, so that they sort fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Met(u64);

impl Met {
    /// A pair met.
    pub fn new(rank: u32, place: usize, is_own: bool) -> Met {
        Met(u64::from(rank) << 32 | u64::from(place as u32 & 0x7fff_ffff) << 1 | u64::from(is_own))
    }

    /// The rank of the pair.
    #[inline]
    pub fn rank(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Whether the first value that the pair has in common belongs to the bucket. Every bucket
    /// that has both records sees the same first value, so it is one bucket's alone.
    #[inline]
    pub fn is_own(self) -> bool {
        self.0 & 1 != 0
    }
}

/// Puts the pairs (left variable, right variable) that have a value in common into `met`, in order
/// of their ranks. Only pairs that some row joins have a rank.
pub fn meet(
    ranks: &FxHashMap<(u32, u32), u32>,
    bucket: Bucket,
    left: &Record<'_>,
    right: &Record<'_>,
    met: &mut Vec<Met>,
    meter: &Meter,
) {
    met.clear();
    let (mut one, mut two) = (0, 0);
    let (ones, twos) = (left.entry_count(), right.entry_count());
    meter.spend((ones + twos) as u64);
    while one < ones && two < twos {
        let (entry, other) = (left.entry(one), right.entry(two));
        if entry.hash < other.hash {
            one += 1;
        } else if entry.hash > other.hash {
            two += 1;
        } else {
            let end = end_of_variable(left, one);
            let mut next = two;
            while next < twos && right.entry(next).hash == entry.hash {
                let other = right.entry(next);
                let end_of_other = end_of_variable(right, next);
                // One value in common is enough, however many nodes have it.
                if let Some(&rank) = ranks.get(&(entry.variable, other.variable))
                    && is_met(meter, (left, one..end), (right, next..end_of_other))
                {
                    met.push(Met::new(rank, met.len(), bucket.holds(entry.hash)));
                }
                next = end_of_other;
            }
            one = end;
        }
    }
    met.sort_unstable();
    met.dedup_by_key(|one| one.rank());
}

/// The end of the entries with the hash and the variable of one.
#[inline]
fn end_of_variable(record: &Record<'_>, at: usize) -> usize {
    let first = record.entry(at);
    let is_same = |at: usize| {
        let entry = record.entry(at);
        (entry.hash, entry.variable) == (first.hash, first.variable)
    };
    let mut end = at + 1;
    while end < record.entry_count() && is_same(end) {
        end += 1;
    }
    end
}

/// Whether entries of two records with equal hashes have a value in common.
#[inline]
fn is_met(
    meter: &Meter,
    (left, ones): (&Record<'_>, Range<usize>),
    (right, twos): (&Record<'_>, Range<usize>),
) -> bool {
    ones.clone().any(|one| {
        meter.spend(twos.len() as u64);
        let node = left.entry(one).node;
        twos.clone()
            .any(|two| left.has_equal_value(node, right, right.entry(two).node))
    })
}
