//! Joins for Python: documents and records in, events out.

use crate::images::{image_of, no_image};
use crate::sessions::{Chunk, Failure, failure, read_limits, text_of};
use penstock_joins::bucket::Bucket;
use penstock_joins::joins::{MEMORY_BYTES_MAX, Options, VIEWS_MAX};
use penstock_joins::record::{Part, Record, bytes_of, split};
use penstock_joins::retention::Delay;
use penstock_joins::strategies::Strategy;
use penstock_joins::subscribed::Subscribed;
use penstock_joins::writer::Writer;
use penstock_kernel::witness::{Reader, Witness};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::collections::VecDeque;
use std::sync::Mutex;

struct Inner {
    subscribed: Subscribed,
    reader: Reader,
    hash_bits: u32,
    /// Records that are still to be joined.
    queued: VecDeque<Box<[u32]>>,
}

// SAFETY: the shared pointers inside point only to each other's contents; none is handed out, so
// the whole moves together. The mutex around it admits one thread at a time.
unsafe impl Send for Inner {}

/// The joins of all subscriptions over streams of documents.
#[pyclass(frozen, module = "penstock._native")]
pub struct Joins {
    inner: Mutex<Inner>,
}

impl Joins {
    fn with<T>(&self, work: impl FnOnce(&mut Inner) -> T) -> PyResult<T> {
        let mut guard = self
            .inner
            .lock()
            .map_err(|_| PyRuntimeError::new_err("an earlier call broke these joins"))?;
        Ok(work(&mut guard))
    }
}

impl Inner {
    fn push_queued(&mut self, results_max: usize) -> Option<bool> {
        while self.subscribed.joins.result_count() < results_max {
            let Some(words) = self.queued.pop_front() else {
                return Some(false);
            };
            if !self.subscribed.joins.push(&words) {
                return None;
            }
        }
        Some(!self.queued.is_empty())
    }
}

#[pymethods]
impl Joins {
    #[new]
    #[pyo3(signature = (limits, *, lateness = None, memory_bytes_max = MEMORY_BYTES_MAX, strategy = "shared", views_max = VIEWS_MAX, is_counting = false, hash_bits = 64))]
    fn new(
        limits: &Bound<'_, PyAny>,
        lateness: Option<i64>,
        memory_bytes_max: usize,
        strategy: &str,
        views_max: usize,
        is_counting: bool,
        hash_bits: u32,
    ) -> PyResult<Self> {
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
        let inner = Inner {
            subscribed: Subscribed::new(options),
            reader: Reader::new(read_limits(limits)?),
            hash_bits,
            queued: VecDeque::new(),
        };
        Ok(Joins {
            inner: Mutex::new(inner),
        })
    }

    /// The number of a variable of a stream, or of every stream, if somebody asks for it.
    fn variable(&self, stream: Option<&str>, key: &[u8]) -> PyResult<Option<u32>> {
        self.with(|inner| inner.subscribed.variable(stream, key))
    }

    /// Says that documents of a stream may come this much later than their event time, and how
    /// many absences, one reading from the other, stand before them.
    fn delay_stream(&self, stream: &str, time: i64, depth: u32) -> PyResult<()> {
        self.with(|inner| {
            let stream = inner.subscribed.stream(stream);
            inner.subscribed.joins.delay(stream, Delay { time, depth });
        })
    }

    /// Adds a subscription by its program; it sees documents from a version on.
    fn add(&self, subscription: u32, version: u32, program: &[u8]) -> PyResult<()> {
        self.with(|inner| inner.subscribed.add(subscription, version, program))?
            .map_err(|reason| PyValueError::new_err(reason.to_string()))
    }

    /// Removes a subscription, and with it everything that nobody else asks for.
    fn remove(&self, subscription: u32) -> PyResult<()> {
        self.with(|inner| inner.subscribed.remove(subscription))
    }

    /// The same of the results of a subscription.
    fn delay_of(&self, subscription: u32) -> PyResult<(i64, u32)> {
        let delay = self.with(|inner| inner.subscribed.joins.delay_of(subscription))?;
        Ok((delay.time, delay.depth))
    }

    /// Starts a document of a stream.
    #[pyo3(signature = (stream, encoding = None))]
    fn begin(&self, stream: &str, encoding: Option<&str>) -> PyResult<Option<Failure>> {
        self.with(|inner| {
            let paths = &inner.subscribed.paths;
            inner
                .reader
                .begin(paths, stream, encoding)
                .err()
                .map(failure)
        })
    }

    /// Reads the next bytes.
    fn feed(&self, py: Python<'_>, chunk: &Bound<'_, PyAny>) -> PyResult<Option<Failure>> {
        let chunk = Chunk::of(chunk)?;
        let raw = chunk.raw();
        py.detach(|| self.with(|inner| inner.reader.feed(raw.bytes()).err().map(failure)))
    }

