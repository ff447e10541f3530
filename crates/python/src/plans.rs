//! Plans for Python.

use penstock_kernel::plan::{self, Builder};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use std::sync::Arc;

/// Many programs interned together.
#[pyclass(frozen, module = "penstock._native")]
pub struct Plan {
    pub(crate) inner: Arc<plan::Plan>,
}

#[pymethods]
impl Plan {
    /// Interns programs; their places in the list are the numbers of the subscriptions.
    #[staticmethod]
    fn build(py: Python<'_>, programs: Vec<PyBackedBytes>) -> PyResult<Plan> {
        py.detach(|| {
            let mut builder = Builder::new();
            for (number, program) in programs.iter().enumerate() {
                builder
                    .add(number as u32, program)
                    .map_err(|reason| PyValueError::new_err(reason.to_string()))?;
            }
            Ok(Plan {
                inner: Arc::new(builder.freeze()),
            })
        })
    }

    /// Takes an image back. A read-only buffer, such as a mapped file, is used where it lies.
    #[staticmethod]
    fn load(image: &Bound<'_, PyAny>) -> PyResult<Plan> {
        let buffer = PyBuffer::<u8>::get(image)?;
        let start = buffer.buf_ptr().cast::<u32>().cast_const();
        let is_usable = buffer.readonly() && buffer.is_c_contiguous() && start.is_aligned();
        let inner = if is_usable {
            // SAFETY: the buffer is contiguous, aligned and not ours to change; the plan owns it
            // and with it the memory. Whoever maps a file must not shorten it meanwhile.
            unsafe {
                let words = std::slice::from_raw_parts(start, buffer.len_bytes() / 4);
                plan::Plan::from_owner(words, Box::new(buffer))
            }
        } else {
            let bytes = buffer.to_vec(image.py())?;
            let words = bytes.chunks_exact(4);
            let words = words.map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]));
            plan::Plan::from_words(words.collect())
        };
        let inner = inner.map_err(PyValueError::new_err)?;
        Ok(Plan {
            inner: Arc::new(inner),
        })
    }

    /// The plan as bytes; `load` takes them back.
    fn image<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes: Vec<u8> = self
            .inner
            .words()
            .iter()
            .flat_map(|word| word.to_ne_bytes())
            .collect();
        PyBytes::new(py, &bytes)
    }

    /// How many spine steps, formulas, guards and targets the plan has.
    fn sizes(&self) -> (u32, u32, u32, u32) {
        let plan = &self.inner;
        (
            plan.spine_count(),
            plan.formula_count(),
            plan.guard_count(),
            plan.target_count(),
        )
    }

    /// The subscriptions that share a target.
    fn subscriptions(&self, target: u32) -> PyResult<Vec<u32>> {
        if target >= self.inner.target_count() {
            return Err(PyValueError::new_err("there is no such target"));
        }
        Ok(self.inner.target(target).1.to_vec())
    }
}
