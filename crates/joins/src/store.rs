//! All records that may still be needed: those in memory and those that left it.

use crate::bucket::Keys;
use crate::head::Head;
use crate::record::Record;
use crate::segment::{Draft, Segment, Wait};
use rustc_hash::{FxHashMap, FxHashSet};
use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeMap;

/// Where a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// In memory.
    Head(u32),
    /// In a segment: its number, and the record's place there.
    Segment(u32, u32),
}

/// The records.
#[derive(Default)]
pub struct Store {
    /// Those in memory.
    pub head: Head,
    /// By what records are found.
    pub keys: Keys,
    segments: BTreeMap<u32, Segment>,
    next_segment: u32,
    is_damaged: Cell<bool>,
}

impl Store {
    /// No records; they will be found by these keys.
    pub fn new(keys: Keys) -> Self {
        Store {
            keys,
            ..Store::default()
        }
    }

    /// A record; None where it is needed no more.
    pub fn record(&self, place: Place) -> Option<Record<'_>> {
        match place {
            Place::Head(place) => self.head.record(place),
            Place::Segment(segment, record) => self.segment_record(segment, record),
        }
    }

    /// A record of a segment.
    pub fn segment_record(&self, segment: u32, record: u32) -> Option<Record<'_>> {
        let found = self.segments.get(&segment)?.record(record);
        if found.is_none() {
            self.is_damaged.set(true);
        }
        found
    }

    /// Whether a segment turned out to be damaged: then results may be missing.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged.get()
    }

    /// A segment.
    pub fn segment(&self, number: u32) -> Option<&Segment> {
        self.segments.get(&number)
    }

    /// Adds a record to those in memory that is needed until the watermark passes `expires`.
    pub fn insert(&mut self, words: Box<[u32]>, expires: i64) -> u32 {
        let keys = self.keys.of(&Record::new(&words));
        self.head.insert(keys, words, expires)
    }

    /// Keeps of the records in memory only what is needed: `needed` says how long a record is
    /// after its event time (negative: not at all), `is_live` which variables of it still count.
    /// What waits stays as long as before. Returns where the records are now, by where they were.
    pub fn sweep(
        &mut self,
        waiting: &FxHashSet<u32>,
        needed: impl Fn(&Record<'_>) -> i64,
        is_live: impl Fn(&Record<'_>, u32) -> bool,
    ) -> FxHashMap<u32, u32> {
        let mut moved = FxHashMap::default();
        for (place, words, before) in self.head.drain() {
            let record = Record::new(&words);
            let kept = needed(&record);
            if kept >= 0 {
                let mut expires = record.time().saturating_add(kept);
                if waiting.contains(&place) {
                    expires = expires.max(before);
                }
                let keys = self
                    .keys
                    .of_live(&record, |variable| is_live(&record, variable));
                moved.insert(place, self.head.insert(keys, words, expires));
            }
        }
        moved
    }

    /// Calls `found` with the records under a key, of times `from..=to`.
    pub fn find(&self, key: u64, from: i64, to: i64, found: &mut impl FnMut(Place)) {
        for place in self.head.find(key, from, to) {
            found(Place::Head(place));
        }
        for (&number, segment) in &self.segments {
            for record in segment.find(key, from, to) {
                found(Place::Segment(number, record));
            }
        }
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.head.len()
            + self
                .segments
                .values()
                .map(Segment::record_count)
                .sum::<usize>()
    }

    /// Turns what is in memory into a segment, with what waits of it; returns its number and words.
    /// It is searched in memory until `attach` gives it a place of its own.
    pub fn seal(&mut self, waits: &[Wait]) -> Option<(u32, Vec<u32>)> {
        let words = self.write(waits)?;
        let number = self.next_segment;
        self.next_segment += 1;
        self.segments
            .insert(number, Segment::of_words(words.clone())?);
        Some((number, words))
    }

    /// Takes what is in memory out of it, as the words of a segment. `waits` are what waits of it,
    /// with the places of its records in memory.
    pub fn write(&mut self, waits: &[Wait]) -> Option<Vec<u32>> {
        let records = self.head.drain();
        if records.is_empty() {
            return None;
        }
        let mut draft = Draft::default();
        for (_, words, expires) in &records {
            let place = draft.record(words, *expires);
            draft.index(&self.keys, place);
        }
        for &wait in waits {
            if let Ok(at) = records.binary_search_by_key(&wait.record, |one| one.0) {
                let record = at as u32;
                draft.wait(Wait { record, ..wait });
            }
        }
        draft.write()
    }

    /// Searches a segment in somebody's memory from now on; returns whether it is one.
    ///
    /// # Safety
    /// As for `Segment::of_owner`.
    pub unsafe fn attach(
        &mut self,
        number: u32,
        words: *const u32,
        length: usize,
        owner: Box<dyn Any + Send>,
    ) -> bool {
        // SAFETY: passed on.
        let Some(segment) = (unsafe { Segment::of_owner(words, length, owner) }) else {
            return false;
        };
        self.next_segment = self.next_segment.max(number + 1);
        self.segments.insert(number, segment);
        true
    }

    /// Drops what is not needed once the watermark is at `now`; returns segments that went whole.
    pub fn evict(&mut self, now: i64) -> Vec<u32> {
        self.head.evict(&self.keys, now);
        let gone: Vec<u32> = self
            .segments
            .iter()
            .filter(|(_, segment)| segment.expires() < now)
            .map(|(&number, _)| number)
            .collect();
        for number in &gone {
            self.segments.remove(number);
        }
        gone
    }
}

/// Records that were met already while one document is joined.
#[derive(Default)]
pub struct Seen {
    stamps: Vec<u32>,
    epoch: u32,
    outside: FxHashSet<(u32, u32)>,
}

impl Seen {
    /// Forgets everything.
    pub fn begin(&mut self, places: usize) {
        self.outside.clear();
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.stamps.clear();
            self.epoch = 1;
        }
        if self.stamps.len() < places {
            self.stamps.resize(places, 0);
        }
    }

    /// Notes a record; returns whether it is new.
    pub fn insert(&mut self, place: Place) -> bool {
        match place {
            Place::Head(place) => {
                std::mem::replace(&mut self.stamps[place as usize], self.epoch) != self.epoch
            }
            Place::Segment(segment, record) => self.outside.insert((segment, record)),
        }
    }
}
