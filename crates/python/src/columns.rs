//! Memory of the kernel that Python reads in place.

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{c_int, c_void};

/// A finished buffer, read through the buffer protocol without a copy.
#[pyclass(frozen, module = "penstock._native")]
pub struct Column {
    bytes: Vec<u8>,
}

impl Column {
    /// The memory of a vector of plain numbers.
    pub fn of<T: Number>(values: &[T]) -> Column {
        let mut bytes = Vec::with_capacity(std::mem::size_of_val(values));
        for value in values {
            value.append_to(&mut bytes);
        }
        Column { bytes }
    }

    /// Bytes as they are.
    pub fn of_bytes(bytes: Vec<u8>) -> Column {
        Column { bytes }
    }
}

/// Numbers that a column can hold, in the machine's byte order as Arrow wants them.
pub trait Number: Copy {
    /// Appends the number's bytes.
    fn append_to(self, bytes: &mut Vec<u8>);
}

macro_rules! numbers {
    ($($kind:ty),+) => {$(
        impl Number for $kind {
            fn append_to(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_ne_bytes());
            }
        }
    )+};
}
numbers!(u8, u32, i32, i64);

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.bytes.len()
    }

    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
            return Err(PyBufferError::new_err("columns are read-only"));
        }
        let bytes = &slf.get().bytes;
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
