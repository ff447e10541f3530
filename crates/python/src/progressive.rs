//! The progressive join for Python: bindings in, tuples out, pages through an object of the caller.

use crate::documents::Failure;
use crate::join_states::{limits_of, passed};
use crate::watch::{Raised, detached, locked, signals, take_raised};
use penstock_joins::progressive::{
    Attribute, Comparison, Equality, Fault, JoinGraph, Joined, Operator, Options, PageFault,
    PageId, Pages, Progressive, StreamId, ValueKind,
};
use penstock_kernel::ledger::{Ledger, Stop};
use penstock_kernel::tokenizer::codes;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use std::sync::{Arc, Mutex};

/// A side of an equality or a comparison: stream and attribute.
pub type Side = (u8, u32);

/// Pages that a Python object keeps.
struct ObjectPages {
    object: Py<PyAny>,
    /// What the object raised last.
    raised: Option<PyErr>,
}

impl ObjectPages {
    fn call<T>(
        &mut self,
        work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T, PageFault> {
        let done = Python::attach(|py| work(self.object.bind(py)));
        done.map_err(|error| {
            let fault = PageFault(error.to_string());
            self.raised = Some(error);
            fault
        })
    }
}

impl Pages for ObjectPages {
    fn write(&mut self, page: &[u8]) -> Result<PageId, PageFault> {
        self.call(|object| {
            let page = PyBytes::new(object.py(), page);
            object.call_method1("write", (page,))?.extract().map(PageId)
        })
    }

    fn read(&mut self, page: PageId) -> Result<Vec<u8>, PageFault> {
        self.call(|object| object.call_method1("read", (page.0,))?.extract())
    }

    fn remove(&mut self, page: PageId) {
        // A page that cannot be removed goes with the file.
        let _ = Python::attach(|py| self.object.call_method1(py, "remove", (page.0,)).map(drop));
    }
}

/// The join, and where its pages go.
struct State {
    join: Progressive,
    pages: ObjectPages,
}

/// The streams of a join and the conditions between them.
pub fn graph_of(
    attributes: Vec<u32>,
    equalities: Vec<(Side, Side)>,
    comparisons: Vec<(Side, String, Side, bool)>,
    within: Option<i64>,
) -> PyResult<JoinGraph> {
    let equalities: Vec<Equality> = equalities
        .into_iter()
        .map(|(left, right)| Equality {
            left: attribute(left),
            right: attribute(right),
        })
        .collect();
    let comparisons: PyResult<Vec<Comparison>> = comparisons.into_iter().map(comparison).collect();
    JoinGraph::new(attributes, &equalities, comparisons?, within)
        .map_err(|fault| PyValueError::new_err(fault.to_string()))
}

/// A symmetric hash join of several streams within a memory budget.
#[pyclass(frozen, module = "penstock._native")]
pub struct ProgressiveJoin {
    inner: Mutex<State>,
    ledger: Arc<Ledger>,
    raised: Raised,
}

impl ProgressiveJoin {
    /// The join that `open` makes with a ledger; its pages go to an object.
    pub fn of(
        pages: Py<PyAny>,
        limits: Option<&Bound<'_, PyAny>>,
        open: impl FnOnce(Arc<Ledger>) -> Progressive,
    ) -> PyResult<Self> {
        let (watch, raised) = signals();
        let mut limits = limits_of(limits)?;
        // The join has a budget of its own, which clean-up may fill at one call.
        limits.memory_bytes_max = u64::MAX >> 1;
        let ledger = Arc::new(Ledger::new(&limits, None, Some(watch)));
        let join = open(ledger.clone());
        let pages = ObjectPages {
            object: pages,
            raised: None,
        };
        Ok(ProgressiveJoin {
            inner: Mutex::new(State { join, pages }),
            ledger,
            raised,
        })
    }

    /// How many bindings came.
    pub(crate) fn arrivals(&self, py: Python<'_>) -> PyResult<u64> {
        locked(py, &self.inner, |state| state.join.arrivals())
    }

    /// Does something long; a limit that was passed is given back, everything else raised.
    pub(crate) fn work<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Progressive, &mut dyn Pages) -> Result<T, Fault> + Send,
    ) -> PyResult<Result<T, Failure>> {
        let (done, raised) = detached(py, &self.inner, |state| {
            let done = work(&mut state.join, &mut state.pages);
            // Results found before a page failed come first; the call after them raises.
            let raised = done.is_err().then(|| state.pages.raised.take());
            (done, raised.flatten())
        })?;
        match done {
            Ok(done) => Ok(Ok(done)),
            Err(Fault::Stopped(Stop::Limit(name))) => Ok(Err(passed(name))),
            Err(fault @ Fault::Stopped(Stop::Interrupted)) => {
                self.ledger.resume();
                let reason = (
                    codes::INTERRUPTED,
                    fault.to_string(),
                    0,
                    0,
                    String::new(),
                    None,
                    None,
                );
                take_raised(&self.raised).map_or(Ok(Err(reason)), Err)
            }
            Err(fault) => Err(raised.unwrap_or_else(|| PyRuntimeError::new_err(fault.to_string()))),
        }
    }
}

