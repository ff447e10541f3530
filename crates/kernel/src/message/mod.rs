//! Messages: queries over sequences, evaluated over the parts of a document that they need.
//!
//! ```text
//!  events ─► states ─► trees, one for each program ─► evaluation ─► rows
//!           (what is kept,   (regions come and go)    (at the end of a region,
//!            by names)                                  and of the document)
//! ```
//!
//! A program says which nodes it needs (its *places*) and which of its parts *gather*: those are
//! evaluated whenever one of their regions is complete, and the memory of the region serves the next
//! one. What is left of the query is evaluated when the document has ended.

mod binding;
mod evaluating;
mod folding;
mod listener;
mod member;
mod names;
mod places;
mod program;
mod recording;
mod serving;
mod states;

pub use evaluating::now;
pub use listener::{Messages, prefix_of};
pub use places::Test;
pub use program::Head;
pub use serving::{Aliases, Failed, error_of, original};
