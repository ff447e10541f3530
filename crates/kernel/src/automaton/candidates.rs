//! Nodes that are, or may become, results.

use super::small::SmallSet;
use crate::events::Scope;
use crate::plan::NodeKind;
use crate::rows::Bindings;
use crate::tables::append;
use smallvec::SmallVec;
use std::ops::{Index, IndexMut};
use std::rc::Rc;

/// A result that is decided while its node is still open.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    pub target: u32,
    pub subscription: u32,
    pub ordinal: u64,
    pub decided_at: u64,
}

/// Where a closed candidate's bytes are.
#[derive(Clone, Debug, Default)]
pub enum Bytes {
    /// In the source, while that still has them.
    #[default]
    InSource,
    /// In a copy, shared with the candidates inside it, which starts at this offset.
    Copied(Rc<[u8]>, u64),
    /// The string value of an attribute, text, comment or instruction.
    Value(Box<[u8]>),
}

/// A node that is a result or may become one. One per node, whoever asks.
#[derive(Debug)]
pub struct Candidate {
    /// Number of the node in document order.
    pub order: u64,
    pub kind: NodeKind,
    pub name: Rc<[u8]>,
    pub scope: Option<Rc<Scope>>,
    pub start: u64,
    pub end: u64,
    pub depth: u32,
    pub is_open: bool,
    /// Nothing more can come of it: every target that may select it has.
    pub is_done: bool,
    /// Lists that it waits in.
    pub references: u32,
    /// Decisions that are not yet delivered.
    pub undelivered: u32,
    pub reach: Rc<[u32]>,
    pub selected: SmallVec<[u32; 2]>,
    pub pending: SmallVec<[Pending; 1]>,
    /// (guard, depth) that let it pass.
    pub passed: SmallSet<(u32, u32)>,
    /// (segment, depth) where it waits or waited.
    pub waits: SmallSet<(u32, u32)>,
    pub number: f64,
    pub bytes: Bytes,
    /// Bytes before this offset were streamed out already.
    pub sent: u64,
    pub needs_bytes: bool,
    /// Whether its bytes are among those held by closed candidates.
    pub is_counted: bool,
    /// The operands it runs for instead of being a result: depth, operand.
    pub runs_for: SmallVec<[(u32, u32); 1]>,
    /// Values beside it that are known: target, values.
    pub bound: Vec<(u32, Bindings)>,
}

impl Candidate {
    /// Whether the bytes from its start have to be kept.
    pub fn keeps_source(&self) -> bool {
        let is_held = self.references > 0 && !self.is_done;
        self.needs_bytes
            && matches!(self.bytes, Bytes::InSource)
            && (is_held || !self.pending.is_empty())
    }
}

/// The candidates in being, by number; numbers are reused.
#[derive(Debug, Default)]
pub struct Candidates {
    slots: Vec<Candidate>,
    free: Vec<u32>,
    pub held: u64,
}

impl Candidates {
    /// Makes a slot ready; the caller fills in what identifies the node.
    pub fn add(&mut self, make: impl FnOnce(Option<&mut Candidate>) -> Option<Candidate>) -> u32 {
        if let Some(id) = self.free.pop() {
            make(Some(&mut self.slots[id as usize]));
            return id;
        }
        if let Some(candidate) = make(None) {
            append(&mut self.slots, candidate);
        }
        (self.slots.len() - 1) as u32
    }

    pub fn hold(&mut self, id: u32) {
        let candidate = &mut self.slots[id as usize];
        self.held += u64::from(candidate.references == 0);
        candidate.references += 1;
    }

    /// Leaves one list; true when it was the last.
    pub fn leave(&mut self, id: u32) -> bool {
        let candidate = &mut self.slots[id as usize];
        candidate.references -= 1;
        self.held -= u64::from(candidate.references == 0);
        candidate.references == 0
    }

    pub fn remove(&mut self, id: u32) {
        let candidate = &mut self.slots[id as usize];
        // An impossible order marks a free slot for those who remember an old number.
        candidate.order = u64::MAX;
        candidate.bytes = Bytes::InSource;
        candidate.scope = None;
        self.free.push(id);
    }

    pub fn clear(&mut self) {
        self.slots.clear();
        self.free.clear();
        self.held = 0;
    }

    /// Bytes of those in being.
    pub fn bytes(&self) -> usize {
        (self.slots.len() - self.free.len()) * size_of::<Candidate>()
    }

    /// Candidates in being.
    pub fn iter(&self) -> impl Iterator<Item = &Candidate> {
        self.slots.iter().filter(|c| c.order != u64::MAX)
    }
}

impl Index<u32> for Candidates {
    type Output = Candidate;
    #[inline]
    fn index(&self, id: u32) -> &Candidate {
        &self.slots[id as usize]
    }
}

impl IndexMut<u32> for Candidates {
    #[inline]
    fn index_mut(&mut self, id: u32) -> &mut Candidate {
        &mut self.slots[id as usize]
    }
}