    /// Ends the document: its record, empty if nothing in it joins, or what is wrong with it.
    fn finish<'py>(
        &self,
        py: Python<'py>,
        number: u64,
        document: &str,
        time: i64,
        version: u32,
    ) -> PyResult<(Bound<'py, PyBytes>, Option<Failure>)> {
        let finished = py.detach(|| {
            self.with(|inner| {
                let hash_bits = inner.hash_bits;
                let witness = inner.reader.finish(&inner.subscribed.paths)?;
                let part = Part {
                    number,
                    time,
                    id: document.as_bytes(),
                };
                Ok(record_of(&witness, &part, version, hash_bits))
            })
        })?;
        Ok(match finished {
            Ok(bytes) => (PyBytes::new(py, &bytes), None),
            Err(error) => (PyBytes::new(py, b""), Some(failure(error))),
        })
    }

    /// Whether a document of a time is in time; if so, event time goes on with it.
    fn admit(&self, time: i64) -> PyResult<bool> {
        self.with(|inner| inner.subscribed.joins.admit(time))
    }

    /// Event time goes on: something of this time was seen.
    fn advance(&self, time: i64) -> PyResult<()> {
        self.with(|inner| inner.subscribed.joins.advance(time))
    }

    /// Joins a record with all before it.
    fn push(&self, py: Python<'_>, record: &[u8]) -> PyResult<()> {
        let words = words_of(record);
        let is_record = py.detach(|| self.with(|inner| inner.subscribed.joins.push(&words)))?;
        if is_record { Ok(()) } else { Err(no_record()) }
    }

    /// Lets go what waited in vain and is due first; whether there was any.
    fn release(&self, py: Python<'_>) -> PyResult<bool> {
        py.detach(|| self.with(|inner| inner.subscribed.joins.release()))
    }

    /// Nothing comes any more.
    fn end(&self) -> PyResult<()> {
        self.with(|inner| inner.subscribed.joins.finish())
    }

    /// How many results wait.
    fn result_count(&self) -> PyResult<usize> {
        self.with(|inner| inner.subscribed.joins.result_count())
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
        let results = self.with(|inner| inner.subscribed.joins.take_results())?;
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
        Ok((results.rows, events, documents, texts, results.counted))
    }

    /// Whether memory holds more than it should.
    fn is_over_memory(&self) -> PyResult<bool> {
        self.with(|inner| inner.subscribed.joins.is_over_memory())
    }

    /// Turns what is in memory into an image for the caller to put somewhere and to attach.
    fn seal<'py>(&self, py: Python<'py>) -> PyResult<Option<(u32, Bound<'py, PyBytes>)>> {
        let sealed = py.detach(|| self.with(|inner| inner.subscribed.joins.seal()))?;
        Ok(sealed.map(|(number, image)| (number, PyBytes::new(py, bytes_of(&image)))))
    }

    /// Searches a sealed image where the caller put it.
    fn attach(&self, number: u32, image: &Bound<'_, PyAny>) -> PyResult<()> {
        let (buffer, start, length) = image_of(image)?;
        let is_slice = self.with(|inner| {
            // SAFETY: the buffer is contiguous, aligned and not ours to change; the slice owns it
            // and with it the memory. Whoever maps a file must not shorten it meanwhile.
            unsafe {
                inner
                    .subscribed
                    .joins
                    .attach(number, start, length, Box::new(buffer))
            }
        })?;
        if is_slice { Ok(()) } else { Err(no_image()) }
    }

    /// Numbers of sealed images that are needed no more.
    fn take_dropped(&self) -> PyResult<Vec<u32>> {
        self.with(|inner| inner.subscribed.joins.take_dropped())
    }

    /// Fixes which pairs of variables drive the search: the first of these that a row joins.
    fn pin(&self, pairs: Vec<(u32, u32)>) -> PyResult<()> {
        self.with(|inner| inner.subscribed.joins.pin(&pairs))
    }

    /// The pairs of variables that rows join, those first whose values met least so far.
    fn ranked(&self) -> PyResult<Vec<(u32, u32)>> {
        self.with(|inner| inner.subscribed.joins.ranked())
    }

    /// Forgets all records and begins with those of a bucket, which are to be attached.
    fn enter(&self, number: u32, count: u32) -> PyResult<()> {
        let bucket = Bucket::new(number, count);
        let bucket = bucket.ok_or_else(|| PyValueError::new_err("there is no such bucket"))?;
        self.with(|inner| {
            inner.queued.clear();
            inner.subscribed.joins.enter(bucket);
        })
    }

    /// The buckets that a record belongs to, of so many.
    fn route(&self, record: &[u8], count: u32) -> PyResult<Vec<u32>> {
        let words = words_of(record);
        self.with(|inner| inner.subscribed.joins.route(&words, count))?
            .ok_or_else(no_record)
    }

    /// Finds what a record gives by itself, in no bucket.
    fn report_alone(&self, record: &[u8]) -> PyResult<()> {
        let words = words_of(record);
        let is_record = self.with(|inner| inner.subscribed.joins.report_alone(&words))?;
        if is_record { Ok(()) } else { Err(no_record()) }
    }

    /// Lets records wait that lie one behind the other, in order of time; what was derived from
    /// others once, however often it comes.
    fn queue(&self, records: &[u8], is_derived: bool) -> PyResult<()> {
        let words = words_of(records);
        let mut records = split(&words).ok_or_else(no_record)?;
        records.sort_by_key(|record| (record.time(), record.words()));
        if is_derived {
            records.dedup_by_key(|record| record.words());
        }
        let records = records.iter().map(|record| record.words().into());
        self.with(|inner| inner.queued.extend(records))
    }

    /// Joins what waits until there are so many results; returns whether something still waits.
    fn push_queued(&self, py: Python<'_>, results_max: usize) -> PyResult<bool> {
        let pushed = py.detach(|| self.with(|inner| inner.push_queued(results_max)))?;
        pushed.ok_or_else(no_record)
    }

    /// Partial matches since the last call, as records.
    fn take_partials<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let partials = self.with(|inner| inner.subscribed.joins.take_partials())?;
        let partials = partials.iter();
        Ok(partials
            .map(|words| PyBytes::new(py, bytes_of(words)))
            .collect())
    }

    /// Takes the records that were pushed, as an image for the caller to put somewhere.
    fn write_run<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let image = py.detach(|| self.with(|inner| inner.subscribed.joins.write_run()))?;
        Ok(image.map(|image| PyBytes::new(py, bytes_of(&image))))
    }

    /// Lets go what waited in vain in an attached image until a time in `start..end`, as far as it
    /// is of one depth; returns the time until which the next one waits.
    fn release_run(
        &self,
        py: Python<'_>,
        number: u32,
        start: i64,
        end: i64,
        depth: u32,
    ) -> PyResult<Option<i64>> {
        py.detach(|| {
            self.with(|inner| {
                inner
                    .subscribed
                    .joins
                    .release_run(number, start, end, depth)
            })
        })
    }

    /// The largest depth of an absence.
    fn depth(&self) -> PyResult<u32> {
        self.with(|inner| inner.subscribed.joins.depth())
    }

    /// Whether an attached image turned out to be damaged.
    fn is_damaged(&self) -> PyResult<bool> {
        self.with(|inner| inner.subscribed.joins.is_damaged())
    }

    /// How much there is of what, by name.
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (sizes, paths, variables, steps_taken) = self.with(|inner| {
            let Inner {
                subscribed, reader, ..
            } = inner;
            (
                subscribed.joins.sizes(),
                subscribed.paths.sizes(),
                subscribed.variable_count(),
                reader.steps_taken(),
            )
        })?;
        let counted = PyDict::new(py);
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
            ("steps_taken", steps_taken),
        ] {
            counted.set_item(name, count)?;
        }
        Ok(counted)
    }
}

