//! Segments of records that lie in the caller's memory, as a rule a mapped file.

use crate::watch::away;
use penstock_joins::record::bytes_of;
use penstock_joins::segment::{self, Segment};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// One segment of several, each with the time before which nothing waits in it any more; without
/// what is not needed once the watermark is at `now`.
#[pyfunction]
pub fn merge_segments<'py>(
    py: Python<'py>,
    segments: Vec<(Bound<'py, PyAny>, i64)>,
    now: i64,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut views = Vec::new();
    for (segment, released) in &segments {
        views.push((segment_of(segment)?, *released));
    }
    let merged = away(py, move || segment::merge(&views, now));
    Ok(PyBytes::new(py, bytes_of(&merged.ok_or_else(no_segment)?)))
}

/// What a segment holds: how many records, when the last of them is needed no more, and until when
/// the first one waits.
#[pyfunction]
pub fn read_segment(segment: &Bound<'_, PyAny>) -> PyResult<(usize, i64, Option<i64>)> {
    let segment = segment_of(segment)?;
    let due = (segment.wait_count() > 0).then(|| segment.wait(0).until);
    Ok((segment.record_count(), segment.expires(), due))
}

fn segment_of(data: &Bound<'_, PyAny>) -> PyResult<Segment> {
    let (buffer, start, length) = words_in(data)?;
    // SAFETY: as in `Joins::attach`.
    unsafe { Segment::of_owner(start, length, Box::new(buffer)) }.ok_or_else(no_segment)
}

/// A buffer, where its words are and how many.
pub(crate) fn words_in(data: &Bound<'_, PyAny>) -> PyResult<(PyBuffer<u8>, *const u32, usize)> {
    let buffer = PyBuffer::<u8>::get(data)?;
    let start = buffer.buf_ptr().cast::<u32>().cast_const();
    if !buffer.readonly() || !buffer.is_c_contiguous() || !start.is_aligned() {
        let message = "a segment is a read-only buffer on a word boundary";
        return Err(PyValueError::new_err(message));
    }
    let length = buffer.len_bytes() / 4;
    Ok((buffer, start, length))
}

pub(crate) fn no_segment() -> PyErr {
    PyValueError::new_err("these bytes are no segment of records")
}
