//! Documents in memory.

mod bundle;

pub use bundle::{Bundle, DOCUMENTS_MAX, Docs, Earliest, NEVER, Node, Path, Timed};
