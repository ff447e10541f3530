//! Duplicate elimination: of bound nodes, and of pairs of a bound node and a returned one.

use super::streams::Tuples;
use rustc_hash::FxHashSet;

/// How duplicates leave a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Removal {
    /// There are none.
    None,
    /// Equal ones are neighbours.
    Scan,
    /// They may lie anywhere.
    Hash,
}

/// The bound nodes of a stream, which ends in them, each once if asked.
#[inline]
pub(super) fn bound_nodes(tuples: Tuples<'_>, removal: Removal, out: &mut Vec<u32>) {
    out.clear();
    let last = tuples.width - 1;
    match removal {
        Removal::None => out.extend(tuples.iter().map(|tuple| tuple[last])),
        _ => tuples.iter().for_each(|tuple| add(out, tuple[last])),
    }
}

/// Adds a node of an ordered stream, unless it was there before.
#[inline]
pub(super) fn add(out: &mut Vec<u32>, node: u32) {
    if out.last() != Some(&node) {
        out.push(node);
    }
}

/// The pairs of a bound node and a returned one, in the order of the stream.
#[inline]
pub(super) fn pairs(
    tuples: Tuples<'_>,
    at: u32,
    removal: Removal,
    seen: &mut FxHashSet<u64>,
    out: &mut Vec<(u32, u32)>,
) {
    out.clear();
    let last = tuples.width - 1;
    let all = tuples.iter().map(|tuple| (tuple[at as usize], tuple[last]));
    match removal {
        Removal::None => out.extend(all),
        Removal::Scan => all.for_each(|pair| {
            if out.last() != Some(&pair) {
                out.push(pair);
            }
        }),
        Removal::Hash => {
            seen.clear();
            out.extend(all.filter(|pair| seen.insert(u64::from(pair.0) << 32 | u64::from(pair.1))));
        }
    }
}
