//! Tables: records as rows, and typed columns that are evaluated at each record.
//!
//! ```text
//!  layout ─► evaluation at a record ─► typed cells ─► a row in JSON ─► columns
//!           (what is known so far)                    (any consumer)   (as Arrow lays them out)
//! ```
//!
//! A record may be evaluated before its document has ended. Every value is therefore known or
//! unknown: a header that was read before the record is known, one that may still come is not, and
//! then the record waits. `message` keeps the nodes that are needed and says when to try again.

mod base64;
mod chains;
mod columns;
mod decimals;
mod evaluate;
mod expressions;
mod json;
mod layout;
mod moments;
mod rows;
mod types;

pub use columns::{Cells, Data, read_rows};
pub use layout::{Column, Content, Layout, OnError, Shape, Type};
pub use rows::{Misfit, Outcome, Writing};
