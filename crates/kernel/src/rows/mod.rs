//! Results, whichever engine writes them.

mod columns;
mod found;
mod matches;
mod selections;
mod spread;

pub use columns::{Beside, RowKind, Rows, TextColumn};
pub(crate) use columns::{Bindings, Naming, RowHead};
pub use found::Found;
pub(crate) use matches::Matches;
pub(crate) use selections::{List, Selected, Selections};
pub use spread::Parts;
