//! Bindings of several streams in, joined tuples out, while the streams are open.
//!
//! ```text
//!  binding ─► probe the tables of the other streams ─► tuples
//!     │                 in the order of `probing`
//!     ▼
//!  table of its stream ──(memory is full: `policies`)──► pages of the caller
//!                                                          │
//!                       inputs end, or stand still         ▼
//!                                          `clean_up` ─► the tuples that memory missed
//! ```
//!
//! A symmetric hash join of two to eight streams, after Twig'n Join: each pair of streams may have
//! its own equalities, and memory holds as much as its budget allows. Every binding remembers the
//! last arrival that met it in memory. A tuple was found in memory if, and only if, its latest
//! part arrived while all others were there; clean-up finds the others, so nothing comes twice and
//! no results are compared.

mod ahead;
mod binding;
mod block;
mod clean_up;
mod density;
mod graph;
mod matching;
pub mod messages;
mod operator;
mod options;
mod pages;
mod partitions;
pub mod policies;
mod probing;
mod random;
mod search;
mod table;

pub use binding::Binding;
pub use graph::{
    Attribute, Comparison, Equality, GraphFault, JoinGraph, Operator, STREAMS_MAX, StreamId,
    ValueKind,
};
pub use operator::{Fault, Joined, Progressive};
pub use options::{Options, Statistics, StreamStatistics};
pub use pages::{PageFault, PageId, Pages};
