//! Sets of nodes of one test, as bits: each distinct set of a document has a number.

use crate::query::TestId;
use crate::store::NONE;

/// A set of nodes, by their places among those that pass a test.
pub type Bits<const W: usize> = [u64; W];

/// Whether a set is empty.
#[inline]
pub fn is_empty<const W: usize>(bits: &Bits<W>) -> bool {
    bits.iter().all(|&word| word == 0)
}

/// What is in both.
#[inline]
pub fn both<const W: usize>(a: &Bits<W>, b: &Bits<W>) -> Bits<W> {
    std::array::from_fn(|at| a[at] & b[at])
}

/// Adds a place.
#[inline]
pub fn set<const W: usize>(bits: &mut Bits<W>, place: u32) {
    bits[place as usize / 64] |= 1 << (place % 64);
}

/// Whether a place is in a set.
#[inline]
pub fn has<const W: usize>(bits: &Bits<W>, place: u32) -> bool {
    bits[place as usize / 64] >> (place % 64) & 1 == 1
}

/// The first places.
pub fn first<const W: usize>(count: usize) -> Bits<W> {
    std::array::from_fn(|at| match count.saturating_sub(at * 64) {
        0 => 0,
        left if left >= 64 => u64::MAX,
        left => (1 << left) - 1,
    })
}

/// The places of a set, in order.
pub fn places(words: &[u64]) -> impl Iterator<Item = u32> + '_ {
    words.iter().enumerate().flat_map(|(at, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            let bit = left.trailing_zeros();
            left &= left.wrapping_sub(1);
            (bit < u64::BITS).then(|| at as u32 * u64::BITS + bit)
        })
    })
}

/// Distinct sets, numbered as they come.
#[derive(Debug, Default)]
pub struct Sets {
    words: Vec<u64>,
    tests: Vec<TestId>,
    /// Numbers by hash; a power of two of them.
    table: Vec<u32>,
    width: usize,
}

const TABLE_MIN: usize = 1 << 10;

impl Sets {
    /// Forgets all sets; those to come have so many words.
    pub fn clear(&mut self, width: usize) {
        self.words.clear();
        self.tests.clear();
        self.width = width;
        if self.table.len() > 4 * TABLE_MIN {
            self.table.truncate(TABLE_MIN);
        }
        self.table.fill(NONE);
        self.table.resize(self.table.len().max(TABLE_MIN), NONE);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.tests.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    /// What the nodes of a set pass.
    pub fn test(&self, set: u32) -> TestId {
        self.tests[set as usize]
    }

    /// A set.
    pub fn words(&self, set: u32) -> &[u64] {
        &self.words[set as usize * self.width..][..self.width]
    }

    /// The number of a set of nodes of a test.
    #[inline]
    pub fn intern<const W: usize>(&mut self, test: TestId, bits: &Bits<W>) -> u32 {
        let mask = self.table.len() - 1;
        let mut at = hash(test, bits) & mask;
        loop {
            let known = self.table[at];
            if known == NONE {
                break;
            }
            let from = known as usize * W;
            if self.tests[known as usize] == test && self.words[from..from + W] == *bits {
                return known;
            }
            at = (at + 1) & mask;
        }
        let id = self.tests.len() as u32;
        self.table[at] = id;
        self.words.extend_from_slice(bits);
        self.tests.push(test);
        if self.tests.len() * 2 > self.table.len() {
            self.grow();
        }
        id
    }

    #[cold]
    fn grow(&mut self) {
        let length = self.table.len() * 2;
        self.table.clear();
        self.table.resize(length, NONE);
        for id in 0..self.tests.len() as u32 {
            let mut at = hash(self.tests[id as usize], self.words(id)) & (length - 1);
            while self.table[at] != NONE {
                at = (at + 1) & (length - 1);
            }
            self.table[at] = id;
        }
    }
}

#[inline]
fn hash(test: TestId, words: &[u64]) -> usize {
    let mix =
        |hash: u64, &word: &u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    let hash = words.iter().fold(u64::from(test.0), mix);
    (hash >> 32) as usize
}
