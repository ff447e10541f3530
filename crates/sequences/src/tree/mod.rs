//! Trees of nodes: what the kernel keeps of a document, and what constructors build.
//!
//! Nodes lie in document order in one array; an attribute follows its element. The characters of
//! all text lie in one arena in document order, so the string value of an element is one slice of
//! it, whether its text nodes are kept or not.

mod fill;
mod forest;
mod node;
mod test;
mod walk;

pub use fill::Mark;
pub use forest::{Forest, ForestMark, NodeRef};
pub use node::{Kind, Node, NodeId, Span, Tree};
pub use test::{NameTest, Test, UriTest};
pub use walk::{Axis, Walk};
