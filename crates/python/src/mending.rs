//! Damaged documents for Python: pieces in, well-formed pieces and what was lost out.

use crate::documents::{Chunk, Failure, failure, read_limits};
use penstock_kernel::mending::{self, Mended, Target};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Mutex;

/// Bytes that were lost: first, one past the last, what was wrong, and they themselves.
type Stretch<'py> = (u64, u64, Failure, Option<Bound<'py, PyBytes>>);
/// The next bytes, what was lost before their end, and where offsets shift.
type Given<'py> = (Bound<'py, PyBytes>, Vec<Stretch<'py>>, Vec<(u64, u64)>);

/// Reads a document in UTF-8 ahead of others and hands on what is well-formed.
#[pyclass(frozen, module = "penstock._native")]
pub struct Mender {
    inner: Mutex<Movable>,
}

/// A mender that may change threads.
struct Movable(mending::Mender);

// SAFETY: the shared pointers inside point only to each other's contents; none is handed out, so
// the whole moves together. The mutex around it admits one thread at a time.
unsafe impl Send for Movable {}

impl Mender {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut mending::Mender) -> T + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            let mut mender = self.inner.lock().ok()?;
            Some(work(&mut mender.0))
        })
        .ok_or_else(|| PyRuntimeError::new_err("an earlier call broke it"))
    }
}

#[pymethods]
impl Mender {
    /// Records have one of the local names, or any, and stand so deep, or anywhere.
    #[new]
    fn new(
        names: Option<Vec<String>>,
        depth: Option<usize>,
        limits: &Bound<'_, PyAny>,
        lost_bytes_max: usize,
    ) -> PyResult<Self> {
        let names = names.map(|names| {
            let bytes = names.into_iter().map(|name| name.into_bytes().into());
            bytes.collect()
        });
        let target = Target { names, depth };
        let inner = mending::Mender::new(target, read_limits(limits)?, lost_bytes_max);
        Ok(Mender {
            inner: Mutex::new(Movable(inner)),
        })
    }

    /// Reads the next bytes of the document.
    fn feed<'py>(&self, py: Python<'py>, piece: &Bound<'py, PyAny>) -> PyResult<Given<'py>> {
        let chunk = Chunk::of(piece)?;
        let raw = chunk.raw();
        Ok(given(py, self.with(py, |mender| mender.feed(raw.bytes()))?))
    }

    /// Ends the document; what is wrong with it if nothing could be mended.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<(Given<'py>, Option<Failure>)> {
        Ok(match self.with(py, mending::Mender::finish)? {
            Ok(mended) => (given(py, mended), None),
            Err(error) => (given(py, Mended::default()), Some(failure(error))),
        })
    }
}

fn given(py: Python<'_>, mended: Mended) -> Given<'_> {
    let stretches = mended.stretches.into_iter().map(|one| {
        let bytes = one.bytes.map(|bytes| PyBytes::new(py, &bytes));
        (one.start, one.end, failure(one.error), bytes)
    });
    let bytes = PyBytes::new(py, &mended.bytes);
    (bytes, stretches.collect(), mended.shifts)
}
