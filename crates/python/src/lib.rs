//! The native module `penstock._native`.

/// The kernel for `penstock.kernel`, its only importer.
#[pyo3::pymodule]
mod _native {}
