//! Sessions for Python: documents in, rows or columns out.

use crate::bindings::binding_columns;
use crate::columns::Column;
use crate::plans::Plan;
use penstock_kernel::error::{DocumentError, ErrorKind};
use penstock_kernel::limits::Limits;
use penstock_kernel::options::Options;
use penstock_kernel::rows::{Declarations, Rows};
use penstock_kernel::session::{self, Document};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use std::sync::Mutex;
use std::time::SystemTime;

/// What went wrong: code, reason, byte, line, path, limit or None.
pub(crate) type Failure = (&'static str, String, u64, u64, String, Option<&'static str>);

type Spans<'py> = (Column, Column, Column, Column, Bound<'py, PyList>);
type FoundColumns<'py> = (Bound<'py, PyDict>, Column, Bound<'py, PyDict>);

/// A session that may change threads.
struct Movable(session::Session);

// SAFETY: the shared pointers inside a session point only to each other's contents; none is
// handed out, so the whole moves together. The mutex around it admits one thread at a time.
unsafe impl Send for Movable {}

/// One document after the other, against one plan.
#[pyclass(frozen, module = "penstock._native")]
pub struct Session {
    inner: Mutex<Movable>,
}

impl Session {
    fn with<T>(&self, work: impl FnOnce(&mut session::Session) -> T) -> PyResult<T> {
        let mut guard = self
            .inner
            .lock()
            .map_err(|_| PyRuntimeError::new_err("an earlier call broke this session"))?;
        Ok(work(&mut guard.0))
    }
}

#[pymethods]
impl Session {
    #[new]
    #[pyo3(signature = (plan, limits, *, in_document_order = false, in_parts = false, is_traced = false, is_live = false, cache_bytes_max = 33_554_432, questions_min = None))]
    #[expect(clippy::too_many_arguments, reason = "in Python they are keywords")]
    fn new(
        plan: &Plan,
        limits: &Bound<'_, PyDict>,
        in_document_order: bool,
        in_parts: bool,
        is_traced: bool,
        is_live: bool,
        cache_bytes_max: usize,
        questions_min: Option<u32>,
    ) -> PyResult<Self> {
        let options = Options {
            in_document_order,
            in_parts,
            is_traced,
            is_live,
            cache_bytes_max,
            questions_min,
        };
        let inner = session::Session::new(plan.tiers.clone(), read_limits(limits)?, options);
        Ok(Session {
            inner: Mutex::new(Movable(inner)),
        })
    }

    /// Goes on with another plan, between two documents.
    fn adopt(&self, py: Python<'_>, plan: &Plan) -> PyResult<()> {
        py.detach(|| self.with(|session| session.adopt(plan.tiers.clone())))
    }

    /// Goes on with another plan in the middle of a document of a live session.
    fn attach(&self, py: Python<'_>, plan: &Plan) -> PyResult<Option<Failure>> {
        py.detach(|| self.with(|session| session.attach(plan.tiers.clone()).err().map(failure)))
    }

    /// Starts a document.
    #[pyo3(signature = (encoding = None))]
    fn begin(&self, encoding: Option<&str>) -> PyResult<Option<Failure>> {
        self.with(|session| session.begin(encoding).err().map(failure))
    }

    /// Reads the next bytes; the rows they decide can be taken afterwards, whatever is returned.
    fn feed(&self, py: Python<'_>, chunk: &Bound<'_, PyAny>) -> PyResult<Option<Failure>> {
        let chunk = Chunk::of(chunk)?;
        let raw = chunk.raw();
        py.detach(|| self.with(|session| session.feed(raw.bytes()).err().map(failure)))
    }

    /// Ends the document.
    fn finish(&self, py: Python<'_>) -> PyResult<Option<Failure>> {
        py.detach(|| self.with(|session| session.finish().err().map(failure)))
    }

    /// The rows of documents begun from now on carry this number.
    fn number_documents(&self, number: u32) -> PyResult<()> {
        self.with(|session| session.number_documents(number))
    }

    /// Reads a document that is at hand as a whole.
    #[pyo3(signature = (document, encoding = None))]
    fn read(
        &self,
        py: Python<'_>,
        document: &Bound<'_, PyAny>,
        encoding: Option<&str>,
    ) -> PyResult<Option<Failure>> {
        let chunk = Chunk::of(document)?;
        let raw = chunk.raw();
        py.detach(|| {
            self.with(|session| {
                session
                    .read(raw.bytes(), encoding, now())
                    .err()
                    .map(failure)
            })
        })
    }

