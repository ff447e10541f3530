//! Joins for Python: records in, events out, with all records in one state.

use crate::batches::text_of;
use crate::documents::{Failure, read_limits};
use crate::records::{Paths, Witness, no_record, words_of};
use crate::segments::{no_segment, words_in};
use crate::watch::{Raised, detached, locked, signals, take_raised};
use penstock_joins::finding::{Finder, Shared};
use penstock_joins::joins::{self, BATCH_ROWS_MAX, Options, STATE_BYTES_MAX};
use penstock_joins::record::{Part, bytes_of};
use penstock_joins::results::Results;
use penstock_joins::retention::Delay;
use penstock_joins::subscribed::Subscribed;
use penstock_joins::writer::record_of;
use penstock_kernel::ledger::{Ledger, Stop};
use penstock_kernel::limits::Limits;
use penstock_kernel::plan::SubscriptionId;
use penstock_kernel::tokenizer::codes;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::sync::{Arc, Mutex};

/// The joins of all subscriptions, wherever their records are.
#[pyclass(frozen, subclass, module = "penstock._native")]
pub struct Joins {
    inner: Mutex<Subscribed>,
    ledger: Arc<Ledger>,
    raised: Raised,
    hash_bits: u32,
}

impl Joins {
    pub(crate) fn new(options: Options, hash_bits: u32, finder: Box<dyn Finder>) -> Joins {
        let (watch, raised) = signals();
        let ledger = Arc::new(Ledger::new(&options.limits, None, Some(watch)));
        let joins = joins::Joins::with_ledger(options, ledger.clone()).with_finder(finder);
        Joins {
            inner: Mutex::new(Subscribed::of(joins)),
            ledger,
            raised,
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

    /// Does something short.
    pub(crate) fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Subscribed) -> T + Send,
    ) -> PyResult<T> {
        locked(py, &self.inner, work)
    }

    /// Does something long, which others may do something beside.
    pub(crate) fn work<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut joins::Joins) -> T + Send,
    ) -> PyResult<T> {
        detached(py, &self.inner, |subscribed| work(&mut subscribed.joins))
    }

    /// The same where all results have to be taken before.
    pub(crate) fn work_alone<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut joins::Joins) -> T + Send,
    ) -> PyResult<T> {
        let done = self.work(py, |joins| (!joins.has_results()).then(|| work(joins)))?;
        done.ok_or_else(still_taking)
    }

    /// What became of work that may have been stopped: what it did, or what limit was passed.
    pub(crate) fn done<T>(&self, done: Result<T, Stop>) -> PyResult<Result<T, Failure>> {
        match done {
            Ok(done) => Ok(Ok(done)),
            Err(Stop::Limit(name)) => Ok(Err(passed(name))),
            Err(Stop::Interrupted) => {
                self.ledger.resume();
                match take_raised(&self.raised) {
                    Some(raised) => Err(raised),
                    None => Ok(Err(interrupted())),
                }
            }
        }
    }
}

/// Somebody joins before all results are taken.
pub(crate) fn still_taking() -> PyErr {
    PyRuntimeError::new_err("results are to be taken before")
}

/// Somebody asked to stop.
fn interrupted() -> Failure {
    let reason = "the joins were interrupted".to_owned();
    (codes::INTERRUPTED, reason, 0, 0, String::new(), None, None)
}

/// A limit was passed while something was joined.
pub(crate) fn passed(name: &'static str) -> Failure {
    let (code, what) = match name {
        "memory_bytes_max" => (codes::MEMORY_BYTES, "takes more memory than"),
        "seconds_max" => (codes::SECONDS, "takes longer than"),
        "results_max" => (codes::RESULTS, "has more results than"),
        _ => (codes::STEPS, "takes more steps than"),
    };
    let reason = format!("joining {what} {name}");
    (code, reason, 0, 0, String::new(), Some(name), None)
}

#[pymethods]
impl Joins {
    /// The number of a variable of a stream, or of every stream, if somebody asks for it.
    fn variable(&self, py: Python<'_>, stream: Option<&str>, key: &[u8]) -> PyResult<Option<u32>> {
        self.with(py, |subscribed| subscribed.variable(stream, key))
    }

    /// Says that documents of a stream may come this much later than their event time, and how
    /// many absences, one reading from the other, stand before them.
    fn delay_stream(&self, py: Python<'_>, stream: &str, time: i64, depth: u32) -> PyResult<()> {
        self.with(py, |subscribed| {
            let stream = subscribed.stream(stream);
            subscribed.joins.delay(stream, Delay { time, depth });
        })
    }

