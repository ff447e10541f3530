//! Records that left memory: an immutable segment, sorted by key and searched where it lies.
//!
//! `magic, words, records, keys, waits, expires (low, high)`, then three tables, then the records.
//! For each record its offset in words and its expiry (low, high); the keys in order, each as (key,
//! event time, record), so that a value with very many records is searched by time; what waits for
//! a partner, in order of the time until which it does, as (until, stage, record).
//!
//! A segment may come from anywhere, and looking at all of it would cost more the larger it is. So
//! everything is checked when it is read.

use crate::bucket::Keys;
use crate::plan::StageId;
use crate::record::{Record, wide};
use rustc_hash::FxHashSet;
use std::any::Any;

const MAGIC: u32 = 0x3253_4a50;
const HEADER: usize = 7;
const RECORD_WORDS: usize = 3;
const KEY_WORDS: usize = 5;
const WAIT_WORDS: usize = 4;

/// A segment, and whoever owns its memory.
pub struct Segment {
    words: *const u32,
    length: usize,
    _owner: Box<dyn Any + Send>,
}

// SAFETY: the words are never written, and the owner keeps them where they are.
unsafe impl Send for Segment {}

/// A record that waits until a time for a partner at a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wait {
    /// It waits as long as the watermark has not passed this.
    pub until: i64,
    /// The stage.
    pub stage: StageId,
    /// The record's place in its segment.
    pub record: u32,
}

/// What a segment is made of.
#[derive(Default)]
pub struct Draft<'a> {
    records: Vec<(&'a [u32], i64)>,
    keys: Vec<(u64, i64, u32)>,
    waits: Vec<Wait>,
}

impl<'a> Draft<'a> {
    /// Adds a record with its expiry; returns its place.
    pub fn record(&mut self, words: &'a [u32], expiry: i64) -> u32 {
        self.records.push((words, expiry));
        self.records.len() as u32 - 1
    }

    /// Lets a record be found by its keys.
    pub fn index(&mut self, keys: &Keys, place: u32) {
        let record = Record::new(self.records[place as usize].0);
        let time = record.time();
        let own = keys.of(&record).into_iter();
        self.keys.extend(own.map(|key| (key, time, place)));
    }

    /// Adds something that waits.
    pub fn wait(&mut self, wait: Wait) {
        self.waits.push(wait);
    }

    /// The words of the segment; None if they would be too many for its offsets.
    pub fn write(mut self) -> Option<Vec<u32>> {
        // Where segments are merged, the keys of each are in order, which a stable sort makes use of.
        self.keys.sort();
        self.waits.sort();
        let expires = self.records.iter().map(|&(_, expiry)| expiry).max();
        let expires = expires.unwrap_or(i64::MIN) as u64;
        let tables = HEADER
            + RECORD_WORDS * self.records.len()
            + KEY_WORDS * self.keys.len()
            + WAIT_WORDS * self.waits.len();
        let content: usize = self.records.iter().map(|(words, _)| words.len()).sum();
        let mut segment = Vec::with_capacity(tables + content);
        segment.extend([
            MAGIC,
            u32::try_from(tables + content).ok()?,
            self.records.len() as u32,
            self.keys.len() as u32,
            self.waits.len() as u32,
            expires as u32,
            (expires >> 32) as u32,
        ]);
        let mut offset = tables as u32;
        for (words, expiry) in &self.records {
            segment.extend([offset, *expiry as u32, (*expiry >> 32) as u32]);
            offset += words.len() as u32;
        }
        for (key, time, record) in self.keys {
            segment.extend([key as u32, (key >> 32) as u32]);
            segment.extend([time as u32, (time >> 32) as u32, record]);
        }
        for wait in self.waits {
            let until = wait.until;
            segment.extend([
                until as u32,
                (until >> 32) as u32,
                wait.stage.0,
                wait.record,
            ]);
        }
        for (words, _) in self.records {
            segment.extend_from_slice(words);
        }
        Some(segment)
    }
}

/// One segment of several. What is not needed once the watermark is at `now` is left out, and so is
/// what waited in a segment until before the time that is given with it. No words if nothing is
/// left; None if a segment is damaged, or if all of them would be too large for one.
pub fn merge(segments: &[(Segment, i64)], now: i64) -> Option<Vec<u32>> {
    let mut draft = Draft::default();
    for (segment, released) in segments {
        let waits = segment.first_wait(*released)..segment.wait_count();
        let mut places = vec![None; segment.record_count()];
        // What came late in its time may be past its expiry and still wait to be let go.
        let waiting: FxHashSet<u32> = waits.clone().map(|at| segment.wait(at).record).collect();
        for (number, place) in places.iter_mut().enumerate() {
            let number = number as u32;
            let (words, expiry) = segment.entry(number)?;
            if expiry >= now || waiting.contains(&number) {
                *place = Some(draft.record(words, expiry));
            }
        }
        let moved = |record: u32| places.get(record as usize).copied();
        for index in 0..segment.key_count() {
            let (key, time, record) = segment.key(index);
            if let Some(place) = moved(record)? {
                draft.keys.push((key, time, place));
            }
        }
        for index in waits {
            let wait = segment.wait(index);
            if let Some(record) = moved(wait.record)? {
                draft.wait(Wait { record, ..wait });
            }
        }
    }
    if draft.records.is_empty() {
        return Some(Vec::new());
    }
    draft.write()
}

