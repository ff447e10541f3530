//! From bindings that sessions gather to rows of messages, without a step per binding elsewhere.
//!
//! ```text
//!  Gathered ─► Feeder ─► Progressive ─► tuples ─► Messages ─► MessageRows
//!                │                                   │
//!         Selections: which subscriptions    Outline: constant bytes, and
//!         a binding is for                   pieces of the bindings' fragments
//! ```
//!
//! A fragment holds what a message needs of a binding: where it comes from, the subscriptions that
//! selected it, and pieces, which were evaluated when the binding was complete.

mod feeding;
mod fragment;
mod outline;
mod rows;
mod selections;

pub use feeding::{Cursor, Failing, Feeder, Origin, Tuples};
pub use fragment::Fragment;
pub use outline::OutlineError;
pub use rows::{MessageRows, Messages};
pub use selections::{Condition, Selection, Selections};
