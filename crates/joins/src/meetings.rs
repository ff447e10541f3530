//! By value: which variables of two records have a value in common.

use crate::record::Record;
use rustc_hash::FxHashMap;

/// Puts the ranks of the pairs (left variable, right variable) that have a value in common into
/// `met`, in order. Only pairs that some row joins have a rank.
pub fn meet(
    ranks: &FxHashMap<(u32, u32), u32>,
    left: &Record<'_>,
    right: &Record<'_>,
    met: &mut Vec<u32>,
) {
    met.clear();
    let (mut one, mut two) = (0, 0);
    let (ones, twos) = (left.entry_count(), right.entry_count());
    while one < ones && two < twos {
        let (entry, other) = (left.entry(one), right.entry(two));
        if entry.hash < other.hash {
            one += 1;
        } else if entry.hash > other.hash {
            two += 1;
        } else {
            let mut next = two;
            while next < twos && right.entry(next).hash == entry.hash {
                let other = right.entry(next);
                if let Some(&rank) = ranks.get(&(entry.variable, other.variable))
                    && left.has_equal_value(entry.node, right, other.node)
                {
                    met.push(rank);
                }
                next += 1;
            }
            one += 1;
        }
    }
    met.sort_unstable();
    met.dedup();
}
