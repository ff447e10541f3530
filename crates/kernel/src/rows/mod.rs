//! Results, whichever engine writes them.

mod asking;
mod bulk;
mod columns;
mod gathered;
mod matches;
mod messages;
mod selections;
mod spread;

pub use crate::ids::{DocumentId, SubscriptionId};
pub use bulk::BulkRows;
pub use columns::{Beside, RowKind, Rows, TextColumn};
pub(crate) use columns::{Bindings, Mark, Naming, RowHead};
pub use gathered::{Gathered, Group};
pub(crate) use matches::Matches;
pub(crate) use selections::{List, Selected, Selections};
pub use spread::Parts;
