//! Nodes that are, or may become, results.

use crate::circuit::CandidateId;
use crate::events::Scope;
use crate::plan::{GuardId, NodeKind, OperandId, SegmentId, SubscriptionId, TargetId};
use crate::rows::Bindings;
use crate::small::SmallSet;
use crate::tables::Table;
use smallvec::SmallVec;
use std::ops::{Index, IndexMut};
use std::rc::Rc;

/// A result that is decided while its node is still open.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    pub target: TargetId,
    pub subscription: SubscriptionId,
    pub ordinal: u64,
    pub decided_at: u64,
    /// Bytes before this offset were streamed out already. Others of the same node may be decided
    /// later, and need it from its start.
    pub sent: u64,
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
    pub reach: Rc<[TargetId]>,
    pub selected: SmallVec<[TargetId; 2]>,
    pub pending: SmallVec<[Pending; 1]>,
    /// Guards, with the depths of nodes, that let it pass.
    pub passed: SmallSet<(GuardId, u32)>,
    /// Segments, with the depths of nodes, where it waits or waited.
    pub waits: SmallSet<(SegmentId, u32)>,
    pub number: f64,
    pub bytes: Bytes,
    pub needs_bytes: bool,
    /// Whether its bytes are among those held by closed candidates.
    pub is_counted: bool,
    /// The operands, with the depths of their nodes, it runs for instead of being a result.
    pub runs_for: SmallVec<[(u32, OperandId); 1]>,
    /// Values beside it that are known.
    pub bound: Vec<(TargetId, Bindings)>,
}

impl Candidate {
    /// Whether its bytes have to be kept.
    pub fn keeps_source(&self) -> bool {
        self.needs_bytes
            && matches!(self.bytes, Bytes::InSource)
            && (self.is_held() || !self.pending.is_empty())
    }

    /// The first byte that has to be kept: its start if more may be decided, otherwise what was not
    /// streamed out.
    pub fn kept_from(&self) -> u64 {
        let unsent = self.pending.iter().map(|item| item.sent).min();
        match unsent {
            Some(sent) if !self.is_held() => sent.max(self.start),
            _ => self.start,
        }
    }

    fn is_held(&self) -> bool {
        self.references > 0 && !self.is_done
    }
}

/// The candidates in being, by number; numbers are reused.
#[derive(Debug, Default)]
pub struct Candidates {
    slots: Table<CandidateId, Candidate>,
    free: Vec<CandidateId>,
    pub held: u64,
}

/// Candidates for which the room stays from one document to the next.
const SLOTS_KEPT: usize = 1 << 12;

impl Candidates {
    /// Makes a slot ready; the caller fills in what identifies the node.
    pub fn add(
        &mut self,
        make: impl FnOnce(Option<&mut Candidate>) -> Option<Candidate>,
    ) -> CandidateId {
        if let Some(id) = self.free.pop() {
            make(Some(&mut self.slots[id]));
            return id;
        }
        make(None).map_or(CandidateId::NONE, |candidate| self.slots.push(candidate))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.free.len() == self.slots.len()
    }

    pub fn hold(&mut self, id: CandidateId) {
        let candidate = &mut self.slots[id];
        self.held += u64::from(candidate.references == 0);
        candidate.references += 1;
    }

    /// Leaves one list; true when it was the last.
    pub fn leave(&mut self, id: CandidateId) -> bool {
        let candidate = &mut self.slots[id];
        candidate.references -= 1;
        self.held -= u64::from(candidate.references == 0);
        candidate.references == 0
    }

    pub fn remove(&mut self, id: CandidateId) {
        let candidate = &mut self.slots[id];
        // An impossible order marks a free slot for those who remember an old number.
        candidate.order = u64::MAX;
        candidate.bytes = Bytes::InSource;
        candidate.scope = None;
        self.free.push(id);
    }

    pub fn clear(&mut self) {
        self.slots.clear(SLOTS_KEPT);
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

impl Index<CandidateId> for Candidates {
    type Output = Candidate;
    #[inline]
    fn index(&self, id: CandidateId) -> &Candidate {
        &self.slots[id]
    }
}

impl IndexMut<CandidateId> for Candidates {
    #[inline]
    fn index_mut(&mut self, id: CandidateId) -> &mut Candidate {
        &mut self.slots[id]
    }
}
