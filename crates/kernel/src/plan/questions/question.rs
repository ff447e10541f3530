//! What a document is asked: a way down from its root, with conditions on the way.

use crate::plan::{FormulaId, TestId};
use crate::tables::Table;
use crate::vocabulary::Axis;

crate::ids::ids! {
    /// A move, as `Questions::codes` lists it; it fits a `Code`.
    CodeId,
    /// A chain of moves to a value.
    ChainId,
    /// A distinct question, by its place among those of its kind.
    QuestionId,
}

/// Steps beyond this many are left to the automaton, which needs no recursion for them.
pub const STEPS_MAX: usize = 256;

/// A move along an axis to nodes that pass a test, as an index into `Questions::codes`.
pub type Code = u16;

/// Codes beyond this many do not fit the stream.
pub const CODES_MAX: usize = 0x7fff;

/// How a value compares with a constant; the groups of one kind are searched together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u32)]
pub enum Relation {
    /// Equal as strings.
    Equal = 0,
    /// Equal as numbers.
    Same = 1,
    /// Less than the constant.
    Less = 2,
    /// At most the constant.
    AtMost = 3,
    /// Greater than the constant.
    Greater = 4,
    /// At least the constant.
    AtLeast = 5,
    /// Not equal as strings.
    Differs = 6,
}

impl Relation {
    /// The relation with this code.
    pub fn from_code(code: u32) -> Relation {
        match code {
            0 => Relation::Equal,
            1 => Relation::Same,
            2 => Relation::Less,
            3 => Relation::AtMost,
            4 => Relation::Greater,
            5 => Relation::AtLeast,
            _ => Relation::Differs,
        }
    }
}

/// One step of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    /// Go on to other nodes.
    Move(Code),
    /// Keep the nodes from which a chain of moves leads to a value in a relation to a constant:
    /// a string of the plan, or a number.
    Value {
        /// The relation.
        relation: Relation,
        /// The moves to the value.
        chain: ChainId,
        /// String or number of the plan.
        constant: u32,
    },
    /// Keep the nodes at which a formula of the plan holds.
    Holds(FormulaId),
}

/// A question and who asks it.
#[derive(Clone, Debug)]
pub struct Question {
    /// The way down.
    pub steps: Vec<Step>,
    /// A subscription; that of a query may be marked as bare.
    pub asker: u32,
}

/// Everything that is asked of documents as a whole.
#[derive(Debug, Default)]
pub struct Questions {
    /// Distinct moves: axis and test.
    pub codes: Table<CodeId, (Axis, TestId)>,
    /// Distinct chains of moves to a value.
    pub chains: Table<ChainId, Vec<Code>>,
    /// Does the document match?
    pub filters: Vec<Question>,
    /// Which nodes?
    pub queries: Vec<Question>,
    /// How many distinct questions there are; subscriptions may share one.
    pub distinct: u32,
    /// Length of the longest string that a value is compared with.
    pub equal_bytes_max: u32,
    /// Whether any condition looks at values.
    pub needs_values: bool,
}
