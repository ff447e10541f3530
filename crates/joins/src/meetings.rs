//! By value: which variables of two records have a value in common.

use crate::bucket::Bucket;
use crate::meter::Meter;
use crate::record::{ENTRY_WORDS, Record, wide};
use rustc_hash::FxHashMap;

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
    let (ones, twos) = (left.entry_table(), right.entry_table());
    meter.spend((ones.len() + twos.len()) as u64);
    let (mut one, mut two) = (0, 0);
    while one < ones.len() && two < twos.len() {
        let (hash, other) = (hash_of(&ones[one]), hash_of(&twos[two]));
        if hash < other {
            one += 1;
        } else if hash > other {
            two += 1;
        } else {
            let same = end_of_variable(ones, one);
            let mut next = two;
            while next < twos.len() && hash_of(&twos[next]) == hash {
                let (variable, with) = (ones[one][VARIABLE], twos[next][VARIABLE]);
                let end = end_of_variable(twos, next);
                // One value in common is enough, however many nodes have it.
                if let Some(&rank) = ranks.get(&(variable, with))
                    && is_met(meter, (left, &ones[one..same]), (right, &twos[next..end]))
                {
                    met.push(Met::new(rank, met.len(), bucket.holds(hash)));
                }
                next = end;
            }
            one = same;
        }
    }
    met.sort_unstable();
    met.dedup_by_key(|one| one.rank());
}

/// Where the words of an entry are.
const VARIABLE: usize = 2;
const NODE: usize = 3;

type Entry = [u32; ENTRY_WORDS];

#[inline]
fn hash_of(entry: &Entry) -> u64 {
    wide(entry[0], entry[1])
}

/// The end of the entries with the hash and the variable of one.
#[inline]
fn end_of_variable(entries: &[Entry], at: usize) -> usize {
    let first = &entries[at][..NODE];
    let mut end = at + 1;
    while end < entries.len() && entries[end][..NODE] == *first {
        end += 1;
    }
    end
}

/// Whether entries of two records with equal hashes have a value in common.
#[inline]
fn is_met(
    meter: &Meter,
    (left, ones): (&Record<'_>, &[Entry]),
    (right, twos): (&Record<'_>, &[Entry]),
) -> bool {
    ones.iter().any(|one| {
        meter.spend(twos.len() as u64);
        twos.iter()
            .any(|two| left.has_equal_value(one[NODE], right, two[NODE]))
    })
}
