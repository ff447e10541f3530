//! The records that are kept in memory, found by variable and value.

use crate::bucket::Keys;
use crate::record::Record;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Records that have a value at a variable: event time and place, in order of time.
type Posting = SmallVec<[(i64, u32); 1]>;

/// Bytes that an entry of a posting costs beside the record, roughly.
const ENTRY_BYTES: usize = 48;
const RECORD_BYTES: usize = 64;

/// Where records of a variable with a value are: the hash says no, never yes.
#[inline]
pub fn key_of(variable: u32, hash: u64) -> u64 {
    (hash ^ u64::from(variable).wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// Records in memory.
#[derive(Default)]
pub struct Head {
    records: Vec<Option<Box<[u32]>>>,
    free: Vec<u32>,
    postings: FxHashMap<u64, Posting>,
    /// (time after which it is not needed, place).
    expiries: BinaryHeap<Reverse<(i64, u32)>>,
    bytes: usize,
}

impl Head {
    /// The record at a place.
    pub fn record(&self, place: u32) -> Option<Record<'_>> {
        self.records
            .get(place as usize)?
            .as_deref()
            .map(Record::new)
    }

    /// Bytes that the records and their index take up, roughly.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.records.len() - self.free.len()
    }

    /// One more than the highest place.
    pub fn places(&self) -> usize {
        self.records.len()
    }

    /// Adds a record that is needed until the watermark passes `expires`; returns its place.
    pub fn insert(
        &mut self,
        keys: impl IntoIterator<Item = u64>,
        words: Box<[u32]>,
        expires: i64,
    ) -> u32 {
        let place = self.free.pop().unwrap_or_else(|| {
            self.records.push(None);
            self.records.len() as u32 - 1
        });
        let record = Record::new(&words);
        let time = record.time();
        for key in keys {
            let posting = self.postings.entry(key).or_default();
            // Documents come nearly in order of time, so this is nearly always the end.
            let at = posting
                .iter()
                .rposition(|entry| entry.0 <= time)
                .map_or(0, |at| at + 1);
            posting.insert(at, (time, place));
        }
        self.bytes += bytes_of(&record);
        self.expiries.push(Reverse((expires, place)));
        self.records[place as usize] = Some(words);
        place
    }

    /// Drops the records that are not needed once the watermark is at `now`.
    pub fn evict(&mut self, keys: &Keys, now: i64) {
        while let Some(&Reverse((expires, place))) = self.expiries.peek()
            && expires < now
        {
            self.expiries.pop();
            self.remove(keys, place);
        }
    }

    fn remove(&mut self, keys: &Keys, place: u32) {
        let Some(words) = self.records[place as usize].take() else {
            return;
        };
        let record = Record::new(&words);
        let time = record.time();
        for key in keys.of(&record) {
            if let Some(posting) = self.postings.get_mut(&key) {
                let first = posting.partition_point(|entry| entry.0 < time);
                if let Some(at) = posting[first..].iter().position(|entry| entry.1 == place) {
                    posting.remove(first + at);
                }
                if posting.is_empty() {
                    self.postings.remove(&key);
                }
            }
        }
        self.bytes -= bytes_of(&record);
        self.free.push(place);
    }

    /// The places of records under a key, of times `from..=to`.
    #[inline]
    pub fn find(&self, key: u64, from: i64, to: i64) -> impl Iterator<Item = u32> + '_ {
        let posting = self
            .postings
            .get(&key)
            .map_or(&[][..], |posting| posting.as_slice());
        let first = posting.partition_point(|entry| entry.0 < from);
        posting[first..]
            .iter()
            .take_while(move |entry| entry.0 <= to)
            .map(|entry| entry.1)
    }

    /// How many records there are under a key.
    pub fn count(&self, key: u64) -> usize {
        self.postings.get(&key).map_or(0, |posting| posting.len())
    }

    /// Takes everything out: places in order, each with its record and the record's expiry.
    pub fn drain(&mut self) -> Vec<(u32, Box<[u32]>, i64)> {
        let mut expiries = vec![i64::MIN; self.records.len()];
        for Reverse((expires, place)) in self.expiries.drain() {
            expiries[place as usize] = expires;
        }
        let records = std::mem::take(&mut self.records).into_iter().zip(expiries);
        let drained = (0..)
            .zip(records)
            .filter_map(|(place, (words, expires))| Some((place, words?, expires)))
            .collect();
        *self = Head::default();
        drained
    }
}

fn bytes_of(record: &Record<'_>) -> usize {
    RECORD_BYTES + record.words().len() * 4 + record.entry_count() * ENTRY_BYTES
}
