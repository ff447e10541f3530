//! OuterJoin-Select: a group for each bound node, in it a list for each return path (section 3.3).
//!
//! ```text
//! bound nodes ───────────► b1: [3: r r r] [0]      one group for each, in order
//! pairs (b, r) of path 1 ─►                        a list without elements is empty
//! pairs (b, r) of path 2 ─► b2: [1: r]    [2: r r]
//! ```

use penstock_broker::NONE;
use rustc_hash::FxHashMap;

/// The pairs of each return path; the memory serves the next plan.
#[derive(Debug, Default)]
pub(super) struct OuterJoin {
    pub sides: Vec<Side>,
    places: Vec<usize>,
}

/// The pairs of a return path.
#[derive(Debug, Default)]
pub(super) struct Side {
    /// Bound and returned nodes.
    pub pairs: Vec<(u32, u32)>,
    /// By bound node: its first and its last pair.
    heads: FxHashMap<u32, (u32, u32)>,
    /// By pair: the next one of the same bound node.
    next: Vec<u32>,
}

impl OuterJoin {
    /// Makes room for so many return paths.
    pub fn reserve(&mut self, count: usize) {
        if self.sides.len() < count {
            self.sides.resize_with(count, Side::default);
        }
    }

    /// All streams are ordered by bound nodes.
    pub fn merge(&mut self, left: &[u32], count: usize, out: &mut Vec<u32>) {
        self.places.clear();
        self.places.resize(count, 0);
        for &node in left {
            out.push(node);
            for (side, at) in self.sides.iter().zip(&mut self.places) {
                let pairs = &side.pairs;
                while *at < pairs.len() && pairs[*at].0 < node {
                    *at += 1;
                }
                let head = out.len();
                out.push(0);
                while *at < pairs.len() && pairs[*at].0 == node {
                    out.push(pairs[*at].1);
                    *at += 1;
                }
                out[head] = (out.len() - head - 1) as u32;
            }
        }
    }

    /// Some stream is not: a hash table for each, probed with one scan of the bound nodes.
    pub fn hash(&mut self, left: &[u32], count: usize, out: &mut Vec<u32>) {
        for side in &mut self.sides[..count] {
            side.index();
        }
        for &node in left {
            out.push(node);
            for side in &self.sides[..count] {
                let head = out.len();
                out.push(0);
                let mut at = side.heads.get(&node).map_or(NONE, |heads| heads.0);
                while at != NONE {
                    out.push(side.pairs[at as usize].1);
                    at = side.next[at as usize];
                }
                out[head] = (out.len() - head - 1) as u32;
            }
        }
    }
}

impl Side {
    fn index(&mut self) {
        self.heads.clear();
        self.next.clear();
        for (at, &(bound, _)) in (0..).zip(&self.pairs) {
            self.next.push(NONE);
            let heads = self.heads.entry(bound).or_insert((at, at));
            if heads.1 != at {
                self.next[heads.1 as usize] = at;
                heads.1 = at;
            }
        }
    }
}
