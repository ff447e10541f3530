//! The ids of what a plan consists of.

pub use crate::ids::{SubscriptionId, TargetId};

crate::ids::ids! {
    /// A string constant or a name.
    StringId,
    /// A number constant.
    NumberId,
    /// A node test.
    TestId,
    /// A scalar expression over operands.
    ExprId,
    /// A condition at a node.
    FormulaId,
    /// A formula without its constants.
    ShapeId,
    /// A step of the trie of spines.
    SpineId,
    /// A formula at a step of a spine.
    GuardId,
    /// The steps from a guard down to the next guard or the leaf.
    SegmentId,
    /// An operand of computed formulas.
    OperandId,
    /// A part of an expression: an atom or a set of nodes.
    PartId,
    /// A program that requests something else than rows.
    RequestId,
}

impl SpineId {
    /// The document node.
    pub const ROOT: SpineId = SpineId(0);
}

impl FormulaId {
    /// The formula that always holds.
    pub const TRUE: FormulaId = FormulaId(0);
    /// The formula that never holds.
    pub const FALSE: FormulaId = FormulaId(1);
}
