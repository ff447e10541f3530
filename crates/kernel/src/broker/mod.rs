//! The message broker: many queries of one form, asked of a small document that is at hand.
//!
//! ```text
//!  events ─► store, record ─► broker of each tier ─► pairs (set of nodes, output) ─► messages
//!           (elements, values)  (crates/broker)                                    (each once)
//! ```
//!
//! Programs that request messages may have a form for the broker. A document that is small and at
//! hand as a whole is asked all of them at once when it has ended; for others their programs are
//! evaluated as those of everybody else are (`message`). Both give the same messages.
//!
//! With another strategy than the default one, operators of plans give groups of lists instead of
//! pairs (`penstock_broker::Operators`); messages are written from those.

mod alphabet;
mod assembling;
mod costs;
mod knowledge;
mod listener;
mod outputs;
mod pieces;
mod program;
mod record;
mod serving;

pub use knowledge::Loops;
pub use program::is_brokered;
pub use serving::Broker;
