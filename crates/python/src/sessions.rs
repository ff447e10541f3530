//! Sessions for Python: documents in, batches out.

use crate::batches::{Batch, text_of};
use crate::documents::{Chunk, Failure, Raw, failure, read_limits};
use crate::plans::Plan;
use crate::records::Paths;
use crate::watch::{Raised, away, detached, locked, signals, take_raised};
use penstock_kernel::error::{DocumentError, ErrorKind};
use penstock_kernel::ids::SubscriptionId;
use penstock_kernel::ledger::{Ledger, with_stack};
use penstock_kernel::options::Options;
use penstock_kernel::rows::DocumentId;
use penstock_kernel::session::{self, Document, Outcome};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyDict, PyList};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

/// A session that may change threads.
struct Movable(session::Session);

// SAFETY: the shared pointers inside a session point only to each other's contents; none is
// handed out, so the whole moves together. The mutex around it admits one thread at a time.
unsafe impl Send for Movable {}

/// One document after the other, against one plan.
#[pyclass(frozen, module = "penstock._native")]
pub struct Session {
    inner: Mutex<Movable>,
    ledger: Arc<Ledger>,
    raised: Raised,
}

impl Session {
    /// A short look at the session.
    fn with<T: Send>(&self, work: impl FnOnce(&mut session::Session) -> T + Send) -> PyResult<T> {
        Python::attach(|py| locked(py, &self.inner, |movable| work(&mut movable.0)))
    }

    /// Work without the interpreter, which is stopped by signals.
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut session::Session) -> Result<T, DocumentError> + Send,
    ) -> PyResult<Result<T, Failure>> {
        match detached(py, &self.inner, |movable| work(&mut movable.0))? {
            Err(error) if error.kind == ErrorKind::Interrupted => match take_raised(&self.raised) {
                Some(raised) => {
                    self.ledger.resume();
                    Err(raised)
                }
                None => Ok(Err(failure(error))),
            },
            done => Ok(done.map_err(failure)),
        }
    }

    /// Reads whole documents, whose numbers begin with `first`; see `read`.
    fn read_all<'a>(
        &self,
        py: Python<'_>,
        first: u32,
        with_times: bool,
        documents: impl FnOnce() -> Vec<Document<'a>> + Send,
    ) -> PyResult<(usize, Vec<(u32, Failure)>)> {
        let at = now();
        let verdicts = self.run(py, |session| session.read(&documents(), with_times, at))?;
        let verdicts = match verdicts {
            Ok(verdicts) => verdicts,
            Err(failure) => return Ok((0, vec![(first, failure)])),
        };
        let is_read = |verdict: &Result<Outcome, _>| !matches!(verdict, Ok(Outcome::Large));
        let count = verdicts.iter().filter(|verdict| is_read(verdict)).count();
        let numbered = verdicts.into_iter().zip(first..);
        let failures =
            numbered.filter_map(|(verdict, number)| Some((number, failure(verdict.err()?))));
        Ok((count, failures.collect()))
    }
}

#[pymethods]
impl Session {
    #[new]
    #[pyo3(signature = (plan, limits, seconds_max, *, in_document_order, in_parts, is_traced, is_live, cache_bytes_max, questions_min, streams))]
    #[expect(clippy::too_many_arguments, reason = "in Python they are keywords")]
    fn new(
        plan: &Plan,
        limits: &Bound<'_, PyAny>,
        seconds_max: Option<f64>,
        in_document_order: bool,
        in_parts: bool,
        is_traced: bool,
        is_live: bool,
        cache_bytes_max: usize,
        questions_min: Option<u32>,
        streams: Vec<(String, String)>,
    ) -> PyResult<Self> {
        let options = Options {
            in_document_order,
            in_parts,
            is_traced,
            is_live,
            cache_bytes_max,
            questions_min,
        };
        let limits = read_limits(limits)?;
        let (watch, raised) = signals();
        let duration_max = seconds_max.map(Duration::from_secs_f64);
        let ledger = Arc::new(Ledger::new(&limits, duration_max, Some(watch)));
        let tiers = plan.tiers.clone();
        let streams = streams.into_iter();
        let streams: Vec<_> = streams
            .map(|(name, stream)| (name.into(), stream.into()))
            .collect();
        let inner = with_stack(|| {
            let mut session = session::Session::new(tiers, limits, options, ledger.clone());
            if !streams.is_empty() {
                session.name_streams(streams);
            }
            session
        });
        Ok(Session {
            inner: Mutex::new(Movable(inner)),
            ledger,
            raised,
        })
    }

