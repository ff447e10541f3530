//! Programs in, one plan out.
//!
//! A *program* is one compiled query as bytes, made by the planning layer: patterns, what it
//! requests of them, and an output. A *plan* is many programs interned together: of those that
//! request rows, every distinct spine step, formula, guard and constant exists once; others are
//! kept as they are, for whoever serves their requests. The plan is a flat array of words with
//! offsets only, so processes can map and share it.

mod builder;
mod formulas;
mod freeze;
mod ids;
mod image;
mod intern;
mod parts;
mod program;
pub(crate) mod questions;
mod reader;
mod records;
mod requests;
mod scalars;
mod symbols;
mod tier;

pub use crate::vocabulary::{
    Aggregate, AtomKind, Axis, Comparison, NamePart, NodeKind, Op, PartKind,
};
pub use builder::Builder;
pub use ids::{
    ExprId, FormulaId, GuardId, NumberId, OperandId, PartId, SegmentId, ShapeId, SpineId, StringId,
    SubscriptionId, TargetId, TestId,
};
pub use image::{NONE, Plan};
pub(crate) use parts::{CompareSome, Part, Step};
pub use program::Request;
pub(crate) use program::{ExprSpec, FormulaSpec, OperandSpec, PartSpec, Patterns, TestSpec};
pub use reader::{ProgramError, Read, Reader};
pub use records::{
    Expr, Formula, FormulaKind, Guard, Operand, OperandKind, Output, Shape, ShapeKind, Spine,
};
pub use requests::{Place, Requested, requests, requests_since};
pub(crate) use symbols::{Symbols, TestsByName, admits};
pub use tier::Tier;
