//! Joins for Python: records in, events out, with all records in one state.

use crate::batches::text_of;
use crate::records::{Paths, Witness, no_record, words_of};
use crate::segments::{no_segment, words_in};
use penstock_joins::joins::{MEMORY_BYTES_MAX, Options, VIEWS_MAX};
use penstock_joins::record::{Part, bytes_of};
use penstock_joins::retention::Delay;
use penstock_joins::strategies::Strategy;
use penstock_joins::subscribed::Subscribed;
use penstock_joins::writer::record_of;
use penstock_kernel::plan::SubscriptionId;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::sync::Mutex;

/// The joins of all subscriptions, wherever their records are.
#[pyclass(frozen, subclass, module = "penstock._native")]
pub struct Joins {
    inner: Mutex<Subscribed>,
    hash_bits: u32,
}

impl Joins {
    pub(crate) fn new(options: Options, hash_bits: u32) -> Joins {
        Joins {
            inner: Mutex::new(Subscribed::new(options)),
            hash_bits,
        }
    }

    /// The words of a record.
    fn words(
        &self,
        witness: &Witness,
        number: u64,
        document: &str,
        time: i64,
        version: u32,
    ) -> Vec<u32> {
        let id = document.as_bytes();
        let part = Part { number, time, id };
        record_of(&witness.inner, &part, version, self.hash_bits)
    }

    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Subscribed) -> T) -> PyResult<T> {
        let mut guard = self
            .inner
            .lock()
            .map_err(|_| PyRuntimeError::new_err("an earlier call broke these joins"))?;
        Ok(work(&mut guard))
    }
}

#[pymethods]
impl Joins {
    /// The number of a variable of a stream, or of every stream, if somebody asks for it.
    fn variable(&self, stream: Option<&str>, key: &[u8]) -> PyResult<Option<u32>> {
        self.with(|subscribed| subscribed.variable(stream, key))
    }

    /// Says that documents of a stream may come this much later than their event time, and how
    /// many absences, one reading from the other, stand before them.
    fn delay_stream(&self, stream: &str, time: i64, depth: u32) -> PyResult<()> {
        self.with(|subscribed| {
            let stream = subscribed.stream(stream);
            subscribed.joins.delay(stream, Delay { time, depth });
        })
    }

    /// Adds a subscription by its program; it sees documents from a version on.
    fn add(&self, subscription: u32, version: u32, program: &[u8]) -> PyResult<()> {
        self.with(|subscribed| subscribed.add(SubscriptionId(subscription), version, program))?
            .map_err(|reason| PyValueError::new_err(reason.to_string()))
    }

    /// Removes a subscription, and with it everything that nobody else asks for.
    fn remove(&self, subscription: u32) -> PyResult<()> {
        self.with(|subscribed| subscribed.remove(SubscriptionId(subscription)))
    }

    /// The same of the results of a subscription.
    fn delay_of(&self, subscription: u32) -> PyResult<(i64, u32)> {
        let delay =
            self.with(|subscribed| subscribed.joins.delay_of(SubscriptionId(subscription)))?;
        Ok((delay.time, delay.depth))
    }

    /// What sessions are to listen for; it follows the changes of the subscriptions.
    fn paths(&self) -> PyResult<Paths> {
        let inner = self.with(|subscribed| subscribed.paths.clone())?;
        Ok(Paths { inner })
    }

    /// The record of a document's witness, empty if nothing in it joins.
    fn record<'py>(
        &self,
        py: Python<'py>,
        witness: &Witness,
        number: u64,
        document: &str,
        time: i64,
        version: u32,
    ) -> Bound<'py, PyBytes> {
        let words = self.words(witness, number, document, time, version);
        PyBytes::new(py, bytes_of(&words))
    }

    /// Joins a record with all before it.
    fn push(&self, py: Python<'_>, record: &[u8]) -> PyResult<()> {
        let words = words_of(record);
        let is_record = py.detach(|| self.with(|subscribed| subscribed.joins.push(&words)))?;
        if is_record { Ok(()) } else { Err(no_record()) }
    }

    /// How many results wait.
    fn result_count(&self) -> PyResult<usize> {
        self.with(|subscribed| subscribed.joins.result_count())
    }

    /// The results since the last call: (subscription, event) in order; events as (time, ordinal,
    /// documents, nodes), a node as (document of the event, start, end, text, value); documents as
    /// (number, time, id); texts. Last, how many events there were.
    #[allow(clippy::type_complexity)]
    fn take<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(
        Vec<(u32, u32)>,
        Bound<'py, PyList>,
        Bound<'py, PyList>,
        Bound<'py, PyList>,
        u64,
    )> {
        let results = self.with(|subscribed| subscribed.joins.take_results())?;
        let (events, documents, texts) = (PyList::empty(py), PyList::empty(py), PyList::empty(py));
        for event in 0..results.event_count() {
            let nodes = results.nodes(event).iter();
            let nodes: Vec<_> = nodes
                .map(|node| (node.part, node.span.0, node.span.1, node.text, node.value))
                .collect();
            events.append((
                results.time(event),
                results.number(event),
                results.parts(event).to_vec(),
                nodes,
            ))?;
        }
        for (number, time, id) in &results.documents {
            documents.append((*number, *time, text_of(py, id)))?;
        }
        for text in &results.texts {
            texts.append(text_of(py, text))?;
        }
        let rows = results.rows.into_iter();
        let rows = rows.map(|(subscription, event)| (subscription.0, event));
        Ok((rows.collect(), events, documents, texts, results.counted))
    }

    /// Searches a segment where the caller put it.
    fn attach(&self, number: u32, segment: &Bound<'_, PyAny>) -> PyResult<()> {
        let (buffer, start, length) = words_in(segment)?;
        let is_segment = self.with(|subscribed| {
            // SAFETY: the buffer is contiguous, aligned and not ours to change; the segment owns
            // it and with it the memory. Whoever maps a file must not shorten it meanwhile.
            unsafe {
                let joins = &mut subscribed.joins;
                joins.attach(number, start, length, Box::new(buffer))
            }
        })?;
        if is_segment {
            Ok(())
        } else {
            Err(no_segment())
        }
    }

    /// How much there is of what, by name.
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (sizes, paths, variables) = self.with(|subscribed| {
            let paths = subscribed.paths.read().sizes();
            (subscribed.joins.sizes(), paths, subscribed.variable_count())
        })?;
        let counts = PyDict::new(py);
        for (name, count) in [
            ("documents", sizes.documents),
            ("records", sizes.records as u64),
            ("memory_bytes", sizes.memory_bytes as u64),
            ("rows", sizes.rows as u64),
            ("shapes", sizes.shapes as u64),
            ("waiting", sizes.waiting as u64),
            ("pairs", sizes.pairs as u64),
            ("nodes", sizes.nodes as u64),
            ("variables", variables as u64),
            ("edges", paths.edges as u64),
            ("steps", paths.steps as u64),
            ("formulas", paths.formulas as u64),
            ("tests", paths.tests as u64),
        ] {
            counts.set_item(name, count)?;
        }
        Ok(counts)
    }
}