    /// Reads whole documents, `data[offsets[i]:offsets[i + 1]]`; their rows carry the number i.
    /// Returns what went wrong, by number.
    fn read_documents(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        offsets: Vec<usize>,
    ) -> PyResult<Vec<(u32, Failure)>> {
        let chunk = Chunk::of(data)?;
        let raw = chunk.raw();
        let is_sorted = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        if !is_sorted || offsets.last().is_some_and(|&end| end > raw.bytes().len()) {
            return Err(PyValueError::new_err("the offsets do not fit the data"));
        }
        let at = now();
        py.detach(|| {
            self.with(|session| {
                let documents = offsets
                    .windows(2)
                    .map(|pair| &raw.bytes()[pair[0]..pair[1]]);
                let read = documents.enumerate().filter_map(|(number, document)| {
                    session.number_documents(number as u32);
                    let error = session.read(document, None, at).err()?;
                    Some((number as u32, failure(error)))
                });
                read.collect()
            })
        })
    }

    /// Reads whole documents, bytes and encoding; their rows carry numbers from `number` on, and
    /// without times they are to be taken by `take_found`. Returns what went wrong, by number.
    #[pyo3(signature = (documents, number, *, with_times = false))]
    fn read_in_bulk(
        &self,
        py: Python<'_>,
        documents: Vec<(Bound<'_, PyAny>, Option<String>)>,
        number: u32,
        with_times: bool,
    ) -> PyResult<Vec<(u32, Failure)>> {
        let chunks = documents.iter().map(|(data, _)| Chunk::of(data));
        let chunks = chunks.collect::<PyResult<Vec<_>>>()?;
        let raw: Vec<Raw> = chunks.iter().map(Chunk::raw).collect();
        let encodings: Vec<Option<&str>> = documents.iter().map(|one| one.1.as_deref()).collect();
        let at = now();
        py.detach(|| {
            self.with(|session| {
                let numbered = raw.iter().zip(&encodings).zip(number..);
                let documents: Vec<Document<'_>> = numbered
                    .map(|((raw, &encoding), number)| Document {
                        number,
                        bytes: raw.bytes(),
                        encoding,
                    })
                    .collect();
                let verdicts = session.read_in_bulk(&documents, with_times, at);
                let failed = verdicts.into_iter().zip(number..);
                failed
                    .filter_map(|(read, number)| Some((number, failure(read.err()?))))
                    .collect()
            })
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

    /// How many rows wait to be taken.
    fn row_count(&self) -> PyResult<usize> {
        self.with(|session| session.row_count())
    }

    /// Bytes of values that wait to be taken.
    fn value_bytes(&self) -> PyResult<usize> {
        self.with(|session| session.value_bytes())
    }

    /// The finished rows as tuples, the namespace declarations they refer to, and the values
    /// beside results, by the numbers of their rows.
    fn take_rows<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>, Bound<'py, PyDict>)> {
        let rows = self.with(|session| session.take_rows(now()))?;
        let list = PyList::empty(py);
        for index in 0..rows.len() {
            list.append(row_tuple(py, &rows, index)?)?;
        }
        Ok((list, scopes(py, &rows.scopes)?, bindings(py, &rows)?))
    }

    /// The finished rows as columns in Arrow's layout, by name.
    fn take_columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows = self.with(|session| session.take_rows(now()))?;
        columns(py, rows)
    }

    /// The same in bulk: entries as columns of document, subscription, and the first and the
    /// number of their places, both empty if no entry has any; places; and the nodes that these
    /// name, as above.
    fn take_found<'py>(&self, py: Python<'py>) -> PyResult<FoundColumns<'py>> {
        let found = self.with(|session| session.take_found(now()))?;
        let entries = PyDict::new(py);
        entries.set_item("length", found.document.len())?;
        entries.set_item("document", Column::of(found.document))?;
        entries.set_item("subscription", Column::of(found.subscription))?;
        entries.set_item("first", Column::of(found.first))?;
        entries.set_item("count", Column::of(found.count))?;
        let nodes = Column::of(found.nodes);
        Ok((entries, nodes, columns(py, found.fragments)?))
    }

    /// The finished rows as spans: columns of subscription, start, end and the place of the
    /// declarations in scope, or -1; and these declarations.
    fn take_spans<'py>(&self, py: Python<'py>) -> PyResult<Spans<'py>> {
        let rows = self.with(|session| session.take_rows(now()))?;
        Ok((
            Column::of(rows.subscription),
            Column::of(rows.start),
            Column::of(rows.end),
            Column::of(rows.scope),
            scopes(py, &rows.scopes)?,
        ))
    }

    /// What subscriptions did since the last call: number, matches, seconds of the last, cost.
    fn take_usage(&self) -> PyResult<Vec<(u32, u32, u32, f64)>> {
        let used = self.with(|session| session.take_usage())?;
        let listed = used.into_iter();
        Ok(listed
            .map(|one| (one.subscription, one.matches, one.last, one.cost))
            .collect())
    }

    /// Bytes held now: number, bytes; a number may come several times.
    fn held_by_subscription(&self) -> PyResult<Vec<(u32, u64)>> {
        self.with(|session| session.held_by_subscription())
    }

    /// The record of events: offset, decided (target, node or None), held (node, start).
    fn take_trace<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let entries = self.with(|session| session.take_trace())?;
        let list = PyList::empty(py);
        for entry in entries {
            list.append((entry.offset, entry.decided, entry.held))?;
        }
        Ok(list)
    }

    /// Counters: states built, cache clears, steps, held candidates, kept bytes.
    fn statistics(&self) -> PyResult<(u64, u64, u64, u64, u64)> {
        let s = self.with(|session| session.statistics())?;
        Ok((
            s.states_built,
            s.cache_clears,
            s.steps,
            s.held,
            s.kept_bytes,
        ))
    }

    /// Replacement texts of the internal entities that the document declared so far.
    fn entities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let entities = self.with(|session| session.entities())?;
        let found = PyDict::new(py);
        for (name, text) in entities {
            found.set_item(text_of(py, &name), text_of(py, &text))?;
        }
        Ok(found)
    }
}

