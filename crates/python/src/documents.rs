//! Documents from Python: their bytes, their limits, and what is wrong with them.

use penstock_kernel::error::{DocumentError, ErrorKind};
use penstock_kernel::limits::Limits;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// What went wrong: code, reason, byte, line, path; the limit, or the code of XQuery, or neither.
pub(crate) type Failure = (
    &'static str,
    String,
    u64,
    u64,
    String,
    Option<&'static str>,
    Option<&'static str>,
);

pub(crate) fn failure(error: DocumentError) -> Failure {
    let (limit, xquery_code) = match error.kind {
        ErrorKind::Limit(name) => (Some(name), None),
        ErrorKind::Query(code) => (None, Some(code)),
        ErrorKind::Malformed | ErrorKind::Interrupted => (None, None),
    };
    (
        error.code,
        error.reason,
        error.byte,
        error.line,
        error.path,
        limit,
        xquery_code,
    )
}

/// Reads the attributes of a `penstock.limits.Limits`.
pub(crate) fn read_limits(limits: &Bound<'_, PyAny>) -> PyResult<Limits> {
    Limits::read(|name| limits.getattr(name)?.extract())
}

/// Bytes of the caller that stay as they are while the interpreter is let go.
pub(crate) enum Chunk<'py> {
    Bytes(Bound<'py, PyBytes>),
    Buffer(PyBuffer<u8>),
    Copy(Vec<u8>),
}

impl<'py> Chunk<'py> {
    pub(crate) fn of(data: &Bound<'py, PyAny>) -> PyResult<Chunk<'py>> {
        if let Ok(bytes) = data.cast::<PyBytes>() {
            return Ok(Chunk::Bytes(bytes.clone()));
        }
        let buffer = PyBuffer::<u8>::get(data)?;
        // Another thread may write to a writable buffer while the interpreter is let go.
        if buffer.readonly() && buffer.is_c_contiguous() {
            Ok(Chunk::Buffer(buffer))
        } else {
            Ok(Chunk::Copy(buffer.to_vec(data.py())?))
        }
    }
}

/// A chunk's bytes, without the interpreter.
pub(crate) struct Raw {
    start: *const u8,
    length: usize,
}

// SAFETY: the memory belongs to a bytes object, a read-only buffer or a vector that the `Chunk`
// keeps alive; nobody writes to it.
unsafe impl Send for Raw {}
unsafe impl Sync for Raw {}

impl Raw {
    pub(crate) fn bytes(&self) -> &[u8] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: see above.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

impl Chunk<'_> {
    pub(crate) fn raw(&self) -> Raw {
        let (start, length) = match self {
            Chunk::Bytes(bytes) => (bytes.as_bytes().as_ptr(), bytes.as_bytes().len()),
            Chunk::Buffer(buffer) => (
                buffer.buf_ptr().cast::<u8>().cast_const(),
                buffer.len_bytes(),
            ),
            Chunk::Copy(bytes) => (bytes.as_ptr(), bytes.len()),
        };
        Raw { start, length }
    }
}
