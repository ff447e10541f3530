//! Headers of stream views: where the interesting nodes of a document are, so that a server can
//! answer its queries from a few bytes instead of parsing.
//!
//! ```text
//! producer:  nodes of the views ─► stamping::Stamping::stamp ─► bytes beside the document
//! server:    bytes ─► header::Header::read ─► router::Router::decide ─► true, false or unknown
//! ```
//!
//! No query text and no file: views and tests are numbers and constants here. A header that does not
//! belong to its document is refused, and then nothing is answered from it.

pub mod dates;
pub mod documents;
pub mod header;
pub mod operators;
pub mod router;
pub mod stamping;
pub mod values;
mod varints;
