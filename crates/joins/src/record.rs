//! The witnesses of one document, or of one partial match, as one flat run of words.
//!
//! A record is written once and read where it lies: in memory, in a mapped file, in a message.
//! Offsets instead of pointers; every table is sorted by what it is searched by.

use crate::codes::NONE;

pub(crate) const HEADER: usize = 11;
pub(crate) const PART_WORDS: usize = 6;
pub(crate) const NODE_WORDS: usize = 9;
pub(crate) const BINDING_WORDS: usize = 2;
pub(crate) const ENTRY_WORDS: usize = 4;
pub(crate) const EDGE_WORDS: usize = 4;

/// Every variable has one node here, so that nothing has to be looked up in the edges.
pub(crate) const IS_FLAT: u32 = 1;
/// The record is a partial match of a chain.
pub(crate) const IS_PARTIAL: u32 = 2;

/// A document that a record is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// Its number, the caller's to give; different documents have different ones.
    pub number: u64,
    /// Its event time in microseconds.
    pub time: i64,
    /// Its id.
    pub id: &'a [u8],
}

/// What a record says of a node.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    /// Which of the record's documents it is in.
    pub part: u32,
    /// Where it lies in that document.
    pub span: (u32, u32),
    /// Its string value, if a join compares it.
    pub value: Option<&'a [u8]>,
    /// The hash of that.
    pub hash: u64,
    /// Its kind, its name and its text as it stands alone, if somebody selects it.
    pub text: Option<&'a [u8]>,
}

/// A valued binding: the hash of the value, the variable, the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Hash of the value.
    pub hash: u64,
    /// The variable.
    pub variable: u32,
    /// The node.
    pub node: u32,
}

/// A record, read in place.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    words: &'a [u32],
}

impl<'a> Record<'a> {
    /// Takes words that `Writer` or `check` vouch for.
    #[inline]
    pub fn new(words: &'a [u32]) -> Self {
        Record { words }
    }

    /// Takes words from anywhere; None if they are no record.
    pub fn check(words: &'a [u32]) -> Option<Self> {
        if words.len() < HEADER || words[0] as usize != words.len() {
            return None;
        }
        let record = Record { words };
        let text_bytes = words[8] as usize;
        let expected = record.bytes_at().checked_add(text_bytes.div_ceil(4))?;
        if expected != words.len() || record.parts_count() == 0 {
            return None;
        }
        let is_inside = |at: u32, length: u32| {
            length == NONE
                || (at as usize)
                    .checked_add(length as usize)
                    .is_some_and(|end| end <= text_bytes)
        };
        let parts = &words[HEADER..record.nodes_at()];
        let parts_hold = parts
            .chunks_exact(PART_WORDS)
            .all(|w| is_inside(w[4], w[5]));
        let nodes_hold = (0..record.node_count()).all(|node| {
            let node = record.node_words(node);
            (node[0] as usize) < record.parts_count()
                && is_inside(node[3], node[4])
                && is_inside(node[7], node[8])
        });
        let is_node = |node: u32| (node as usize) < record.node_count() as usize;
        let tables_hold = record
            .bindings_words()
            .chunks_exact(BINDING_WORDS)
            .all(|b| is_node(b[1]))
            && record
                .entries()
                .all(|entry| is_node(entry.node) && record.node_words(entry.node)[4] != NONE)
            && record
                .edges_words()
                .chunks_exact(EDGE_WORDS)
                .all(|e| is_node(e[2]) && is_node(e[3]));
        (parts_hold && nodes_hold && tables_hold).then_some(record)
    }

