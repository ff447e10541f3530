//! Memory of the kernel that Python reads in place.

use penstock_kernel::rows::{DocumentId, SubscriptionId};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{c_int, c_void};

/// A finished buffer, read through the buffer protocol without a copy.
#[pyclass(frozen, module = "penstock._native")]
pub struct Column {
    memory: Box<dyn Memory>,
}

impl Column {
    /// The memory of a vector of plain numbers.
    pub fn of<T: Number>(values: Vec<T>) -> Column {
        Column {
            memory: Box::new(values),
        }
    }
}

/// Numbers that a column can hold, in the machine's byte order as Arrow wants them.
pub trait Number: Copy + Send + Sync + 'static {}

macro_rules! numbers {
    ($($kind:ty),+) => {$(impl Number for $kind {})+};
}
numbers!(u8, u32, i32, i64, DocumentId, SubscriptionId);

/// A vector of numbers, of whatever kind.
trait Memory: Send + Sync {
    /// Its bytes.
    fn bytes(&self) -> &[u8];
}

impl<T: Number> Memory for Vec<T> {
    fn bytes(&self) -> &[u8] {
        // SAFETY: numbers have no padding, every byte of them is initialised, and u8 has no
        // alignment.
        unsafe {
            std::slice::from_raw_parts(self.as_ptr().cast(), std::mem::size_of_val(&self[..]))
        }
    }
}

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.memory.bytes().len()
    }

    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
            return Err(PyBufferError::new_err("columns are read-only"));
        }
        let bytes = slf.get().memory.bytes();
        // SAFETY: Python passes a view to fill; the bytes belong to a frozen object that the
        // view keeps alive and that never changes them.
        let filled = unsafe {
            ffi::PyBuffer_FillInfo(
                view,
                slf.as_ptr(),
                bytes.as_ptr().cast_mut().cast::<c_void>(),
                bytes.len() as ffi::Py_ssize_t,
                1,
                flags,
            )
        };
        if filled == 0 {
            Ok(())
        } else {
            Err(PyErr::fetch(slf.py()))
        }
    }
}