#[pymethods]
impl ProgressiveJoin {
    #[new]
    #[pyo3(signature = (pages, attributes, equalities, comparisons, limits = None, *, within = None, partitions = 1024, page_bytes = 40960, state_bytes_max, seed = 0))]
    #[expect(clippy::too_many_arguments, reason = "in Python they are keywords")]
    fn new(
        pages: Py<PyAny>,
        attributes: Vec<u32>,
        equalities: Vec<(Side, Side)>,
        comparisons: Vec<(Side, String, Side, bool)>,
        limits: Option<&Bound<'_, PyAny>>,
        within: Option<i64>,
        partitions: u32,
        page_bytes: usize,
        state_bytes_max: usize,
        seed: u64,
    ) -> PyResult<Self> {
        let graph = graph_of(attributes, equalities, comparisons, within)?;
        let options = Options {
            partitions,
            page_bytes,
            state_bytes_max,
            seed,
            ..Options::default()
        };
        ProgressiveJoin::of(pages, limits, |ledger| {
            Progressive::new(graph, options, ledger)
        })
    }

    /// Joins a binding: its arrival number, or what limit it passed; then it is not joined.
    fn push(
        &self,
        py: Python<'_>,
        stream: u8,
        time: i64,
        values: Vec<Vec<Vec<u8>>>,
        fragment: &[u8],
    ) -> PyResult<(u64, Option<Failure>)> {
        let pushed = self.work(py, |join, pages| {
            let lists: Vec<Vec<&[u8]>> = values
                .iter()
                .map(|list| list.iter().map(Vec::as_slice).collect())
                .collect();
            join.push(StreamId(stream), time, &lists, fragment, pages)
        })?;
        Ok(pushed.map_or_else(|failure| (0, Some(failure)), |arrival| (arrival, None)))
    }

    /// Whether results wait, or have to be found.
    fn has_results(&self, py: Python<'_>) -> PyResult<bool> {
        locked(py, &self.inner, |state| state.join.has_results())
    }

    /// The next results: for each stream arrival number, event time and fragment; and what limit
    /// ended them, if any.
    fn take<'py>(
        &self,
        py: Python<'py>,
        rows_max: usize,
    ) -> PyResult<(Vec<Bound<'py, PyTuple>>, Option<Failure>)> {
        let taken = self.work(py, |join, pages| join.take(rows_max.max(1), pages))?;
        match taken {
            Ok(tuples) => {
                let rows: PyResult<Vec<_>> = tuples.iter().map(|tuple| row(py, tuple)).collect();
                Ok((rows?, None))
            }
            Err(failure) => Ok((Vec::new(), Some(failure))),
        }
    }

    /// No more bindings of a stream come.
    fn end(&self, py: Python<'_>, stream: u8) -> PyResult<()> {
        locked(py, &self.inner, |state| state.join.end(StreamId(stream)))
    }

    /// Begins to find what memory missed so far.
    fn settle(&self, py: Python<'_>) -> PyResult<Option<Failure>> {
        Ok(self.work(py, |join, pages| join.settle(pages))?.err())
    }

    /// All streams have ended: likewise, and nothing is kept.
    fn finish(&self, py: Python<'_>) -> PyResult<Option<Failure>> {
        Ok(self.work(py, |join, pages| join.finish(pages))?.err())
    }

    /// Drops what has an event time before this one.
    fn expire(&self, py: Python<'_>, before: i64) -> PyResult<Option<Failure>> {
        Ok(self
            .work(py, |join, pages| join.expire(before, pages))?
            .err())
    }

    /// Asks to stop whatever is joined now, or next, from any thread; it raises.
    fn interrupt(&self) {
        self.ledger.interrupt();
    }

    /// The counters, by name; those of streams in a list.
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = locked(py, &self.inner, |state| state.join.statistics())?;
        let counts = PyDict::new(py);
        for (name, count) in [
            ("results", all.results),
            ("cleaned", all.cleaned),
            ("probes", all.probes()),
            ("flushes", all.flushes),
            ("pages_written", all.pages_written),
            ("memory_bytes", all.memory_bytes),
        ] {
            counts.set_item(name, count)?;
        }
        let mut streams = Vec::new();
        for stream in &all.streams {
            let one = PyDict::new(py);
            for (name, count) in [
                ("arrived", stream.arrived),
                ("valueless", stream.valueless),
                ("resident", stream.resident),
                ("memory_bytes", stream.memory_bytes),
                ("flushed", stream.flushed),
                ("page_bytes", stream.page_bytes),
                ("probes", stream.probes),
            ] {
                one.set_item(name, count)?;
            }
            streams.push(one);
        }
        counts.set_item("streams", streams)?;
        Ok(counts)
    }
}

fn row<'py>(py: Python<'py>, tuple: &Joined) -> PyResult<Bound<'py, PyTuple>> {
    let parts = tuple
        .iter()
        .map(|part| (part.arrival, part.time, PyBytes::new(py, part.fragment())));
    PyTuple::new(py, parts.collect::<Vec<_>>())
}

fn attribute((stream, number): Side) -> Attribute {
    Attribute {
        stream: StreamId(stream),
        number,
    }
}

fn comparison(
    (left, operator, right, is_number): (Side, String, Side, bool),
) -> PyResult<Comparison> {
    let operator = match operator.as_str() {
        "!=" => Operator::NotEqual,
        "<" => Operator::Less,
        "<=" => Operator::LessOrEqual,
        ">" => Operator::Greater,
        ">=" => Operator::GreaterOrEqual,
        _ => return Err(no_such("comparison", &operator)),
    };
    let kind = if is_number {
        ValueKind::Number
    } else {
        ValueKind::Text
    };
    Ok(Comparison {
        left: attribute(left),
        operator,
        right: attribute(right),
        kind,
    })
}

fn no_such(what: &str, name: &str) -> PyErr {
    PyValueError::new_err(format!("there is no {what} `{name}`"))
}