impl Segment {
    /// A segment in memory.
    pub fn of_words(words: Vec<u32>) -> Option<Segment> {
        let words: Box<[u32]> = words.into();
        let (start, length) = (words.as_ptr(), words.len());
        // SAFETY: the box keeps the words where they are, whatever happens to the box itself.
        unsafe { Segment::of_owner(start, length, Box::new(words)) }
    }

    /// A view over caller-owned memory; None if it is no segment.
    ///
    /// # Safety
    /// `words` points to `length` words that stay where they are, unchanged, as long as `owner`
    /// is alive.
    pub unsafe fn of_owner(
        words: *const u32,
        length: usize,
        owner: Box<dyn Any + Send>,
    ) -> Option<Segment> {
        let segment = Segment {
            words,
            length,
            _owner: owner,
        };
        let words = segment.words();
        let is_segment = length >= HEADER
            && words[0] == MAGIC
            && words[1] as usize == length
            && segment.waits_at() + WAIT_WORDS * segment.wait_count() <= length;
        is_segment.then_some(segment)
    }

    fn words(&self) -> &[u32] {
        // SAFETY: promised by whoever made the segment.
        unsafe { std::slice::from_raw_parts(self.words, self.length) }
    }

    fn keys_at(&self) -> usize {
        HEADER + RECORD_WORDS * self.record_count()
    }

    fn waits_at(&self) -> usize {
        self.keys_at() + KEY_WORDS * self.key_count()
    }

    /// The words and the expiry of a record; None if there is none.
    fn entry(&self, record: u32) -> Option<(&[u32], i64)> {
        if record as usize >= self.record_count() {
            return None;
        }
        let words = self.words();
        let at = HEADER + RECORD_WORDS * record as usize;
        let (start, expiry) = (
            words[at] as usize,
            wide(words[at + 1], words[at + 2]) as i64,
        );
        let length = *words.get(start)? as usize;
        Some((words.get(start..start.checked_add(length)?)?, expiry))
    }

    /// A record of the segment; None if there is none.
    pub fn record(&self, record: u32) -> Option<Record<'_>> {
        Record::check(self.entry(record)?.0)
    }

    /// When the last of its records is needed no more.
    pub fn expires(&self) -> i64 {
        let words = self.words();
        wide(words[5], words[6]) as i64
    }

    /// How many records it has.
    pub fn record_count(&self) -> usize {
        self.words()[2] as usize
    }

    fn key_count(&self) -> usize {
        self.words()[3] as usize
    }

    fn key(&self, index: usize) -> (u64, i64, u32) {
        let at = self.keys_at() + KEY_WORDS * index;
        let w = &self.words()[at..at + KEY_WORDS];
        (wide(w[0], w[1]), wide(w[2], w[3]) as i64, w[4])
    }

    /// The records under a key, of times `from..=to`.
    pub fn find(&self, key: u64, from: i64, to: i64) -> impl Iterator<Item = u32> + '_ {
        let count = self.key_count();
        let first = first_where(count, |index| {
            let (other, time, _) = self.key(index);
            (other, time) >= (key, from)
        });
        (first..count)
            .map(|index| self.key(index))
            .take_while(move |&(other, time, _)| other == key && time <= to)
            .map(|(_, _, record)| record)
    }

    /// How many wait.
    pub fn wait_count(&self) -> usize {
        self.words()[4] as usize
    }

    /// What waits, in order of the time until which it does.
    pub fn wait(&self, index: usize) -> Wait {
        let at = self.waits_at() + WAIT_WORDS * index;
        let w = &self.words()[at..at + WAIT_WORDS];
        Wait {
            until: wide(w[0], w[1]) as i64,
            stage: StageId(w[2]),
            record: w[3],
        }
    }

    /// The first that waits until a time or longer.
    pub fn first_wait(&self, time: i64) -> usize {
        first_where(self.wait_count(), |index| self.wait(index).until >= time)
    }
}

/// The first place below `count` where something holds that goes on to hold; `count` if none.
fn first_where(count: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = (low + high) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}
