//! Sequences of nodes and atomic values: trees, functions, and the evaluation of expressions.
//!
//! The crate receives decoded expressions and nodes of documents, and returns items or bytes. It
//! reads no query text, opens no file and knows no tokenizer: the kernel fills its trees.
//!
//! Modules know those above them in this list and none below:
//!
//! | modules | what they are |
//! | --- | --- |
//! | `stack` | more of the machine's stack where a thread's own ends |
//! | `error` | dynamic errors with the codes of XQuery |
//! | `scope` | namespace declarations in scope |
//! | `names` | names as numbers |
//! | `atomic` | atomic values: types, casts, comparison, arithmetic |
//! | `functions` | built-in functions of atomic values |
//! | `tree` | nodes of documents and of constructors |
//! | `code` | decoded expressions and what is known about them |
//! | `eval` | the evaluation of expressions |

pub mod atomic;
pub mod code;
pub mod error;
pub mod eval;
pub mod functions;
pub mod names;
pub mod scope;
pub mod stack;
pub mod tree;
