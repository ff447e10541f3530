//! Open nodes and what is known at them.

use super::states::{Flags, StateId};
use crate::circuit::CandidateId;
use crate::events::Symbol;
use crate::plan::{FormulaId, GuardId, OperandId, SegmentId};
use crate::small::{SmallMap, SmallSet};
use crate::tables::{Table, append};

crate::ids::ids! {
    /// Facts at an open node.
    MemoryId,
}

impl MemoryId {
    /// The memory that stays empty: it stands for every node without facts.
    pub const EMPTY: MemoryId = MemoryId(0);
}

/// Progress of a node.
pub mod stage {
    /// All attributes are known.
    pub const ATTRIBUTES: u8 = 1;
    /// The string value is known.
    pub const VALUE: u8 = 1 << 1;
    /// Everything below is known.
    pub const CLOSED: u8 = 1 << 2;
    /// And so is every computed formula.
    pub const COMPUTED: u8 = 1 << 3;
}

/// An open node: small, because every element pushes one.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub state: StateId,
    pub symbol: Symbol,
    /// Facts at the node.
    pub memory: MemoryId,
    /// The candidate that the node is; NONE for none.
    pub candidate: CandidateId,
    /// Where the node's string value starts in the shared buffer.
    pub value_from: u32,
    pub stage: u8,
    /// Flags of the state.
    pub flags: Flags,
}

/// The value of an operand of computed formulas.
#[derive(Clone, Debug)]
pub enum OperandValue {
    /// No node reached yet.
    Open,
    /// The first node is reached, its value is not known yet.
    Claimed,
    /// Nodes reached under conditions that are not decided, in document order.
    Race(Vec<Runner>),
    Known(Box<[u8]>),
}

/// A node that may be the first one.
#[derive(Clone, Debug)]
pub struct Runner {
    pub node: u64,
    /// Whether it passed the conditions; unknown until decided.
    pub passed: Option<bool>,
    pub value: Option<Box<[u8]>>,
}

/// A claim of a node on being an operand at an open node.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    pub depth: u32,
    pub operand: OperandId,
    /// The claimant, where it has to pass conditions first.
    pub runner: Option<u64>,
}

/// Candidates that wait at a node for the guards of one segment.
#[derive(Debug)]
pub struct Waiting {
    pub candidates: Vec<CandidateId>,
    /// Length at which finished candidates are swept out.
    pub sweep_at: usize,
}

/// Facts at an open node.
#[derive(Debug, Default)]
pub struct Memory {
    /// Formulas that hold.
    pub truths: SmallSet<FormulaId>,
    /// Computed formulas that do not hold.
    pub falsehoods: SmallSet<FormulaId>,
    /// (formula, conjunction waiting for it).
    pub watches: Vec<(FormulaId, FormulaId)>,
    /// Guards that let candidates pass.
    pub active: SmallSet<GuardId>,
    /// By segment.
    pub waiting: SmallMap<SegmentId, Waiting>,
    /// Operands of the computed formulas, each once.
    pub operands: Vec<(OperandId, OperandValue)>,
    /// Operands that the value of this node answers.
    pub claims: Vec<Claim>,
    /// How many facts its start tag has decided.
    opened_with: usize,
}

impl Memory {
    fn clear(&mut self) {
        self.truths.clear();
        self.falsehoods.clear();
        self.watches.clear();
        self.active.clear();
        self.waiting.clear();
        self.operands.clear();
        self.claims.clear();
        self.opened_with = 0;
    }

    fn facts(&self) -> usize {
        let formulas = self.truths.keys().len() + self.falsehoods.keys().len();
        formulas + self.watches.len() + self.active.keys().len()
    }

    fn is_as_opened(&self) -> bool {
        let has_more = !(self.waiting.is_empty() && self.operands.is_empty());
        !has_more && self.claims.is_empty() && self.facts() == self.opened_with
    }
}

/// The stack of open nodes, the document node at the bottom.
pub struct Frames {
    pub stack: Vec<Frame>,
    memories: Table<MemoryId, Memory>,
    free: Vec<MemoryId>,
}

impl Frames {
    pub fn new() -> Self {
        Frames {
            stack: Vec::new(),
            memories: Table::of_defaults(1),
            free: Vec::new(),
        }
    }

    pub fn push(&mut self, state: StateId, symbol: Symbol, flags: Flags, value_from: u32) {
        let frame = Frame {
            state,
            symbol,
            memory: MemoryId::EMPTY,
            candidate: CandidateId::NONE,
            value_from,
            stage: 0,
            flags,
        };
        append(&mut self.stack, frame);
    }

    /// Bytes of the facts at open nodes.
    pub fn bytes(&self) -> usize {
        (self.memories.len() - 1 - self.free.len()) * size_of::<Memory>()
    }

    /// The facts at a node, for reading.
    #[inline]
    pub fn memory(&self, depth: usize) -> &Memory {
        &self.memories[self.stack[depth].memory]
    }

    /// The facts at a node, for writing.
    #[inline]
    pub fn memory_mut(&mut self, depth: usize) -> &mut Memory {
        if self.stack[depth].memory == MemoryId::EMPTY {
            let free = self.free.pop();
            let id = free.unwrap_or_else(|| self.memories.push(Memory::default()));
            self.stack[depth].memory = id;
        }
        &mut self.memories[self.stack[depth].memory]
    }

    /// What the start tag of a node says is on record.
    #[inline]
    pub fn note_opened(&mut self, depth: usize) {
        let memory = self.stack[depth].memory;
        if memory != MemoryId::EMPTY {
            self.memories[memory].opened_with = self.memories[memory].facts();
        }
    }

    /// Whether the start tags of the open nodes are all that is known of them.
    pub fn are_as_opened(&self) -> bool {
        self.stack
            .iter()
            .all(|frame| self.memories[frame.memory].is_as_opened())
    }

    /// Removes the innermost node; its waiting candidates must be gone already.
    pub fn pop(&mut self) -> Option<Frame> {
        let frame = self.stack.pop()?;
        if frame.memory != MemoryId::EMPTY {
            self.memories[frame.memory].clear();
            self.free.push(frame.memory);
        }
        Some(frame)
    }
}