    /// What the broker holds once for all queries that it serves, and how much of it.
    fn broker_counts(&self) -> PyResult<Vec<(&'static str, usize)>> {
        self.with(|session| session.broker_counts())
    }

    /// Asks to stop what is under way, from any thread, and all that comes until `clear`.
    fn interrupt(&self) {
        self.ledger.interrupt();
    }

    /// Gives subscriptions nothing from the next document on; all others get their rows.
    fn suspend(&self, subscriptions: Vec<u32>) -> PyResult<()> {
        let subscriptions = subscriptions.into_iter().map(SubscriptionId).collect();
        self.with(|session| session.suspend(subscriptions))
    }

    /// The subscription that most of the work on the last document was done for, if it was stopped.
    fn blamed(&self) -> PyResult<Option<u32>> {
        let blamed = self.with(|session| session.blamed())?;
        Ok(blamed.map(|subscription| subscription.0))
    }

    /// Goes on with another plan, between two documents.
    fn adopt(&self, py: Python<'_>, plan: &Plan) -> PyResult<()> {
        away(py, || {
            self.with(|session| session.adopt(plan.tiers.clone()))
        })
    }

    /// Goes on with another plan in the middle of a document of a live session.
    fn attach(&self, py: Python<'_>, plan: &Plan) -> PyResult<Option<Failure>> {
        Ok(self
            .run(py, |session| session.attach(plan.tiers.clone()))?
            .err())
    }

    /// By tier, in the middle of a document: 0 if its subscriptions keep their numbers, 1 if it
    /// stays, 2 if it may become part of another.
    fn tier_states(&self) -> PyResult<Vec<u8>> {
        let states = self.with(|session| session.tier_states())?;
        Ok(states.into_iter().map(|state| state as u8).collect())
    }

    /// Goes on with another plan in the middle of a document, where the tier at a place takes over
    /// from those that are no longer there: its subscriptions had these numbers. Returns whether
    /// that could be done.
    fn merge(
        &self,
        py: Python<'_>,
        plan: &Plan,
        place: usize,
        numbers: Vec<u32>,
    ) -> PyResult<(bool, Option<Failure>)> {
        let merged = self.run(py, |session| {
            session.merge(plan.tiers.clone(), place, &numbers)
        })?;
        Ok(merged.map_or_else(|failure| (false, Some(failure)), |done| (done, None)))
    }

    /// Collects the witnesses of joins from the next document on, or no more.
    fn listen(&self, paths: Option<&Paths>) -> PyResult<()> {
        let paths = paths.map(|paths| paths.inner.clone());
        self.with(|session| session.listen(paths))
    }

    /// Starts a document of a stream, whose rows carry a number.
    #[pyo3(signature = (encoding = None, stream = "default", number = 0))]
    fn begin(
        &self,
        py: Python<'_>,
        encoding: Option<&str>,
        stream: &str,
        number: u32,
    ) -> PyResult<Option<Failure>> {
        let document = DocumentId(number);
        Ok(self
            .run(py, |session| session.begin(encoding, stream, document))?
            .err())
    }

