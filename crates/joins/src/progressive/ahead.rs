//! Looking ahead: what the next bindings will meet is brought near before they come.
//!
//! A lookup in a large table waits for memory several times, one time after the other. Lookups of
//! several bindings do not wait for each other, so the processor does them at the same time.

use super::binding::hash_of;
use super::graph::StreamId;
use super::operator::Progressive;

/// Tables of this size do not fit into the processor's nearest caches.
const CACHE_BYTES: usize = 512 << 10;

impl Progressive {
    /// Whether tables are so large that what a binding meets is not in the processor's cache.
    pub fn is_large(&self) -> bool {
        self.memory_bytes() > CACHE_BYTES
    }

    /// Looks at what a value of a binding that comes soon will meet. What is returned depends on all
    /// that was looked at, and says nothing.
    pub fn look_ahead(&self, stream: StreamId, attribute: u32, value: &[u8]) -> u64 {
        let hash = hash_of(value);
        let own = self.tables[stream.index()].find(attribute, hash).len() as u64;
        let others = self.graph.streams().flat_map(|to| {
            let edges = self.graph.edges(stream, to).iter();
            let edges = edges.filter(|&&(from, _)| from == attribute);
            edges.filter_map(move |&(_, other)| {
                let table = &self.tables[to.index()];
                let slot = table.find(other, hash).first()?;
                Some(table.slot(*slot).binding.arrival)
            })
        });
        others.fold(own, u64::wrapping_add)
    }
}
