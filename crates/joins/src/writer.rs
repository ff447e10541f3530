//! Writes records.

use crate::codes::NONE;
use crate::record::{
    BINDING_WORDS, EDGE_WORDS, ENTRY_WORDS, Entry, HEADER, IS_FLAT, IS_PARTIAL, NODE_WORDS, Node,
    PART_WORDS, Part, wide,
};
use penstock_kernel::witness::Witness;

/// Sixty-four bits of a value; the same on every machine, since records travel.
pub fn hash_value(value: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let fold = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * u128::from(FACTOR | 1);
        (product as u64) ^ (product >> 64) as u64
    };
    let mut chunks = value.chunks_exact(8);
    let mut state = FACTOR ^ value.len() as u64;
    for chunk in &mut chunks {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        state = fold(state, u64::from_le_bytes(word)).rotate_left(23);
    }
    let mut word = [0; 8];
    word[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    fold(
        fold(state, u64::from_le_bytes(word)),
        FACTOR.rotate_left(32),
    )
}

/// The record of a document that was read under a version of the subscriptions; no words if nothing
/// in it joins. Only so many bits of each hash are kept: tests see to it that values collide.
pub fn record_of(witness: &Witness, part: &Part<'_>, version: u32, hash_bits: u32) -> Vec<u32> {
    let mut writer = Writer::new(part.time, version);
    writer.truncate_hashes(hash_bits);
    let place = writer.part(part);
    for node in &witness.nodes {
        let span = (node.span.start as u32, node.span.end as u32);
        writer.node(place, span, node.value.as_deref(), node.text.as_deref());
    }
    for &(variable, node) in &witness.bindings {
        writer.bind(variable, node);
    }
    for &[upper, lower, above, below] in &witness.edges {
        writer.edge(upper, lower, above, below);
    }
    if writer.is_empty() {
        return Vec::new();
    }
    writer.finish()
}

/// Builds a record.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    parts: Vec<[u32; PART_WORDS]>,
    nodes: Vec<[u32; NODE_WORDS]>,
    bindings: Vec<[u32; 2]>,
    entries: Vec<Entry>,
    edges: Vec<[u32; 4]>,
    bytes: Vec<u8>,
    time: i64,
    version: u32,
    hash_bits: u32,
}

impl Writer {
    /// A record that is read under a version of the subscriptions.
    pub fn new(time: i64, version: u32) -> Self {
        Writer {
            time,
            version,
            hash_bits: 64,
            ..Writer::default()
        }
    }

    /// Keeps only so many bits of each hash: tests see to it that values collide.
    pub fn truncate_hashes(&mut self, bits: u32) {
        self.hash_bits = bits;
    }

    /// Adds a document that the record is made of.
    pub fn part(&mut self, part: &Part<'_>) -> u32 {
        let (at, length) = self.keep(Some(part.id));
        let (number, time) = (part.number, part.time);
        self.parts.push([
            number as u32,
            (number >> 32) as u32,
            time as u32,
            (time >> 32) as u32,
            at,
            length,
        ]);
        self.parts.len() as u32 - 1
    }

    /// Adds a node, with its value if a join compares it and its text if somebody selects it.
    pub fn node(
        &mut self,
        part: u32,
        span: (u32, u32),
        value: Option<&[u8]>,
        text: Option<&[u8]>,
    ) -> u32 {
        let hash = value.map_or(0, hash_value);
        let hash = if self.hash_bits < 64 {
            hash & ((1 << self.hash_bits) - 1)
        } else {
            hash
        };
        let (value_at, value_length) = self.keep(value);
        let (text_at, text_length) = self.keep(text);
        self.nodes.push([
            part,
            span.0,
            span.1,
            value_at,
            value_length,
            hash as u32,
            (hash >> 32) as u32,
            text_at,
            text_length,
        ]);
        self.nodes.len() as u32 - 1
    }

    fn keep(&mut self, bytes: Option<&[u8]>) -> (u32, u32) {
        let Some(bytes) = bytes else { return (0, NONE) };
        let at = self.bytes.len() as u32;
        self.bytes.extend_from_slice(bytes);
        (at, bytes.len() as u32)
    }

    /// Copies a node of another record.
    pub fn copy(&mut self, part: u32, node: &Node<'_>) -> u32 {
        let copy = self.node(part, node.span, node.value, node.text);
        // The hash of a value is part of its record: it may have been cut short.
        let words = &mut self.nodes[copy as usize];
        (words[5], words[6]) = (node.hash as u32, (node.hash >> 32) as u32);
        copy
    }

    /// Binds a variable to a node.
    pub fn bind(&mut self, variable: u32, node: u32) {
        self.bindings.push([variable, node]);
        let words = &self.nodes[node as usize];
        if words[4] != NONE {
            self.entries.push(Entry {
                hash: wide(words[5], words[6]),
                variable,
                node,
            });
        }
    }

    /// Says that a node of one variable lies under a node of another.
    pub fn edge(&mut self, above: u32, below: u32, node_above: u32, node_below: u32) {
        self.edges.push([above, below, node_above, node_below]);
    }

    /// Whether nothing is bound: then there is nothing to join.
    pub fn is_empty(&self) -> bool {
        self.bindings.is_empty()
    }

    /// The record of a document.
    pub fn finish(self) -> Vec<u32> {
        self.write(0)
    }

    /// The record of a partial match.
    pub fn finish_partial(self) -> Vec<u32> {
        self.write(IS_PARTIAL)
    }

    fn write(mut self, flags: u32) -> Vec<u32> {
        self.bindings.sort_unstable();
        self.bindings.dedup();
        self.entries.sort_unstable();
        self.entries.dedup();
        let is_flat = self
            .bindings
            .windows(2)
            .all(|pair| pair[0][0] != pair[1][0]);
        if is_flat {
            // One node for each variable: each lies under the only one there is.
            self.edges.clear();
        }
        self.edges.sort_unstable();
        self.edges.dedup();
        let flags = flags | if is_flat { IS_FLAT } else { 0 };
        let length = HEADER
            + PART_WORDS * self.parts.len()
            + NODE_WORDS * self.nodes.len()
            + BINDING_WORDS * self.bindings.len()
            + ENTRY_WORDS * self.entries.len()
            + EDGE_WORDS * self.edges.len()
            + self.bytes.len().div_ceil(4);
        let mut words = Vec::with_capacity(length);
        words.extend([
            length as u32,
            self.time as u32,
            (self.time >> 32) as u32,
            self.parts.len() as u32,
            self.nodes.len() as u32,
            self.bindings.len() as u32,
            self.entries.len() as u32,
            self.edges.len() as u32,
            self.bytes.len() as u32,
            flags,
            self.version,
        ]);
        words.extend(self.parts.iter().flatten());
        words.extend(self.nodes.iter().flatten());
        words.extend(self.bindings.iter().flatten());
        for entry in self.entries {
            words.extend([
                entry.hash as u32,
                (entry.hash >> 32) as u32,
                entry.variable,
                entry.node,
            ]);
        }
        words.extend(self.edges.iter().flatten());
        let mut chunks = self.bytes.chunks_exact(4);
        words.extend((&mut chunks).map(|c| u32::from_ne_bytes([c[0], c[1], c[2], c[3]])));
        let rest = chunks.remainder();
        if !rest.is_empty() {
            let mut last = [0; 4];
            last[..rest.len()].copy_from_slice(rest);
            words.push(u32::from_ne_bytes(last));
        }
        words
    }
}