/// Joins whose records are all here, in memory and in segments that memory was relieved by.
#[pyclass(frozen, extends = Joins, module = "penstock._native")]
pub struct JoinState {}

impl JoinState {
    fn with<T>(this: &Bound<'_, Self>, work: impl FnOnce(&mut Subscribed) -> T) -> PyResult<T> {
        this.as_super().get().with(work)
    }
}

#[pymethods]
impl JoinState {
    #[new]
    #[pyo3(signature = (*, lateness = None, memory_bytes_max = MEMORY_BYTES_MAX, strategy = "shared", views_max = VIEWS_MAX, is_counting = false, hash_bits = 64))]
    fn new(
        lateness: Option<i64>,
        memory_bytes_max: usize,
        strategy: &str,
        views_max: usize,
        is_counting: bool,
        hash_bits: u32,
    ) -> PyResult<PyClassInitializer<Self>> {
        let strategy = match strategy {
            "shared" => Strategy::Shared,
            "sequential" => Strategy::Sequential,
            "mmqjp" => Strategy::Mmqjp,
            "views" => Strategy::Views,
            _ => {
                let message = format!("there is no strategy `{strategy}`");
                return Err(PyValueError::new_err(message));
            }
        };
        let options = Options {
            lateness,
            memory_bytes_max,
            strategy,
            views_max,
            is_counting,
        };
        Ok(PyClassInitializer::from(Joins::new(options, hash_bits)).add_subclass(JoinState {}))
    }

    /// Whether a document of a time is in time; if so, event time advances with it.
    fn admit(this: &Bound<'_, Self>, time: i64) -> PyResult<bool> {
        JoinState::with(this, |subscribed| subscribed.joins.admit(time))
    }

    /// Joins a document by its witness with all before it; returns False if it came too late.
    fn join(
        this: &Bound<'_, Self>,
        witness: &Witness,
        number: u64,
        document: &str,
        time: i64,
        version: u32,
    ) -> PyResult<bool> {
        let joins = this.as_super().get();
        let words = joins.words(witness, number, document, time, version);
        let join = |subscribed: &mut Subscribed| {
            let is_in_time = subscribed.joins.admit(time);
            if is_in_time && !words.is_empty() {
                subscribed.joins.push(&words);
            }
            is_in_time
        };
        this.py().detach(|| joins.with(join))
    }

    /// Event time advances: something of this time was seen.
    fn advance(this: &Bound<'_, Self>, time: i64) -> PyResult<()> {
        JoinState::with(this, |subscribed| subscribed.joins.advance(time))
    }

    /// Reports the absences that are due first; whether there was any.
    fn release(this: &Bound<'_, Self>) -> PyResult<bool> {
        let joins = this.as_super().get();
        this.py()
            .detach(|| joins.with(|subscribed| subscribed.joins.release()))
    }

    /// Nothing comes any more.
    fn end(this: &Bound<'_, Self>) -> PyResult<()> {
        JoinState::with(this, |subscribed| subscribed.joins.finish())
    }

    /// Whether memory holds more than it should.
    fn is_over_memory(this: &Bound<'_, Self>) -> PyResult<bool> {
        JoinState::with(this, |subscribed| subscribed.joins.is_over_memory())
    }

    /// Turns what is in memory into a segment for the caller to put somewhere and to attach.
    fn seal<'py>(this: &Bound<'py, Self>) -> PyResult<Option<(u32, Bound<'py, PyBytes>)>> {
        let (py, joins) = (this.py(), this.as_super().get());
        let sealed = py.detach(|| joins.with(|subscribed| subscribed.joins.seal()))?;
        Ok(sealed.map(|(number, words)| (number, PyBytes::new(py, bytes_of(&words)))))
    }

    /// Numbers of segments that are needed no more.
    fn take_dropped(this: &Bound<'_, Self>) -> PyResult<Vec<u32>> {
        JoinState::with(this, |subscribed| subscribed.joins.take_dropped())
    }
}
