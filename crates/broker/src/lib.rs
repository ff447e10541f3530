//! The message broker: many queries of one form over one small document.
//!
//! A query binds the nodes of a path, leaves those for which a condition holds, and says something
//! of each (`query`). The document lies in a `store`; an `index` holds the queries so that values
//! of the document lead to them. What comes out are `answers`: each distinct set of nodes once, each
//! distinct message once, and rows that name messages.
//!
//! The crate reads no query text and no bytes of documents: whoever listens to a tokenizer fills
//! the store, and writes the messages.
//!
//! | modules | what they are |
//! | --- | --- |
//! | `query`, `store` | what is asked, and of what |
//! | `formulas`, `index` | queries taken apart, each distinct part once |
//! | `sets`, `answers` | sets of nodes, and what becomes of them |
//! | `facts`, `keyed` | how a document is asked |
//! | `broker` | working memory for documents of every size |

mod answers;
mod broker;
mod facts;
pub mod formulas;
mod index;
mod keyed;
mod query;
mod sets;
mod store;

pub use answers::{Answers, Pair};
pub use broker::Broker;
pub use facts::Fault;
pub use index::{Entry, Index};
pub use query::{
    Axis, BindingStep, Condition, Constant, Field, Kind, Operator, OutputId, Path, Query, Step,
    TestId,
};
pub use sets::places;
pub use store::{Element, NONE, Store, Values};
