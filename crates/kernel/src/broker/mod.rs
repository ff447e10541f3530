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

mod alphabet;
mod assembling;
mod listener;
mod outputs;
mod pieces;
mod program;
mod record;
mod serving;

pub use alphabet::{Alphabet, Name};
pub use assembling::{Outcome, Unsent, Written, assemble};
pub use listener::Document;
pub use outputs::{Op, Output, Outputs};
pub use pieces::{Pieces, Reading};
pub use program::{Brokered, Content, Part, PieceForm, is_brokered};
pub use record::Record;
pub use serving::Broker;
