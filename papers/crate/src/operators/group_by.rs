//! GroupBy: the returned nodes of each bound node, once for all plans (section 5.2).
//!
//! ```text
//! tuples of a return path ─► b1: r r r │ b2: r │ b4: r r     duplicates leave in the scan
//! ```

use super::streams::{StreamId, Streams};
use rustc_hash::FxHashMap;

/// The groups of a return path under a binding path.
#[derive(Debug)]
pub(super) struct GroupBy {
    pub stream: StreamId,
    pub at: u32,
    pub is_ordered: bool,
    nodes: Vec<u32>,
    /// By bound node: its part of the nodes.
    parts: FxHashMap<u32, (u32, u32)>,
    pairs: Vec<(u32, u32)>,
}

impl GroupBy {
    /// Groups of a stream by the nodes of a step.
    pub fn new(stream: StreamId, at: u32, is_ordered: bool) -> GroupBy {
        GroupBy {
            stream,
            at,
            is_ordered,
            nodes: Vec::new(),
            parts: FxHashMap::default(),
            pairs: Vec::new(),
        }
    }

    /// Groups the tuples of a document.
    pub fn run(&mut self, streams: &Streams) {
        self.nodes.clear();
        self.parts.clear();
        self.pairs.clear();
        let tuples = streams.get(self.stream);
        if tuples.is_empty() {
            return;
        }
        let last = tuples.width - 1;
        let pairs = tuples
            .iter()
            .map(|tuple| (tuple[self.at as usize], tuple[last]));
        self.pairs.extend(pairs);
        if !self.is_ordered {
            self.pairs.sort_unstable();
        }
        for group in self.pairs.chunk_by(|a, b| a.0 == b.0) {
            let from = self.nodes.len();
            for &(_, node) in group {
                if self.nodes.len() == from || self.nodes.last() != Some(&node) {
                    self.nodes.push(node);
                }
            }
            let part = (from as u32, self.nodes.len() as u32);
            self.parts.insert(group[0].0, part);
        }
    }

    /// The returned nodes of a bound node.
    #[inline]
    pub fn of(&self, bound: u32) -> &[u32] {
        let part = self.parts.get(&bound);
        part.map_or(&[], |&(from, to)| &self.nodes[from as usize..to as usize])
    }
}
