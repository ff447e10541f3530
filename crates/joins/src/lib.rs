//! Witnesses in, joined events out: the value joins of very many subscriptions, together.
//!
//! A document comes as a record of its witnesses. It meets the records before it by value, then
//! pair by pair, and what a pair satisfies becomes an event or, in a chain, a record of its own.
//! No query text, no file: what does not fit into memory leaves as a buffer and comes back as one.

mod absence;
mod bindings;
pub mod bucket;
mod bucketed;
pub mod codes;
mod cursor;
pub mod finding;
mod findings;
mod head;
mod joining;
pub mod joins;
mod meetings;
mod meter;
mod options;
mod pairs;
pub mod plan;
pub mod program;
pub mod progressive;
pub mod record;
pub mod results;
pub mod retention;
pub mod segment;
mod shape;
mod shared;
mod sink;
mod store;
pub mod subscribed;
mod trie;
mod watermark;
pub mod writer;
