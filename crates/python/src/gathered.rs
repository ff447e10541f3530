//! Bindings that a session gathered, for Python.

use penstock_kernel::rows;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;

/// Document, side, number in the loop, values by attribute, fragment.
type Binding<'py> = (
    u32,
    u32,
    u32,
    Vec<(u8, Bound<'py, PyBytes>)>,
    Bound<'py, PyBytes>,
);

/// Bindings of sides, in the order in which they were complete.
#[pyclass(frozen, module = "penstock._native")]
pub struct Gathered {
    pub(crate) inner: Arc<rows::Gathered>,
}

impl Gathered {
    pub(crate) fn of(gathered: rows::Gathered) -> Gathered {
        Gathered {
            inner: Arc::new(gathered),
        }
    }
}

#[pymethods]
impl Gathered {
    fn __len__(&self) -> usize {
        self.inner.len()
    }

    /// The bindings of one side in one document, as document, side and number of them, in the order
    /// of the first.
    fn groups(&self) -> Vec<(u32, u32, u32)> {
        let groups = self.inner.groups().iter();
        let group = |one: &rows::Group| (one.document.0, one.side, one.count);
        groups.map(group).collect()
    }

    /// The bindings: document, side, number in the loop, pairs of attribute and value, and fragment.
    fn bindings<'py>(&self, py: Python<'py>) -> Vec<Binding<'py>> {
        let gathered = &self.inner;
        let binding = |at: usize| {
            let group = gathered.groups()[gathered.group(at)];
            let values = gathered.values(at);
            let values = values.map(|(attribute, value)| (attribute, PyBytes::new(py, value)));
            let fragment: Vec<u8> = gathered.pieces(at).flatten().copied().collect();
            let fragment = PyBytes::new(py, &fragment);
            (
                group.document.0,
                group.side,
                gathered.number(at),
                values.collect(),
                fragment,
            )
        };
        (0..gathered.len()).map(binding).collect()
    }
}
