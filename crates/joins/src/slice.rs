//! Records that left memory: an immutable image, searched where it lies.
//!
//! `magic, words, records, keys, expires (low, high)`, then for each record its offset in words,
//! then the keys in order, each as (low, high, record), then the records.

use crate::head::keys_of;
use crate::record::Record;
use std::any::Any;

const MAGIC: u32 = 0x4c53_4a50;
const HEADER: usize = 6;
const KEY_WORDS: usize = 3;

/// An image, and whoever owns its memory.
pub struct Slice {
    words: *const u32,
    length: usize,
    _owner: Box<dyn Any + Send>,
}

// SAFETY: the words are never written, and the owner keeps them where they are.
unsafe impl Send for Slice {}

/// Writes an image of records, each with its expiry.
pub fn write(records: &[(Box<[u32]>, i64)]) -> Vec<u32> {
    let mut keys: Vec<(u64, u32)> = Vec::new();
    let mut expires = i64::MIN;
    for (number, (words, expiry)) in records.iter().enumerate() {
        expires = expires.max(*expiry);
        keys.extend(
            keys_of(&Record::new(words))
                .into_iter()
                .map(|key| (key, number as u32)),
        );
    }
    keys.sort_unstable();
    let mut image = vec![
        MAGIC,
        0,
        records.len() as u32,
        keys.len() as u32,
        expires as u32,
        (expires >> 32) as u32,
    ];
    let mut offset = HEADER + records.len() + KEY_WORDS * keys.len();
    for (words, _) in records {
        image.push(offset as u32);
        offset += words.len();
    }
    for (key, record) in keys {
        image.extend([key as u32, (key >> 32) as u32, record]);
    }
    for (words, _) in records {
        image.extend_from_slice(words);
    }
    image[1] = image.len() as u32;
    image
}

impl Slice {
    /// An image in memory.
    pub fn of_words(words: Vec<u32>) -> Option<Slice> {
        let words: Box<[u32]> = words.into();
        let (start, length) = (words.as_ptr(), words.len());
        // SAFETY: the box keeps the words where they are, whatever happens to the box itself.
        unsafe { Slice::of_owner(start, length, Box::new(words)) }
    }

    /// An image in somebody's memory; None if it is none.
    ///
    /// # Safety
    /// `words` points to `length` words that stay where they are, unchanged, as long as `owner`
    /// is alive.
    pub unsafe fn of_owner(
        words: *const u32,
        length: usize,
        owner: Box<dyn Any + Send>,
    ) -> Option<Slice> {
        let slice = Slice {
            words,
            length,
            _owner: owner,
        };
        let words = slice.words();
        if length < HEADER || words[0] != MAGIC || words[1] as usize != length {
            return None;
        }
        let (records, keys) = (words[2] as usize, words[3] as usize);
        if HEADER + records + KEY_WORDS * keys > length {
            return None;
        }
        let records_hold = (0..records as u32).all(|record| slice.checked(record).is_some());
        let keys_hold = (0..keys).all(|key| (slice.key(key).1 as usize) < records);
        (records_hold && keys_hold).then_some(slice)
    }

    fn words(&self) -> &[u32] {
        // SAFETY: promised by whoever made the slice.
        unsafe { std::slice::from_raw_parts(self.words, self.length) }
    }

    fn checked(&self, record: u32) -> Option<Record<'_>> {
        let words = self.words();
        let start = words[HEADER + record as usize] as usize;
        let length = *words.get(start)? as usize;
        Record::check(words.get(start..start.checked_add(length)?)?)
    }

    /// A record of the slice.
    pub fn record(&self, record: u32) -> Record<'_> {
        let words = self.words();
        let start = words[HEADER + record as usize] as usize;
        Record::new(&words[start..start + words[start] as usize])
    }

    /// When the last of its records is needed no more.
    pub fn expires(&self) -> i64 {
        let words = self.words();
        (u64::from(words[4]) | u64::from(words[5]) << 32) as i64
    }

    /// How many records it has.
    pub fn len(&self) -> usize {
        self.words()[2] as usize
    }

    fn key(&self, index: usize) -> (u64, u32) {
        let words = self.words();
        let at = HEADER + words[2] as usize + KEY_WORDS * index;
        (
            u64::from(words[at]) | u64::from(words[at + 1]) << 32,
            words[at + 2],
        )
    }

    /// The records under a key.
    pub fn find(&self, key: u64) -> impl Iterator<Item = u32> + '_ {
        let count = self.words()[3] as usize;
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = (low + high) / 2;
            if self.key(middle).0 < key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low..count)
            .map(|index| self.key(index))
            .take_while(move |found| found.0 == key)
            .map(|found| found.1)
    }
}
