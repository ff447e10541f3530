//! Semijoin: the bound nodes that a selected tuple of a predicate path has (section 3.2).
//!
//! ```text
//! bound nodes (ordered) ──┐
//!                         ├─► those on both sides, ordered
//! selected tuples ────────┘   merge if they are ordered too, hash if not
//! ```

use rustc_hash::FxHashSet;

/// Both sides are ordered.
#[inline]
pub(super) fn merge(left: &[u32], right: &[u32], out: &mut Vec<u32>) {
    out.clear();
    let mut at = 0;
    for &node in left {
        while at < right.len() && right[at] < node {
            at += 1;
        }
        if at < right.len() && right[at] == node {
            out.push(node);
        }
    }
}

/// The left side is ordered, and probes.
#[inline]
pub(super) fn hash(left: &[u32], right: &[u32], seen: &mut FxHashSet<u32>, out: &mut Vec<u32>) {
    out.clear();
    seen.clear();
    seen.extend(right.iter().copied());
    out.extend(left.iter().filter(|node| seen.contains(node)));
}
