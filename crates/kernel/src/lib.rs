//! One pass over XML bytes: tokens become events, events become matches, matches become fragments.
//!
//! The kernel receives buffers and returns buffers. It opens no file, reads no query text and
//! follows no reference out of a document.
//!
//! Modules know those above them in this list and none below; a test checks it:
//!
//! | modules | what they are |
//! | --- | --- |
//! | `error`, `limits`, `options`, `vocabulary`, `ids` | errors, bounds, choices, axes and operators, types of ids |
//! | `tables`, `small`, `counted` | containers |
//! | `usage`, `ledger` | counters, and bounds on what they count |
//! | `values`, `events` | values of XPath, events of documents |
//! | `serialize` | fragments that stand alone |
//! | `tokenizer` | bytes become events |
//! | `cutting` | documents one after the other in one stream |
//! | `mending` | damaged documents become well-formed |
//! | `source` | the input that is still needed |
//! | `rows` | results, whoever writes them |
//! | `document` | documents in memory |
//! | `plan` | programs become a plan |
//! | `circuit` | evaluates expressions |
//! | `automaton` | evaluates twigs event by event, and drives the circuit |
//! | `trie` | evaluates questions over documents in memory |
//! | `witness` | variables of joins and their nodes |
//! | `tabular` | typed rows of records |
//! | `message` | evaluates queries over sequences, binding by binding |
//! | `broker` | asks small documents many queries of one form |
//! | `session` | chooses engines for plans and documents, and runs them |

pub mod automaton;
pub mod broker;
mod circuit;
pub mod counted;
pub mod cutting;
mod document;
pub mod error;
pub mod events;
pub mod ids;
pub mod ledger;
pub mod limits;
pub mod mending;
mod message;
pub mod options;
pub mod plan;
pub mod rows;
pub mod serialize;
pub mod session;
mod small;
mod source;
mod tables;
pub mod tabular;
pub mod tokenizer;
mod trie;
pub mod usage;
pub mod values;
mod vocabulary;
pub mod witness;