/// What a record says: nodes as (start, end, value), bindings as (variable, node), edges as
/// (variable above, variable below, node above, node below).
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn read_record(
    record: &[u8],
) -> PyResult<(
    Vec<(u32, u32, Option<String>)>,
    Vec<(u32, u32)>,
    Vec<[u32; 4]>,
)> {
    let words = words_of(record);
    let record = Record::check(&words).ok_or_else(no_record)?;
    let nodes = (0..record.node_count()).map(|node| {
        let node = record.node(node);
        let value = node
            .value
            .map(|value| String::from_utf8_lossy(value).into_owned());
        (node.span.0, node.span.1, value)
    });
    let edges = record.edges().collect();
    Ok((nodes.collect(), record.bindings().collect(), edges))
}

fn no_record() -> PyErr {
    PyValueError::new_err("these bytes are no record")
}

fn record_of(witness: &Witness, part: &Part<'_>, version: u32, hash_bits: u32) -> Vec<u8> {
    let mut writer = Writer::new(part.time, version);
    writer.truncate_hashes(hash_bits);
    let place = writer.part(part);
    for node in &witness.nodes {
        let span = (node.span.start as u32, node.span.end as u32);
        writer.node(place, span, node.value.as_deref(), node.text.as_deref());
    }
    for &(variable, node) in &witness.bindings {
        writer.bind(variable, node);
    }
    for &[upper, lower, above, below] in &witness.edges {
        writer.edge(upper, lower, above, below);
    }
    if writer.is_empty() {
        return Vec::new();
    }
    bytes_of(&writer.finish()).to_vec()
}

pub(crate) fn words_of(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.chunks_exact(4);
    words
        .map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}