    /// Adds a subscription by its program; it sees documents from a version on.
    fn add(&self, py: Python<'_>, subscription: u32, version: u32, program: &[u8]) -> PyResult<()> {
        let add = |subscribed: &mut Subscribed| {
            let is_free = !subscribed.joins.is_taking();
            is_free.then(|| subscribed.add(SubscriptionId(subscription), version, program))
        };
        self.with(py, add)?
            .ok_or_else(still_taking)?
            .map_err(|reason| PyValueError::new_err(reason.to_string()))
    }

    /// Removes a subscription, and with it everything that nobody else asks for.
    fn remove(&self, py: Python<'_>, subscription: u32) -> PyResult<()> {
        let remove = |subscribed: &mut Subscribed| {
            let is_free = !subscribed.joins.is_taking();
            is_free.then(|| subscribed.remove(SubscriptionId(subscription)))
        };
        self.with(py, remove)?.ok_or_else(still_taking)
    }

    /// The same of the results of a subscription.
    fn delay_of(&self, py: Python<'_>, subscription: u32) -> PyResult<(i64, u32)> {
        let subscription = SubscriptionId(subscription);
        let delay = self.with(py, |subscribed| subscribed.joins.delay_of(subscription))?;
        Ok((delay.time, delay.depth))
    }

    /// What sessions are to listen for; it follows the changes of the subscriptions.
    fn paths(&self, py: Python<'_>) -> PyResult<Paths> {
        let inner = self.with(py, |subscribed| subscribed.paths.clone())?;
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

    /// Joins a record with all before it; what limit it passed, if it did: then it is not joined.
    fn push(&self, py: Python<'_>, record: &[u8]) -> PyResult<Option<Failure>> {
        let words = words_of(record);
        let pushed = self.work(py, |joins| (!joins.is_taking()).then(|| joins.push(words)))?;
        match self.done(pushed.ok_or_else(still_taking)?)? {
            Ok(true) => Ok(None),
            Ok(false) => Err(no_record()),
            Err(failure) => Ok(Some(failure)),
        }
    }

    /// Whether results wait.
    fn has_results(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |subscribed| subscribed.joins.has_results())
    }

