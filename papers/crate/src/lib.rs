//! The algorithms of five papers as they were published, to compare the product with.
//!
//! | modules | what they are |
//! | --- | --- |
//! | `operators`, `broker` | the operators of the paper on message brokering |
//! | `joins` | one by one, MMQJP, and MMQJP over views |
//! | `paths` | YFilter's automaton, and the segments and bitmaps of XPaSS |
//! | `progressive` | flush and probe policies of Twig'n Join |
//!
//! `papers/README.md` has what became of each paper.

pub mod broker;
pub mod joins;
pub mod operators;
pub mod paths;
pub mod progressive;

/// The extension module for `papers.native`, its only importer.
#[pyo3::pymodule]
mod penstock_papers {
    #[pymodule_export]
    use crate::broker::MessageBroker;
    #[pymodule_export]
    use crate::joins::join_state;
    #[pymodule_export]
    use crate::paths::PathMatcher;
    #[pymodule_export]
    use crate::progressive::progressive_join;
}
