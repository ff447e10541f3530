//! A binding: the values that it joins by, its fragment, and when it was in memory.

use super::graph::StreamId;
use rustc_hash::FxHasher;
use smallvec::SmallVec;
use std::hash::Hasher;
use std::ops::Deref;
use triomphe::ThinArc;

/// Bytes of a binding on a page before its body: arrival, until, time, two lengths.
const HEAD_BYTES: usize = 8 * 3 + 4 * 2;

/// Bytes that a block of memory takes with what the allocator adds to it.
pub(super) fn block_bytes(size: usize) -> usize {
    ((size + 23) & !15).max(32)
}

/// The hash of a value. Equal hashes are necessary, not sufficient.
pub(super) fn hash_of(value: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(value);
    hasher.finish()
}

/// What one `for` bound on one stream. Clones share it; it is one block of memory, since whoever
/// finds it looks into all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding(ThinArc<Head, u8>);

/// What is known of a binding. Behind it lie for each attribute the number of values and each value
/// with its length; then the fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Its stream.
    pub stream: StreamId,
    /// Its number among the bindings of all streams, from 1 on.
    pub arrival: u64,
    /// The last arrival that met it in memory.
    pub until: u64,
    /// Its event time.
    pub time: i64,
    /// Where the fragment begins.
    fragment_at: u32,
}

impl Deref for Binding {
    type Target = Head;

    fn deref(&self) -> &Head {
        &self.0.header.header
    }
}

impl Binding {
    /// A binding with the values of each attribute; None if it is larger than 4 GiB. `body` is room
    /// to put it together.
    pub fn new<'v>(
        stream: StreamId,
        arrival: u64,
        time: i64,
        values: &[impl AsRef<[&'v [u8]]>],
        fragment: &[u8],
        body: &mut Vec<u8>,
    ) -> Option<Self> {
        let lists = || values.iter().map(AsRef::as_ref);
        let of_value = |value: &&[u8]| 4 + value.len();
        let of_list = |list: &[&[u8]]| 4 + list.iter().map(of_value).sum::<usize>();
        let head = lists().map(of_list).sum::<usize>();
        u32::try_from(head + fragment.len()).ok()?;
        body.clear();
        for list in lists() {
            body.extend_from_slice(&(list.len() as u32).to_le_bytes());
            for value in list {
                body.extend_from_slice(&(value.len() as u32).to_le_bytes());
                body.extend_from_slice(value);
            }
        }
        body.extend_from_slice(fragment);
        let head = Head {
            stream,
            arrival,
            until: u64::MAX,
            time,
            fragment_at: head as u32,
        };
        Some(Binding::of(head, body))
    }

    fn of(head: Head, body: &[u8]) -> Self {
        Binding(ThinArc::from_header_and_slice(head, body))
    }

    fn body(&self) -> &[u8] {
        &self.0.slice
    }

    /// The fragment.
    pub fn fragment(&self) -> &[u8] {
        &self.body()[self.fragment_at as usize..]
    }

    /// The values of an attribute.
    pub fn values(&self, attribute: u32) -> Values<'_> {
        let mut rest = &self.body()[..self.fragment_at as usize];
        for _ in 0..attribute {
            let count = word(&mut rest);
            for _ in 0..count {
                let length = word(&mut rest);
                rest = &rest[length..];
            }
        }
        let left = word(&mut rest);
        Values { left, rest }
    }

    /// The distinct hashes of an attribute's values, in order.
    pub(super) fn hashes(&self, attribute: u32) -> SmallVec<[u64; 4]> {
        let mut hashes: SmallVec<[u64; 4]> = self.values(attribute).map(hash_of).collect();
        hashes.sort_unstable();
        hashes.dedup();
        hashes
    }

    /// Bytes of it in memory, shared as it is.
    pub fn memory_bytes(&self) -> usize {
        block_bytes(size_of::<Head>() + 2 * size_of::<usize>() + self.body().len())
    }

    /// Bytes of it on a page.
    pub(super) fn page_bytes(&self) -> usize {
        HEAD_BYTES + self.body().len()
    }

    /// Writes it at the end of a page.
    pub(super) fn write(&self, until: u64, page: &mut Vec<u8>) {
        page.extend_from_slice(&self.arrival.to_le_bytes());
        page.extend_from_slice(&until.to_le_bytes());
        page.extend_from_slice(&self.time.to_le_bytes());
        page.extend_from_slice(&self.fragment_at.to_le_bytes());
        page.extend_from_slice(&(self.body().len() as u32).to_le_bytes());
        page.extend_from_slice(self.body());
    }

    /// Reads the next one of a page; None if these bytes are none.
    pub(super) fn read(stream: StreamId, page: &mut &[u8]) -> Option<Self> {
        let (head, rest) = page.split_at_checked(HEAD_BYTES)?;
        let number = |at: usize| head[at..at + 8].try_into().map(u64::from_le_bytes).ok();
        let short = |at: usize| head[at..at + 4].try_into().map(u32::from_le_bytes).ok();
        let (fragment_at, length) = (short(24)?, short(28)?);
        let (body, rest) = rest.split_at_checked(length as usize)?;
        *page = rest;
        let head = Head {
            stream,
            arrival: number(0)?,
            until: number(8)?,
            time: number(16)? as i64,
            fragment_at,
        };
        (fragment_at <= length).then(|| Binding::of(head, body))
    }
}

/// The values of one attribute of a binding.
#[derive(Clone, Debug)]
pub struct Values<'a> {
    left: usize,
    rest: &'a [u8],
}

impl<'a> Iterator for Values<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        self.left = self.left.checked_sub(1)?;
        let length = word(&mut self.rest);
        let (value, rest) = self.rest.split_at(length);
        self.rest = rest;
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Values<'_> {}

fn word(rest: &mut &[u8]) -> usize {
    let (word, after) = rest.split_at(4);
    *rest = after;
    u32::from_le_bytes([word[0], word[1], word[2], word[3]]) as usize
}
