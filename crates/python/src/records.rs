//! Witnesses and records for Python.

use penstock_joins::record::Record;
use penstock_kernel::witness;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// What the joins ask a document for, found in one document.
#[pyclass(frozen, module = "penstock._native")]
pub struct Witness {
    pub(crate) inner: witness::Witness,
}

/// The paths that joins ask documents for; a session that listens for them collects witnesses.
#[pyclass(frozen, module = "penstock._native")]
pub struct Paths {
    pub(crate) inner: witness::SharedPaths,
}

/// What a record says: nodes as (start, end, value), bindings as (variable, node), edges as
/// (variable above, variable below, node above, node below).
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn read_record(
    record: &[u8],
) -> PyResult<(
    Vec<(u32, u32, Option<String>)>,
    Vec<(u32, u32)>,
    Vec<[u32; 4]>,
)> {
    let words = words_of(record);
    let record = Record::check(&words).ok_or_else(no_record)?;
    let nodes = (0..record.node_count()).map(|node| {
        let node = record.node(node);
        let value = node
            .value
            .map(|value| String::from_utf8_lossy(value).into_owned());
        (node.span.0, node.span.1, value)
    });
    let edges = record.edges().collect();
    Ok((nodes.collect(), record.bindings().collect(), edges))
}

pub(crate) fn no_record() -> PyErr {
    PyValueError::new_err("these bytes are no record")
}

pub(crate) fn words_of(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.chunks_exact(4);
    words
        .map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}
