//! What a join learns from its results: which bindings leave memory when it is full, and in which
//! order the other streams are probed.
//!
//! `Density` and `Matches` are what a join begins with. Others may take their places
//! (`Progressive::with_policies`); no policy changes the results.

pub use super::density::Density;
use super::graph::StreamId;
pub use super::probing::{Matches, Target};
pub use super::random::{Random, mix};
pub use super::table::{Partition, Slot, Table};

/// The slots to flush, by stream.
pub type Victims = Vec<Vec<u32>>;

/// A result of a binding in memory.
#[derive(Clone, Copy, Debug)]
pub struct Hit {
    /// The stream of the binding, by number.
    pub stream: usize,
    /// Its partition.
    pub partition: u32,
    /// How many results it had before.
    pub hits_before: u32,
    /// How many bindings have arrived since it did.
    pub age: u64,
}

/// Chooses what leaves memory when it is full.
pub trait Flush: Send {
    /// A binding arrived: its stream and its partition.
    fn arrived(&mut self, _stream: usize, _partition: u32) {}

    /// A binding in memory has another result.
    fn note(&mut self, _hit: Hit) {}

    /// Chooses bindings of so many bytes at least, or all; `now` is the number of arrivals.
    /// `is_useless` says of each stream that nothing will probe it any more.
    fn choose(&mut self, tables: &[Table], bytes: usize, now: u64, is_useless: &[bool]) -> Victims;
}

/// Chooses in which order streams are probed: one without a match ends the work.
pub trait Probe: Send {
    /// Whether the order depends on the sizes of partitions.
    fn needs_sizes(&self) -> bool {
        false
    }

    /// Sorts the streams that a binding of `from` is to probe.
    fn sort(&mut self, from: StreamId, targets: &mut [Target]);

    /// A stream was probed and gave so many bindings; `is_first` and `is_last` of the streams that
    /// the arriving binding probes.
    fn note(
        &mut self,
        _from: StreamId,
        _to: Target,
        _matches: usize,
        _is_first: bool,
        _is_last: bool,
    ) {
    }
}
