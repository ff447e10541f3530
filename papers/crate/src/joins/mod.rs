//! The strategies of *Massively multi-query join processing in publish/subscribe systems* (Hong and
//! others), as finders of rows for the product's joins.

mod mmqjp;
mod sequential;
mod views;

use mmqjp::Templates;
use penstock_joins::finding::Finder;
use penstock_joins::joins::{BATCH_ROWS_MAX, Options, STATE_BYTES_MAX};
use penstock_native::join_states::{JoinState, limits_of};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sequential::Sequential;
use views::Views;

/// So many slices are cached, unless the caller says otherwise.
const VIEWS_MAX: usize = 1 << 16;

/// Joins whose rows are found by `sequential`, `mmqjp` or `views`; all else is the product's.
#[pyfunction]
#[pyo3(signature = (limits = None, *, strategy, lateness = None, state_bytes_max = STATE_BYTES_MAX, batch_rows_max = BATCH_ROWS_MAX, views_max = VIEWS_MAX, is_counting = false, hash_bits = 64))]
#[expect(clippy::too_many_arguments, reason = "in Python they are keywords")]
pub fn join_state(
    py: Python<'_>,
    limits: Option<&Bound<'_, PyAny>>,
    strategy: &str,
    lateness: Option<i64>,
    state_bytes_max: usize,
    batch_rows_max: usize,
    views_max: usize,
    is_counting: bool,
    hash_bits: u32,
) -> PyResult<Py<JoinState>> {
    let finder: Box<dyn Finder> = match strategy {
        "sequential" => Box::<Sequential>::default(),
        "mmqjp" => Box::<Templates>::default(),
        "views" => Box::new(Views::new(views_max)),
        _ => {
            let message = format!("unknown strategy {strategy}");
            return Err(PyValueError::new_err(message));
        }
    };
    let options = Options {
        lateness,
        state_bytes_max,
        batch_rows_max,
        is_counting,
        limits: limits_of(limits)?,
    };
    Py::new(py, JoinState::with_finder(options, hash_bits, finder))
}
