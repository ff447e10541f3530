//! How the join runs, and what it has done.

use super::table::Partition;

/// How the join runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which part of the budget is freed at a time.
    pub flush_fraction: f64,
    /// Hash partitions of each stream, at most.
    pub partitions: u32,
    /// Bytes of a page at most, unless one tuple is larger.
    pub page_bytes: usize,
    /// Bytes of bindings and tables in memory.
    pub state_bytes_max: usize,
    /// Ties are broken by random numbers from this.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            flush_fraction: 0.1,
            partitions: 1024,
            page_bytes: 40_960,
            state_bytes_max: crate::joins::STATE_BYTES_MAX,
            seed: 0,
        }
    }
}

impl Options {
    /// Hash partitions of each of so many streams: what is known of them takes little of a small
    /// budget.
    pub(super) fn partitions(&self, streams: usize) -> u32 {
        let bytes = self.state_bytes_max / 32 / streams.max(1);
        let most = u32::try_from(bytes / size_of::<Partition>()).unwrap_or(u32::MAX);
        self.partitions.min(most).max(1)
    }

    /// Bytes of a page: a small budget has small pages, since one is in memory beside the tables.
    pub(super) fn page_bytes(&self) -> usize {
        self.page_bytes.min(self.state_bytes_max / 32).max(64)
    }
}

/// What the join has done with one stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamStatistics {
    /// Bindings that arrived.
    pub arrived: u64,
    /// Bindings without a value that they could be joined by.
    pub valueless: u64,
    /// Bindings in memory.
    pub resident: u64,
    /// Bytes of them, with their table.
    pub memory_bytes: u64,
    /// Bindings that were flushed.
    pub flushed: u64,
    /// Bytes that wait on pages.
    pub page_bytes: u64,
    /// How often the stream was probed.
    pub probes: u64,
}

/// What the join has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Results found on arrival.
    pub results: u64,
    /// Results that clean-up found.
    pub cleaned: u64,
    /// How often memory was full.
    pub flushes: u64,
    /// Pages written, intermediate ones included.
    pub pages_written: u64,
    /// Bytes in memory: bindings and tables.
    pub memory_bytes: u64,
    /// Each stream.
    pub streams: Vec<StreamStatistics>,
}

impl Statistics {
    /// How often a stream was probed, all together.
    pub fn probes(&self) -> u64 {
        self.streams.iter().map(|stream| stream.probes).sum()
    }
}
