//! Images of records that lie in somebody's memory, a mapped file as a rule.

use penstock_joins::record::bytes_of;
use penstock_joins::slice::{self, Slice};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// One image of several, each with the time before which nothing waits in it any more; without what
/// is not needed once the watermark is at `now`.
#[pyfunction]
pub fn merge_runs<'py>(
    py: Python<'py>,
    images: Vec<(Bound<'py, PyAny>, i64)>,
    now: i64,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut slices = Vec::new();
    for (image, released) in &images {
        slices.push((slice_of(image)?, *released));
    }
    let merged = py.detach(move || slice::merge(&slices, now));
    Ok(PyBytes::new(py, bytes_of(&merged.ok_or_else(no_image)?)))
}

/// What an image holds: records, when the last of them is needed no more, and until when the first
/// one waits.
#[pyfunction]
pub fn read_run(image: &Bound<'_, PyAny>) -> PyResult<(usize, i64, Option<i64>)> {
    let slice = slice_of(image)?;
    let due = (slice.wait_count() > 0).then(|| slice.wait(0).until);
    Ok((slice.record_count(), slice.expires(), due))
}

fn slice_of(image: &Bound<'_, PyAny>) -> PyResult<Slice> {
    let (buffer, start, length) = image_of(image)?;
    // SAFETY: as in `attach`.
    unsafe { Slice::of_owner(start, length, Box::new(buffer)) }.ok_or_else(no_image)
}

/// A buffer, where its words are and how many.
pub(crate) fn image_of(image: &Bound<'_, PyAny>) -> PyResult<(PyBuffer<u8>, *const u32, usize)> {
    let buffer = PyBuffer::<u8>::get(image)?;
    let start = buffer.buf_ptr().cast::<u32>().cast_const();
    if !buffer.readonly() || !buffer.is_c_contiguous() || !start.is_aligned() {
        let message = "an image is a read-only buffer on a word boundary";
        return Err(PyValueError::new_err(message));
    }
    let length = buffer.len_bytes() / 4;
    Ok((buffer, start, length))
}

pub(crate) fn no_image() -> PyErr {
    PyValueError::new_err("these bytes are no image of records")
}