    /// Whether results should be taken before others are found.
    fn is_batch_full(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |subscribed| subscribed.joins.is_batch_full())
    }

    /// Forgets the results that wait.
    fn forget_results(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |subscribed| subscribed.joins.forget_results())
    }

    /// Asks to stop whatever is joined now, or next, from any thread; it raises.
    fn interrupt(&self) {
        self.ledger.interrupt();
    }

    /// The next batch of results: (subscription, event) in order; events as (time, ordinal,
    /// documents, nodes), a node as (document of the event, start, end, text, value); documents as
    /// (number, time, id); texts. Then how many events there were, the places of rows that stand
    /// for all that a subscription has beyond its limit, and what limit ended the results, if any.
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
        Vec<u32>,
        Option<Failure>,
    )> {
        let taken = self.work(py, joins::Joins::take_results)?;
        let (results, failure) = match self.done(taken)? {
            Ok(results) => (results, None),
            Err(failure) => (Results::default(), Some(failure)),
        };
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
        let (counted, beyond) = (results.counted, results.passed);
        let rows = results.rows.into_iter();
        let rows = rows.map(|(subscription, event)| (subscription.0, event));
        Ok((
            rows.collect(),
            events,
            documents,
            texts,
            counted,
            beyond,
            failure,
        ))
    }

    /// Searches a segment where the caller put it.
    fn attach(&self, number: u32, segment: &Bound<'_, PyAny>) -> PyResult<()> {
        let (buffer, start, length) = words_in(segment)?;
        let start = Start(start);
        let is_segment = self.with(segment.py(), move |subscribed| {
            let start = start;
            // SAFETY: the buffer is contiguous, aligned and not ours to change; the segment owns
            // it and with it the memory. Whoever maps a file must not shorten it meanwhile.
            unsafe {
                let joins = &mut subscribed.joins;
                joins.attach(number, start.0, length, Box::new(buffer))
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
        let (sizes, paths, variables) = self.with(py, |subscribed| {
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

/// Where the words of a segment begin.
struct Start(*const u32);

// SAFETY: it is only an address; whoever reads there has the buffer that owns it.
unsafe impl Send for Start {}

/// Joins whose records are all here, in memory and in segments that memory was relieved by.
#[pyclass(frozen, extends = Joins, module = "penstock._native")]
pub struct JoinState {}

impl JoinState {
    /// Joins that find rows as a finder does.
    pub fn with_finder(
        options: Options,
        hash_bits: u32,
        finder: Box<dyn Finder>,
    ) -> PyClassInitializer<JoinState> {
        let joins = Joins::new(options, hash_bits, finder);
        PyClassInitializer::from(joins).add_subclass(JoinState {})
    }
}

/// The limits that Python gives, or none.
pub fn limits_of(limits: Option<&Bound<'_, PyAny>>) -> PyResult<Limits> {
    limits.map_or(Ok(Limits::NONE), read_limits)
}

#[pymethods]
impl JoinState {
    #[new]
    #[pyo3(signature = (limits = None, *, lateness = None, state_bytes_max = STATE_BYTES_MAX, batch_rows_max = BATCH_ROWS_MAX, is_counting = false, hash_bits = 64))]
    #[expect(clippy::too_many_arguments, reason = "in Python they are keywords")]
    fn new(
        limits: Option<&Bound<'_, PyAny>>,
        lateness: Option<i64>,
        state_bytes_max: usize,
        batch_rows_max: usize,
        is_counting: bool,
        hash_bits: u32,
    ) -> PyResult<PyClassInitializer<Self>> {
        let options = Options {
            lateness,
            state_bytes_max,
            batch_rows_max,
            is_counting,
            limits: limits_of(limits)?,
        };
        Ok(JoinState::with_finder(
            options,
            hash_bits,
            Box::<Shared>::default(),
        ))
    }

    /// Whether a document of a time is in time; if so, event time advances with it.
    fn admit(this: &Bound<'_, Self>, time: i64) -> PyResult<bool> {
        let joins = this.as_super().get();
        joins.work_alone(this.py(), |joins| joins.admit(time))
    }

    /// Joins a document by its witness with all before it. Returns False if it came too late, and
    /// what limit it passed, if it did: then it is not joined.
    fn join(
        this: &Bound<'_, Self>,
        witness: &Witness,
        number: u64,
        document: &str,
        time: i64,
        version: u32,
    ) -> PyResult<(bool, Option<Failure>)> {
        let joins = this.as_super().get();
        let words = joins.words(witness, number, document, time, version);
        let (is_in_time, pushed) = joins.work_alone(this.py(), |joins| {
            let is_in_time = joins.admit(time);
            let is_joined = is_in_time && !words.is_empty();
            (is_in_time, is_joined.then(|| joins.push(words)))
        })?;
        let failure = match pushed {
            None => None,
            Some(pushed) => joins.done(pushed)?.err(),
        };
        Ok((is_in_time, failure))
    }

    /// Event time advances: something of this time was seen.
    fn advance(this: &Bound<'_, Self>, time: i64) -> PyResult<()> {
        let joins = this.as_super().get();
        joins.work_alone(this.py(), |joins| joins.advance(time))
    }

    /// Reports the absences that are due first. Returns whether there was any, and what limit they
    /// passed, if they did: then they are not reported.
    fn release(this: &Bound<'_, Self>) -> PyResult<(bool, Option<Failure>)> {
        let joins = this.as_super().get();
        let released = joins.work_alone(this.py(), joins::Joins::release)?;
        Ok(match joins.done(released)? {
            Ok(is_any) => (is_any, None),
            Err(failure) => (true, Some(failure)),
        })
    }

    /// Nothing comes any more.
    fn end(this: &Bound<'_, Self>) -> PyResult<()> {
        let joins = this.as_super().get();
        joins.with(this.py(), |subscribed| subscribed.joins.finish())
    }

    /// Whether memory holds more state than it should.
    fn is_over_memory(this: &Bound<'_, Self>) -> PyResult<bool> {
        let joins = this.as_super().get();
        joins.with(this.py(), |subscribed| subscribed.joins.is_over_memory())
    }

    /// Turns what is in memory into a segment for the caller to put somewhere and to attach.
    fn seal<'py>(this: &Bound<'py, Self>) -> PyResult<Option<(u32, Bound<'py, PyBytes>)>> {
        let (py, joins) = (this.py(), this.as_super().get());
        let sealed = joins.work_alone(py, joins::Joins::seal)?;
        Ok(sealed.map(|(number, words)| (number, PyBytes::new(py, bytes_of(&words)))))
    }

    /// Numbers of segments that are needed no more.
    fn take_dropped(this: &Bound<'_, Self>) -> PyResult<Vec<u32>> {
        let joins = this.as_super().get();
        joins.with(this.py(), |subscribed| subscribed.joins.take_dropped())
    }
}
