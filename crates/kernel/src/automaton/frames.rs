//! Open nodes and what is known at them.

use super::small::SmallSet;
use crate::plan::NONE;
use crate::tables::append;

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
    pub state: u32,
    pub symbol: u32,
    /// Facts at the node; 0 while there are none.
    pub memory: u32,
    /// The candidate that the node is; NONE for none.
    pub candidate: u32,
    /// Where the node's string value starts in the shared buffer.
    pub value_from: u32,
    pub stage: u8,
    /// Flags of the state.
    pub flags: u32,
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
    pub operand: u32,
    /// The claimant, where it has to pass conditions first.
    pub runner: Option<u64>,
}

/// Candidates that wait at a node for the guards of one segment.
#[derive(Debug)]
pub struct Waiting {
    pub segment: u32,
    pub candidates: Vec<u32>,
    /// Length at which finished candidates are swept out.
    pub sweep_at: usize,
}

/// Facts at an open node.
#[derive(Debug, Default)]
pub struct Memory {
    /// Formulas that hold.
    pub truths: SmallSet<u32>,
    /// Computed formulas that do not hold.
    pub falsehoods: SmallSet<u32>,
    /// (formula, conjunction waiting for it).
    pub watches: Vec<(u32, u32)>,
    /// Guards that let candidates pass.
    pub active: SmallSet<u32>,
    pub waiting: Vec<Waiting>,
    /// Operands of the computed formulas, each once.
    pub operands: Vec<(u32, OperandValue)>,
    /// Operands that the value of this node answers.
    pub claims: Vec<Claim>,
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
    }
}

/// The stack of open nodes, the document node at the bottom.
pub struct Frames {
    pub stack: Vec<Frame>,
    memories: Vec<Memory>,
    free: Vec<u32>,
}

impl Frames {
    pub fn new() -> Self {
        // Memory 0 stays empty: it stands for every node without facts.
        Frames {
            stack: Vec::new(),
            memories: vec![Memory::default()],
            free: Vec::new(),
        }
    }

    pub fn push(&mut self, state: u32, symbol: u32, flags: u32, value_from: u32) {
        let frame = Frame {
            state,
            symbol,
            memory: 0,
            candidate: NONE,
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
        &self.memories[self.stack[depth].memory as usize]
    }

    /// The facts at a node, for writing.
    #[inline]
    pub fn memory_mut(&mut self, depth: usize) -> &mut Memory {
        if self.stack[depth].memory == 0 {
            let id = self.free.pop().unwrap_or_else(|| {
                append(&mut self.memories, Memory::default());
                (self.memories.len() - 1) as u32
            });
            self.stack[depth].memory = id;
        }
        &mut self.memories[self.stack[depth].memory as usize]
    }

    /// Removes the innermost node; its waiting candidates must be gone already.
    pub fn pop(&mut self) -> Option<Frame> {
        let frame = self.stack.pop()?;
        if frame.memory != 0 {
            self.memories[frame.memory as usize].clear();
            self.free.push(frame.memory);
        }
        Some(frame)
    }
}
