//! Documents in memory: taken in by whoever asks about them, and kept as far as they need it.

mod bundle;
mod collector;
mod descriptions;
mod lists;

pub use bundle::{Bundle, DOCUMENTS_MAX, Docs, Earliest, NEVER, Node, Path, Timed};
pub use collector::{Alphabet, Collector, Needs};
pub use lists::{Lists, between, sort_from};
