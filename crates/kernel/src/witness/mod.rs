//! Witnesses: where the variables of joins lie in a document, for all of them in one go.
//!
//! Joins ask about whole documents and are told nothing before one has ended well-formed, so the
//! document is kept in memory and its variables are looked up there: each distinct step of
//! all paths once, from the top down, with conditions remembered by node. Only steps whose test
//! some node of the document passes are looked at.

mod conditions;
mod evaluation;
mod formulas;
mod listener;
mod nodetests;
mod paths;
mod standalone;
mod symbols;

pub use evaluation::{Witness, WitnessNode};
pub use listener::{SharedPaths, Witnesses};
pub use paths::{PathSizes, Paths, VariableId};
