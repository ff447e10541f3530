//! One pass over XML bytes: tokens become events, events become matches, matches become fragments.
//!
//! The kernel receives buffers and returns buffers. It opens no file, reads no query text and
//! follows no reference out of a document.

mod circuit;
pub mod counted;
pub mod error;
pub mod events;
mod inverted;
pub mod limits;
pub mod matcher;
pub mod plan;
pub mod serialize;
pub mod session;
mod tables;
pub mod tiers;
pub mod tokenizer;
pub mod usage;
pub mod whole;
pub mod witness;