/// Seconds since 1970.
fn now() -> u32 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs() as u32)
}

fn row_tuple<'py>(py: Python<'py>, rows: &Rows, index: usize) -> PyResult<Bound<'py, PyTuple>> {
    (
        rows.subscription[index],
        rows.ordinal[index],
        rows.kind[index],
        text_of(py, rows.name.value(index)),
        text_of(py, rows.value.value(index)),
        rows.start[index],
        rows.end[index],
        rows.decided_at[index],
        rows.node[index],
        rows.scope[index],
    )
        .into_pyobject(py)
}

fn bindings<'py>(py: Python<'py>, rows: &Rows) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    for beside in &rows.bindings {
        let pairs = PyDict::new(py);
        for (name, value) in beside.pairs() {
            pairs.set_item(text_of(py, name), value)?;
        }
        found.set_item(beside.row, pairs)?;
    }
    Ok(found)
}

fn scopes<'py>(py: Python<'py>, scopes: &[Declarations]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for scope in scopes {
        let pairs = PyDict::new(py);
        for (prefix, uri) in scope {
            pairs.set_item(text_of(py, prefix), text_of(py, uri))?;
        }
        list.append(pairs)?;
    }
    Ok(list)
}

/// The tokenizer checks that everything is UTF-8, so nothing is ever replaced here.
pub(crate) fn text_of<'py>(py: Python<'py>, bytes: &[u8]) -> Bound<'py, PyString> {
    PyString::new(py, &String::from_utf8_lossy(bytes))
}

pub(crate) fn failure(error: DocumentError) -> Failure {
    let limit = match error.kind {
        ErrorKind::Limit(name) => Some(name),
        ErrorKind::Malformed => None,
    };
    (
        error.code,
        error.reason,
        error.byte,
        error.line,
        error.path,
        limit,
    )
}

pub(crate) fn read_limits(fields: &Bound<'_, PyDict>) -> PyResult<Limits> {
    let mut limits = Limits::default();
    for (name, value) in fields {
        let (name, value) = (name.extract::<String>()?, value.extract::<u64>()?);
        let field = match name.as_str() {
            "depth_max" => &mut limits.depth_max,
            "name_bytes_max" => &mut limits.name_bytes_max,
            "attributes_max" => &mut limits.attributes_max,
            "attribute_bytes_max" => &mut limits.attribute_bytes_max,
            "text_bytes_max" => &mut limits.text_bytes_max,
            "candidates_max" => &mut limits.candidates_max,
            "buffer_bytes_max" => &mut limits.buffer_bytes_max,
            "pairs_max" => &mut limits.pairs_max,
            "entity_bytes_max" => &mut limits.entity_bytes_max,
            "entity_depth_max" => &mut limits.entity_depth_max,
            "doctype_bytes_max" => &mut limits.doctype_bytes_max,
            "document_bytes_max" => &mut limits.document_bytes_max,
            _ => return Err(PyValueError::new_err(format!("there is no limit `{name}`"))),
        };
        *field = value;
    }
    Ok(limits)
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

/// Rows as columns in Arrow's layout, by name.
fn columns<'py>(py: Python<'py>, rows: Rows) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    columns.set_item("length", rows.len())?;
    for (name, column) in binding_columns(&rows) {
        columns.set_item(name, column)?;
    }
    columns.set_item("document", Column::of(rows.document))?;
    columns.set_item("subscription", Column::of(rows.subscription))?;
    columns.set_item("ordinal", Column::of(rows.ordinal))?;
    columns.set_item("kind", Column::of(rows.kind))?;
    columns.set_item("start", Column::of(rows.start))?;
    columns.set_item("end", Column::of(rows.end))?;
    columns.set_item("decided_at", Column::of(rows.decided_at))?;
    columns.set_item("name_offsets", Column::of(rows.name.offsets))?;
    columns.set_item("name_bytes", Column::of(rows.name.bytes))?;
    columns.set_item("value_offsets", Column::of(rows.value.offsets))?;
    columns.set_item("value_bytes", Column::of(rows.value.bytes))?;
    Ok(columns)
}
