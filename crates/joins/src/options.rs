//! How joins run, and how much they hold.

use penstock_kernel::limits::Limits;

/// How joins run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How much later than a younger document one may come, in microseconds; None: any time.
    pub lateness: Option<i64>,
    /// Bytes of state in memory: records, their index and what waits of them; more are to be
    /// sealed.
    pub state_bytes_max: usize,
    /// Results that are handed out at once.
    pub batch_rows_max: usize,
    /// Only count results.
    pub is_counting: bool,
    /// Bounds on what one document may cost and complete.
    pub limits: Limits,
}

/// State is kept in memory up to this size, unless the caller says otherwise.
pub const STATE_BYTES_MAX: usize = 1 << 30;

/// So many results are handed out at once, likewise: few enough that the first ones come soon.
pub const BATCH_ROWS_MAX: usize = 2 << 10;

/// Bytes of texts that are handed out at once, if more than one result has them.
pub(crate) const BATCH_BYTES_MAX: usize = 4 << 20;

impl Default for Options {
    fn default() -> Self {
        Options {
            lateness: None,
            state_bytes_max: STATE_BYTES_MAX,
            batch_rows_max: BATCH_ROWS_MAX,
            is_counting: false,
            limits: Limits::NONE,
        }
    }
}

/// How much there is, for whoever watches that nothing is left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Documents joined.
    pub documents: u64,
    /// Records kept.
    pub records: usize,
    /// Bytes of records in memory, of their index and of what waits of them.
    pub memory_bytes: usize,
    /// Distinct rows.
    pub rows: usize,
    /// Distinct shapes of rows.
    pub shapes: usize,
    /// Left sides that wait for their window to pass.
    pub waiting: usize,
    /// Pairs of variables that rows join.
    pub pairs: usize,
    /// Nodes of the trie of rows.
    pub nodes: usize,
}
