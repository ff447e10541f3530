//! The questions as they lie in a plan's image: a table of contents, then flat arrays.
//!
//! Each kind of question is a trie of steps in one stream of half words, depth first:
//!
//! ```text
//! record = leaves | own << 15, inner | conditions << 15, pairs, number (2),
//!          leaf codes …, (code, code) …, (code, record (2)) …, block (2) if there are conditions
//! ```
//!
//! A leaf is a question that ends with a move, a pair one that ends with two, where no other goes.
//! They have consecutive numbers, after that of the question that ends at the record itself. The
//! conditions of a record are a block of words:
//!
//! ```text
//! block = groups, others, (relation, chain, entries, place) …, (formula, to) …
//! group = constants …, to …        # sorted: strings by number, numbers by value
//! ```
//!
//! The first record of a stream is the root of the questions that every document is asked.
//!
//! `to` is a record, or a question that ends there, marked by the highest bit.

use super::question::{QuestionId, Relation};

/// Marks a question in a `to`, and a list in an asker.
pub const MARK: u32 = 1 << 31;
/// Marks the asker of a query who wants no value.
pub const BARE: u32 = 1 << 30;
/// Marks the second use of the first two half words of a record.
pub const HALF_MARK: u16 = 1 << 15;

/// The arrays of the image.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// Axis and test of each code.
    Codes = 0,
    /// Chains, each behind its length; a chain is named by its place.
    Chains = 1,
    /// The trie of filters, half words.
    Filters = 2,
    /// The trie of queries, half words.
    Queries = 3,
    /// Blocks and groups of both.
    Blocks = 4,
    /// Subscriptions by number of the filter; marked: a list.
    FilterAskers = 5,
    /// Subscriptions by number of the query, perhaps bare; marked: a list.
    QueryAskers = 6,
    /// Lists of askers, each behind its length.
    Lists = 7,
    /// Single numbers: see `Figure`.
    Figures = 8,
    /// Filters by the constants that they hang on: see `keys`.
    FilterKeys = 9,
    /// Queries by the constants that they hang on.
    QueryKeys = 10,
}
pub const PARTS: usize = 11;
pub const HEAD: usize = 2 * PARTS;

/// Places in `Part::Figures`.
#[derive(Clone, Copy, Debug)]
pub enum Figure {
    /// Length of the longest string that a value is compared with.
    EqualBytesMax = 0,
    /// Whether any condition looks at values.
    NeedsValues = 1,
    /// How many distinct questions there are.
    Distinct = 2,
}
pub const FIGURES: usize = 3;

/// The questions of a plan.
#[derive(Clone, Copy)]
pub struct Image<'a> {
    words: &'a [u32],
}

/// The groups of a block: relation, chain, constants and where they lead.
pub struct Group<'a> {
    pub relation: Relation,
    pub chain: u32,
    pub constants: &'a [u32],
    pub to: &'a [u32],
}

impl<'a> Image<'a> {
    /// A view of words that `layout` made.
    pub fn new(words: &'a [u32]) -> Image<'a> {
        Image { words }
    }

    pub fn part(&self, part: Part) -> &'a [u32] {
        let at = 2 * part as usize;
        let (start, length) = (self.words[at] as usize, self.words[at + 1] as usize);
        &self.words[start..start + length]
    }

    /// A part of half words.
    pub fn stream(&self, part: Part) -> &'a [u16] {
        let words = self.part(part);
        // SAFETY: every half of a word is initialised, and half words are aligned less strictly.
        unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), words.len() * 2) }
    }

    pub fn figure(&self, figure: Figure) -> u32 {
        self.part(Part::Figures)[figure as usize]
    }

    /// Groups and other conditions (formula, to) of a block.
    pub fn block(&self, at: u32) -> (impl Iterator<Item = Group<'a>>, &'a [u32]) {
        let blocks = self.part(Part::Blocks);
        let at = at as usize;
        let (groups, others) = (blocks[at] as usize, blocks[at + 1] as usize);
        let heads = &blocks[at + 2..at + 2 + 4 * groups];
        let rest = at + 2 + 4 * groups;
        let groups = heads.chunks_exact(4).map(move |head| {
            let (count, place) = (head[2] as usize, head[3] as usize);
            Group {
                relation: Relation::from_code(head[0]),
                chain: head[1],
                constants: &blocks[place..place + count],
                to: &blocks[place + count..place + 2 * count],
            }
        });
        (groups, &blocks[rest..rest + 2 * others])
    }

    /// The codes of a chain.
    pub fn chain(&self, at: u32) -> &'a [u32] {
        list(self.part(Part::Chains), at)
    }

    /// Who asks a question: one number or several.
    pub fn askers(&self, part: Part, question: QuestionId) -> Askers<'a> {
        let asker = self.part(part)[question.index()];
        if asker & MARK == 0 {
            Askers::One(asker)
        } else {
            Askers::Many(self.list(asker))
        }
    }

    /// The askers that a marked one stands for.
    pub fn list(&self, asker: u32) -> &'a [u32] {
        list(self.part(Part::Lists), asker & !MARK)
    }
}

/// Who asks a question.
pub enum Askers<'a> {
    One(u32),
    Many(&'a [u32]),
}

impl Askers<'_> {
    /// All of them.
    pub fn as_slice(&self) -> &[u32] {
        match self {
            Askers::One(asker) => std::slice::from_ref(asker),
            Askers::Many(askers) => askers,
        }
    }
}

fn list(pool: &[u32], at: u32) -> &[u32] {
    let at = at as usize;
    &pool[at + 1..at + 1 + pool[at] as usize]
}
