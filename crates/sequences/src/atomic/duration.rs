//! Durations: months, and seconds with nanoseconds.

use crate::error::{Error, Result};

const NANOS_PER_SECOND: i128 = 1_000_000_000;

/// Seconds and nanoseconds: a `xs:dayTimeDuration`, or a point in time counted from 1970 in UTC.
///
/// Negative values are `whole` rounded down and `nanos` upwards from there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seconds {
    whole: i64,
    nanos: u32,
}

/// A `xs:duration`. Months and seconds have the same sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Duration {
    /// Years and months, in months.
    pub months: i64,
    /// Days, hours, minutes and seconds.
    pub seconds: Seconds,
}

impl Seconds {
    /// Whole seconds.
    pub const fn new(whole: i64) -> Self {
        Seconds { whole, nanos: 0 }
    }

    /// Seconds, and less than a second of nanoseconds beyond them.
    pub(super) fn with_nanos(whole: i64, nanos: u32) -> Self {
        debug_assert!(i128::from(nanos) < NANOS_PER_SECOND);
        Seconds { whole, nanos }
    }

    /// A number of nanoseconds.
    ///
    /// # Errors
    ///
    /// FODT0002 if they are too many.
    pub fn from_nanos(nanos: i128) -> Result<Self> {
        let whole = i64::try_from(nanos.div_euclid(NANOS_PER_SECOND)).map_err(|_| overflow())?;
        // The remainder is less than a second, so it fits.
        let nanos = nanos.rem_euclid(NANOS_PER_SECOND) as u32;
        Ok(Seconds { whole, nanos })
    }

    /// All of it in nanoseconds.
    pub fn total_nanos(self) -> i128 {
        i128::from(self.whole) * NANOS_PER_SECOND + i128::from(self.nanos)
    }

    /// Seconds, rounded down.
    pub const fn whole(self) -> i64 {
        self.whole
    }

    /// Nanoseconds beyond `whole`.
    pub const fn nanos(self) -> u32 {
        self.nanos
    }
}

/// The error of durations that are too long.
pub(super) fn overflow() -> Error {
    Error::new("FODT0002", "the duration is out of range")
}
