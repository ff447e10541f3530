//! Documents one after the other, for Python: where each begins.

use crate::documents::Chunk;
use penstock_kernel::cutting;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::Mutex;

/// Finds where documents begin in one stream of bytes.
#[pyclass(frozen, module = "penstock._native")]
pub struct Cutter {
    inner: Mutex<cutting::Cutter>,
}

#[pymethods]
impl Cutter {
    #[new]
    fn new() -> Cutter {
        Cutter {
            inner: Mutex::new(cutting::Cutter::new()),
        }
    }

    /// Reads the next bytes; where further documents begin, and up to where that is certain.
    fn feed(&self, py: Python<'_>, piece: &Bound<'_, PyAny>) -> PyResult<cutting::Cuts> {
        let chunk = Chunk::of(piece)?;
        let raw = chunk.raw();
        py.detach(|| Some(self.inner.lock().ok()?.feed(raw.bytes())))
            .ok_or_else(|| PyRuntimeError::new_err("an earlier call broke it"))
    }
}