    /// The words as they are.
    pub fn words(&self) -> &'a [u32] {
        self.words
    }

    /// Event time in microseconds.
    #[inline]
    pub fn time(&self) -> i64 {
        wide(self.words[1], self.words[2]) as i64
    }

    /// The version of the subscriptions it was read under.
    #[inline]
    pub fn version(&self) -> u32 {
        self.words[10]
    }

    /// Whether every variable has one node.
    #[inline]
    pub fn is_flat(&self) -> bool {
        self.words[9] & IS_FLAT != 0
    }

    /// Whether it is a partial match.
    pub fn is_partial(&self) -> bool {
        self.words[9] & IS_PARTIAL != 0
    }

    /// How many documents it is made of.
    pub fn parts_count(&self) -> usize {
        self.words[3] as usize
    }

    /// Bytes of its ids, values and texts: about as much as it took of its documents.
    pub fn text_bytes(&self) -> usize {
        self.words[8] as usize
    }

    /// How many nodes it has.
    pub fn node_count(&self) -> u32 {
        self.words[4]
    }

    fn nodes_at(&self) -> usize {
        HEADER + PART_WORDS * self.parts_count()
    }

    fn bindings_at(&self) -> usize {
        self.nodes_at() + NODE_WORDS * self.words[4] as usize
    }

    fn entries_at(&self) -> usize {
        self.bindings_at() + BINDING_WORDS * self.words[5] as usize
    }

    fn edges_at(&self) -> usize {
        self.entries_at() + ENTRY_WORDS * self.words[6] as usize
    }

    fn bytes_at(&self) -> usize {
        self.edges_at() + EDGE_WORDS * self.words[7] as usize
    }

    /// The documents it is made of, in block order.
    pub fn parts(&self) -> impl Iterator<Item = Part<'a>> + use<'a> {
        let record = *self;
        let words = &self.words[HEADER..self.nodes_at()];
        words.chunks_exact(PART_WORDS).map(move |w| Part {
            number: wide(w[0], w[1]),
            time: wide(w[2], w[3]) as i64,
            id: record.bytes(w[4], w[5]).unwrap_or(b""),
        })
    }

    /// Whether a document is among its parts.
    pub fn contains(&self, number: u64) -> bool {
        self.parts().any(|part| part.number == number)
    }

    #[inline]
    fn node_words(&self, node: u32) -> &'a [u32] {
        let at = self.nodes_at() + NODE_WORDS * node as usize;
        &self.words[at..at + NODE_WORDS]
    }

    /// A node.
    pub fn node(&self, node: u32) -> Node<'a> {
        let words = self.node_words(node);
        Node {
            part: words[0],
            span: (words[1], words[2]),
            value: self.bytes(words[3], words[4]),
            hash: wide(words[5], words[6]),
            text: self.bytes(words[7], words[8]),
        }
    }

    /// Whether two nodes, of this and another record, have equal values.
    #[inline]
    pub fn has_equal_value(&self, node: u32, other: &Record<'_>, other_node: u32) -> bool {
        let (one, two) = (self.node_words(node), other.node_words(other_node));
        // The hash only says no; whoever says yes has compared the bytes.
        one[5..7] == two[5..7]
            && one[4] == two[4]
            && one[4] != NONE
            && self.bytes(one[3], one[4]) == other.bytes(two[3], two[4])
    }

    fn bytes(&self, at: u32, length: u32) -> Option<&'a [u8]> {
        if length == NONE {
            return None;
        }
        let bytes = bytes_of(&self.words[self.bytes_at()..]);
        bytes.get(at as usize..at as usize + length as usize)
    }

    fn bindings_words(&self) -> &'a [u32] {
        &self.words[self.bindings_at()..self.entries_at()]
    }

    /// The nodes bound to a variable: pairs of words, of which the second is the node.
    #[inline]
    pub fn nodes_of(&self, variable: u32) -> Nodes<'a> {
        let words = self.bindings_words();
        let (first, end) = equal_range(words, BINDING_WORDS, &[variable]);
        Nodes {
            words: &words[first * BINDING_WORDS..end * BINDING_WORDS],
            stride: BINDING_WORDS,
        }
    }

    /// The bindings: variable and node, in order.
    pub fn bindings(&self) -> impl Iterator<Item = (u32, u32)> + 'a {
        let words = self.bindings_words().chunks_exact(BINDING_WORDS);
        words.map(|words| (words[0], words[1]))
    }

    /// The variables that are bound here, in order, repeated for each node.
    pub fn variables(&self) -> impl Iterator<Item = u32> + 'a {
        self.bindings().map(|binding| binding.0)
    }

    fn edges_words(&self) -> &'a [u32] {
        &self.words[self.edges_at()..self.bytes_at()]
    }

    /// The nodes of `below` under a node of `above`.
    pub fn nodes_under(&self, above: u32, below: u32, node: u32) -> Nodes<'a> {
        let words = self.edges_words();
        let (first, end) = equal_range(words, EDGE_WORDS, &[above, below, node]);
        Nodes {
            words: &words[first * EDGE_WORDS..end * EDGE_WORDS],
            stride: EDGE_WORDS,
        }
    }

    /// The edges: variables above and below, nodes above and below.
    pub fn edges(&self) -> impl Iterator<Item = [u32; 4]> + 'a {
        self.edges_words()
            .chunks_exact(EDGE_WORDS)
            .map(|w| [w[0], w[1], w[2], w[3]])
    }

    /// The number of valued bindings.
    #[inline]
    pub fn entry_count(&self) -> usize {
        self.words[6] as usize
    }

    /// A valued binding, in order of hash, variable, node.
    #[inline]
    pub fn entry(&self, index: usize) -> Entry {
        let at = self.entries_at() + ENTRY_WORDS * index;
        let w = &self.words[at..at + ENTRY_WORDS];
        Entry {
            hash: wide(w[0], w[1]),
            variable: w[2],
            node: w[3],
        }
    }

    /// The valued bindings as they lie, for loops that look at very many of them.
    #[inline]
    pub(crate) fn entry_table(&self) -> &'a [[u32; ENTRY_WORDS]] {
        self.words[self.entries_at()..self.edges_at()].as_chunks().0
    }

    /// All valued bindings.
    pub fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        (0..self.entry_count()).map(|index| self.entry(index))
    }
}

