//! Which values are looked after here: those of one bucket, or all of them.
//!
//! State that is spread over many places is divided by value. A record is in the buckets of all
//! the values that may lead to it, whole; a pair of records is a matter of one bucket alone.

use crate::head::key_of;
use crate::record::Record;
use smallvec::SmallVec;

/// One of `count` parts of all values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    number: u32,
    count: u32,
}

impl Bucket {
    /// All values.
    pub const WHOLE: Bucket = Bucket {
        number: 0,
        count: 1,
    };

    /// A part of all values; None if there is no such part.
    pub fn new(number: u32, count: u32) -> Option<Bucket> {
        (number < count).then_some(Bucket { number, count })
    }

    /// The bucket of a value, of so many.
    #[inline]
    pub fn of(hash: u64, count: u32) -> u32 {
        // Hashes may have been cut short, so their upper bits are made anew.
        let mixed = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32;
        ((mixed * u64::from(count)) >> 32) as u32
    }

    /// Whether a value belongs here.
    #[inline]
    pub fn holds(&self, hash: u64) -> bool {
        self.count == 1 || Bucket::of(hash, self.count) == self.number
    }
}

/// Which valued bindings of records are found by their keys.
#[derive(Clone, Debug)]
pub struct Keys {
    /// Only values that belong here are.
    pub bucket: Bucket,
    /// By variable, whether the search for records ever asks for it; None: it may ask for any.
    pub accessed: Option<Box<[bool]>>,
}

impl Default for Keys {
    fn default() -> Self {
        Keys {
            bucket: Bucket::WHOLE,
            accessed: None,
        }
    }
}

impl Keys {
    /// The distinct keys of a record.
    pub fn of(&self, record: &Record<'_>) -> SmallVec<[u64; 16]> {
        self.of_live(record, |_| true)
    }

    /// The distinct keys of a record by the variables that still count.
    pub fn of_live(
        &self,
        record: &Record<'_>,
        is_live: impl Fn(u32) -> bool,
    ) -> SmallVec<[u64; 16]> {
        let is_accessed = |variable: u32| {
            let accessed = self.accessed.as_ref();
            accessed.is_none_or(|accessed| accessed.get(variable as usize) == Some(&true))
        };
        let mut keys: SmallVec<[u64; 16]> = record
            .entries()
            .filter(|entry| is_accessed(entry.variable) && is_live(entry.variable))
            .filter(|entry| self.bucket.holds(entry.hash))
            .map(|entry| key_of(entry.variable, entry.hash))
            .collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}
