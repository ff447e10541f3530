//! Sets of query numbers: plain bitmaps, and compressed ones after the word-aligned hybrid code.

/// The operations that XPaSS is written in.
pub trait Bitmap: Clone {
    fn of(ids: &[u32], count: usize) -> Self;
    fn and(&self, other: &Self) -> Self;
    fn or_with(&mut self, other: &Self);
    fn remove(&mut self, other: &Self);
    fn is_empty(&self) -> bool;
    fn for_each(&self, visit: impl FnMut(u32));
    fn bytes(&self) -> usize;
}

/// One bit for each query.
#[derive(Clone)]
pub struct Plain(Box<[u64]>);

impl Bitmap for Plain {
    fn of(ids: &[u32], count: usize) -> Self {
        let mut words = vec![0; count.div_ceil(64)];
        for &id in ids {
            words[id as usize / 64] |= 1 << (id % 64);
        }
        Plain(words.into())
    }

    fn and(&self, other: &Self) -> Self {
        Plain(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    fn or_with(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    fn remove(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= !b);
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    fn for_each(&self, mut visit: impl FnMut(u32)) {
        for (index, word) in self.0.iter().enumerate() {
            let mut left = *word;
            while left != 0 {
                visit(index as u32 * 64 + left.trailing_zeros());
                left &= left - 1;
            }
        }
    }

    fn bytes(&self) -> usize {
        self.0.len() * 8
    }
}

const EMPTY_RUN: u32 = 1 << 31;
const CHUNK_BITS: u32 = 31;

/// Chunks of 31 bits; a word with the highest bit set stands for as many empty chunks as its rest
/// says. Empty chunks at the end are left out.
#[derive(Clone, Default)]
pub struct Compressed(Vec<u32>);

impl Compressed {
    /// The chunks that are not empty, with their places.
    fn chunks(&self) -> impl Iterator<Item = (u32, u32)> {
        let mut place = 0;
        self.0.iter().filter_map(move |&word| {
            if word & EMPTY_RUN != 0 {
                place += word & !EMPTY_RUN;
                return None;
            }
            place += 1;
            Some((place - 1, word))
        })
    }

    /// The chunks of two sets, those at the same place together.
    fn merge(&self, other: &Self, join: impl Fn(u32, u32) -> u32) -> Self {
        let (mut left, mut right) = (self.chunks().peekable(), other.chunks().peekable());
        let mut writer = Writer::default();
        loop {
            let (a, b) = (left.peek().copied(), right.peek().copied());
            let place = match (a, b) {
                (None, None) => return Compressed(writer.words),
                (Some((a, _)), Some((b, _))) => a.min(b),
                (Some((place, _)), None) | (None, Some((place, _))) => place,
            };
            let one = left
                .next_if(|chunk| chunk.0 == place)
                .map_or(0, |chunk| chunk.1);
            let two = right
                .next_if(|chunk| chunk.0 == place)
                .map_or(0, |chunk| chunk.1);
            writer.push(place, join(one, two));
        }
    }
}

#[derive(Default)]
struct Writer {
    words: Vec<u32>,
    next: u32,
}

impl Writer {
    fn push(&mut self, place: u32, bits: u32) {
        if bits == 0 {
            return;
        }
        if place > self.next {
            self.words.push(EMPTY_RUN | (place - self.next));
        }
        self.words.push(bits);
        self.next = place + 1;
    }
}

impl Bitmap for Compressed {
    fn of(ids: &[u32], _count: usize) -> Self {
        let mut writer = Writer::default();
        let mut chunk = (0, 0);
        for &id in ids {
            let place = id / CHUNK_BITS;
            if place != chunk.0 {
                writer.push(chunk.0, chunk.1);
                chunk = (place, 0);
            }
            chunk.1 |= 1 << (id % CHUNK_BITS);
        }
        writer.push(chunk.0, chunk.1);
        Compressed(writer.words)
    }

    fn and(&self, other: &Self) -> Self {
        self.merge(other, |a, b| a & b)
    }

    fn or_with(&mut self, other: &Self) {
        *self = self.merge(other, |a, b| a | b);
    }

    fn remove(&mut self, other: &Self) {
        *self = self.merge(other, |a, b| a & !b);
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn for_each(&self, mut visit: impl FnMut(u32)) {
        for (place, bits) in self.chunks() {
            let mut left = bits;
            while left != 0 {
                visit(place * CHUNK_BITS + left.trailing_zeros());
                left &= left - 1;
            }
        }
    }

    fn bytes(&self) -> usize {
        self.0.len() * 4
    }
}