    /// Reads the next bytes from a place of a chunk on, until so many rows wait that they should be
    /// taken. Returns where to go on, or what is wrong; rows can be taken in any case.
    #[pyo3(signature = (chunk, start = 0))]
    fn feed(
        &self,
        py: Python<'_>,
        chunk: &Bound<'_, PyAny>,
        start: usize,
    ) -> PyResult<(usize, Option<Failure>)> {
        let chunk = Chunk::of(chunk)?;
        let raw = chunk.raw();
        let bytes = raw.bytes();
        let start = start.min(bytes.len());
        let fed = self.run(py, |session| session.feed(&bytes[start..]))?;
        Ok(match fed {
            Ok(read) => (start + read, None),
            Err(failure) => (start, Some(failure)),
        })
    }

    /// Ends the document.
    fn finish(&self, py: Python<'_>) -> PyResult<Option<Failure>> {
        Ok(self.run(py, session::Session::finish)?.err())
    }

    /// Ends a document whose bytes cannot be had any more; rows that are finished stay.
    fn abandon(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.with(session::Session::abandon))
    }

    /// Ends the document under way, drops all that waits to be taken, and takes back `interrupt`.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self.ledger.resume();
        py.detach(|| self.with(session::Session::clear))
    }

    /// Reads whole documents: bytes, encoding if it overrides what the document says of itself, and
    /// stream. Their rows carry numbers from `first` on. Returns how many were read, and what went
    /// wrong, by number. The first that has too many rows to be read as a whole is not read, and
    /// none behind it.
    #[pyo3(signature = (documents, first, *, with_times = true))]
    fn read(
        &self,
        py: Python<'_>,
        documents: Vec<(Bound<'_, PyAny>, Option<PyBackedStr>, PyBackedStr)>,
        first: u32,
        with_times: bool,
    ) -> PyResult<(usize, Vec<(u32, Failure)>)> {
        let chunks = documents.iter().map(|(data, ..)| Chunk::of(data));
        let chunks = chunks.collect::<PyResult<Vec<_>>>()?;
        let names: Vec<(Option<&str>, &str)> = documents
            .iter()
            .map(|(_, encoding, stream)| (encoding.as_deref(), &**stream))
            .collect();
        let raw: Vec<Raw> = chunks.iter().map(Chunk::raw).collect();
        self.read_all(py, first, with_times, || {
            let numbered = raw.iter().zip(&names).zip(first..);
            let documents = numbered.map(|((raw, &(encoding, stream)), number)| Document {
                id: DocumentId(number),
                bytes: raw.bytes(),
                encoding,
                stream,
            });
            documents.collect()
        })
    }

    /// The same for documents that lie behind each other: each from one bound to the next.
    #[pyo3(signature = (data, bounds, first, encoding = None, streams = None, *, with_times = true))]
    #[expect(clippy::too_many_arguments, reason = "in Python some are keywords")]
    fn read_adjacent(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        bounds: Vec<usize>,
        first: u32,
        encoding: Option<&str>,
        streams: Option<Vec<PyBackedStr>>,
        with_times: bool,
    ) -> PyResult<(usize, Vec<(u32, Failure)>)> {
        let chunk = Chunk::of(data)?;
        let raw = chunk.raw();
        let is_ascending = bounds.windows(2).all(|pair| pair[0] <= pair[1]);
        let is_inside = bounds.last().is_none_or(|&end| end <= raw.bytes().len());
        let count = bounds.len().saturating_sub(1);
        let is_named = streams.as_ref().is_none_or(|all| all.len() == count);
        if !(is_ascending && is_inside && is_named) {
            return Err(PyValueError::new_err("these are no bounds of documents"));
        }
        let stream_of = |place: usize| match &streams {
            Some(streams) => &*streams[place],
            None => "default",
        };
        self.read_all(py, first, with_times, || {
            let numbered = bounds.windows(2).enumerate().zip(first..);
            let documents = numbered.map(|((place, pair), number)| Document {
                id: DocumentId(number),
                bytes: &raw.bytes()[pair[0]..pair[1]],
                encoding,
                stream: stream_of(place),
            });
            documents.collect()
        })
    }

    /// Whether nothing that may follow in the document that is fed would add a row.
    fn is_decided(&self) -> PyResult<bool> {
        self.with(|session| session.is_decided())
    }

    /// By tier: questions that are asked of small documents at hand, targets that are matched
    /// even there.
    fn structures(&self) -> PyResult<Vec<(u32, u32)>> {
        self.with(|session| session.structures())
    }

    /// What listeners for messages make, in a word: distinct programs, subscriptions.
    fn messages_made(&self) -> PyResult<Vec<(&'static str, usize, usize)>> {
        self.with(|session| session.messages_made())
    }

    /// How many rows wait to be taken.
    fn row_count(&self) -> PyResult<usize> {
        self.with(|session| session.row_count())
    }

    /// Bytes of values that wait to be taken.
    fn value_bytes(&self) -> PyResult<usize> {
        self.with(|session| session.value_bytes())
    }

    /// What was decided since the last call.
    fn take(&self) -> PyResult<Batch> {
        self.with(|session| Batch::of(session.take(now()), session.take_witnesses()))
    }

    /// Subscriptions that failed at a document since the last call: number of the document, number
    /// of the subscription, what went wrong.
    fn take_failing(&self) -> PyResult<Vec<(u32, u32, Failure)>> {
        let failing = self.with(|session| session.take_failing())?.into_iter();
        Ok(failing
            .map(|one| (one.document.0, one.subscription.0, failure(one.error)))
            .collect())
    }

    /// What subscriptions did since the last call: number, matches, seconds of the last, cost. With
    /// a plan that is adopted next, those alone whose numbers are no longer theirs.
    #[pyo3(signature = (before=None))]
    fn take_usage(&self, before: Option<PyRef<'_, Plan>>) -> PyResult<Vec<(u32, u32, u32, f64)>> {
        let before = before.map(|plan| plan.tiers.clone());
        let used = self.with(|session| match &before {
            Some(tiers) => session.take_usage_before(tiers),
            None => session.take_usage(),
        })?;
        let used = used.into_iter();
        Ok(used
            .map(|used| (used.id.0, used.matches, used.last, used.cost))
            .collect())
    }

    /// Bytes held now: number, bytes; a number may come several times.
    fn held_by_subscription(&self) -> PyResult<Vec<(u32, u64)>> {
        let held = self.with(|session| session.held_by_subscription())?;
        Ok(held.into_iter().map(|(id, bytes)| (id.0, bytes)).collect())
    }

    /// The record of events: offset, decided (target, node or None), held (node, start).
    fn take_trace<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let entries = self.with(|session| session.take_trace())?;
        let list = PyList::empty(py);
        for entry in entries {
            let decided = entry.decided.into_iter();
            let decided: Vec<_> = decided.map(|(target, node)| (target.0, node)).collect();
            list.append((entry.offset, decided, entry.held))?;
        }
        Ok(list)
    }

    /// Counters: states built, cache clears, steps, held candidates, kept bytes, bytes tokenized,
    /// steps of joins' paths.
    fn statistics(&self) -> PyResult<(u64, u64, u64, u64, u64, u64, u64)> {
        let s = self.with(|session| session.statistics())?;
        Ok((
            s.states_built,
            s.cache_clears,
            s.steps,
            s.held,
            s.kept_bytes,
            s.bytes_tokenized,
            s.path_steps,
        ))
    }

    /// Replacement texts of the internal entities that the document declared so far.
    fn entities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let entities = self.with(|session| session.entities())?;
        let texts = PyDict::new(py);
        for (name, text) in entities {
            texts.set_item(text_of(py, &name), text_of(py, &text))?;
        }
        Ok(texts)
    }
}

/// Seconds since 1970.
fn now() -> u32 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs() as u32)
}