/// Nodes in a table of a record.
#[derive(Clone, Copy)]
pub struct Nodes<'a> {
    words: &'a [u32],
    stride: usize,
}

impl<'a> Nodes<'a> {
    /// How many.
    #[inline]
    pub fn len(&self) -> usize {
        self.words.len() / self.stride
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The node at a place.
    #[inline]
    pub fn at(&self, index: usize) -> u32 {
        self.words[index * self.stride + self.stride - 1]
    }

    /// Whether a node is among them.
    pub fn contains(&self, node: u32) -> bool {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = (low + high) / 2;
            if self.at(middle) < node {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low < self.len() && self.at(low) == node
    }

    /// All of them.
    pub fn iter(self) -> impl Iterator<Item = u32> + 'a {
        (0..self.len()).map(move |index| self.at(index))
    }
}

#[inline]
pub(crate) fn wide(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// Words as the bytes that they are.
pub fn bytes_of(words: &[u32]) -> &[u8] {
    // SAFETY: any words are bytes, four for each.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), words.len() * 4) }
}

/// Records that lie one behind the other; None if they are none.
pub fn split(mut words: &[u32]) -> Option<Vec<Record<'_>>> {
    let mut records = Vec::new();
    while let Some(&length) = words.first() {
        let (first, rest) = words.split_at_checked(length as usize)?;
        records.push(Record::check(first)?);
        words = rest;
    }
    Some(records)
}

/// The range of rows of a sorted table that begin with the key.
#[inline]
fn equal_range(words: &[u32], stride: usize, key: &[u32]) -> (usize, usize) {
    let rows = words.len() / stride;
    let row = |index: usize| &words[index * stride..index * stride + key.len()];
    let bound = |is_before: &dyn Fn(&[u32]) -> bool| {
        let (mut low, mut high) = (0, rows);
        while low < high {
            let middle = (low + high) / 2;
            if is_before(row(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    };
    let first = bound(&|found| found < key);
    let mut end = first;
    // Runs are short, and most often of length one.
    while end < rows && row(end) == key {
        end += 1;
    }
    (first, end)
}
