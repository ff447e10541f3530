//! What a session decided, for Python: tuples, columns for Arrow, or matches with each node once.

use crate::arrow::{Columns, Number, array, numbers, offsets, strings};
use crate::bindings::binding_column;
use crate::gathered::Gathered;
use crate::records::Witness;
use crate::tables::table_columns;
use arrow_buffer::Buffer;
use arrow_schema::{DataType, Field};
use penstock_kernel::events::Declarations;
use penstock_kernel::ids::into_words;
use penstock_kernel::rows::{BulkRows, DocumentId, Parts, Rows, SubscriptionId};
use penstock_kernel::tabular::Layout;
use penstock_kernel::witness;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use std::ops::Range;
use std::sync::{Arc, Mutex};

type Tuples<'py> = (Bound<'py, PyList>, Bound<'py, PyList>, Bound<'py, PyDict>);
type Spans<'py> = ([Bound<'py, PyBytes>; 4], Bound<'py, PyList>);

/// Bytes of values that become tuples at once, but for the last.
const VALUE_BYTES_MAX: i32 = 16 << 20;

/// Rows and witnesses that were taken.
struct Taken {
    rows: Rows,
    parts: Option<Parts>,
    /// A part, and how many of its rows became tuples.
    part: Option<(Rows, usize)>,
    witnesses: Vec<(DocumentId, witness::Witness)>,
}

// SAFETY: rows that were taken share nothing with their session.
unsafe impl Send for Taken {}

/// What a session decided between two takes. It has one form of the rows, the first that is asked
/// for: columns are handed over, not copied.
#[pyclass(frozen, module = "penstock._native")]
pub struct Batch {
    inner: Mutex<Taken>,
    #[pyo3(get)]
    row_count: usize,
}

impl Batch {
    pub(crate) fn of(rows: Rows, witnesses: Vec<(DocumentId, witness::Witness)>) -> Batch {
        Batch {
            row_count: rows.count(),
            inner: Mutex::new(Taken {
                rows,
                parts: None,
                part: None,
                witnesses,
            }),
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Taken) -> T) -> PyResult<T> {
        let taken = self.inner.lock();
        let mut taken = taken.map_err(|_| PyRuntimeError::new_err("an earlier call broke it"))?;
        Ok(work(&mut taken))
    }

    /// A look at the rows, which stay.
    pub(crate) fn with_rows<T>(&self, look: impl FnOnce(&Rows) -> T) -> PyResult<T> {
        self.with(|taken| {
            taken.rows = std::mem::take(&mut taken.rows).spread();
            look(&taken.rows)
        })
    }

    fn take_rows(&self) -> PyResult<Rows> {
        self.with(|taken| std::mem::take(&mut taken.rows))
    }
}

#[pymethods]
impl Batch {
    /// The rows as tuples, the namespace declarations they refer to, and the values beside
    /// results, by the numbers of their rows.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Tuples<'py>> {
        let rows = self.take_rows()?.spread();
        tuples(py, &rows, 0..rows.len())
    }

    /// The next of the rows in the same form, `rows_max` of them at most; None after the last.
    fn next_rows<'py>(&self, py: Python<'py>, rows_max: usize) -> PyResult<Option<Tuples<'py>>> {
        self.with(|taken| {
            let whole = std::mem::take(&mut taken.rows);
            let parts = taken
                .parts
                .get_or_insert_with(|| whole.spread_parts(rows_max));
            let rest = taken.part.take_if(|(rows, next)| *next < rows.len());
            let Some((rows, next)) = rest.or_else(|| parts.next().map(|rows| (rows, 0))) else {
                return Ok(None);
            };
            let offsets = &rows.value.offsets;
            let bytes_max = offsets[next].saturating_add(VALUE_BYTES_MAX);
            let fitting = offsets.partition_point(|&offset| offset <= bytes_max) - 1;
            let end = rows.len().min(next + rows_max).min(fitting).max(next + 1);
            let found = tuples(py, &rows, next..end)?;
            taken.part = Some((rows, end));
            Ok(Some(found))
        })?
    }

    /// The rows as columns. Those in which all rows say what matches say are left out.
    fn columns(&self) -> PyResult<Columns> {
        Ok(columns(self.take_rows()?.spread()))
    }

    /// The next part of the rows as such columns, of at least `rows_max` rows if there are more;
    /// None after the last.
    fn next_columns(&self, rows_max: usize) -> PyResult<Option<Columns>> {
        let part = self.with(|taken| {
            let rows = std::mem::take(&mut taken.rows);
            taken
                .parts
                .get_or_insert_with(|| rows.parts(rows_max))
                .next()
        })?;
        Ok(part.map(columns))
    }

    /// The numbers of the documents with rows of subscriptions from a number on; the rows stay.
    fn documents_from(&self, subscription: u32) -> PyResult<Vec<u32>> {
        self.with(|taken| {
            let documents = taken.rows.documents_from(SubscriptionId(subscription));
            documents.into_iter().map(|document| document.0).collect()
        })
    }

    /// Drops the rows of documents by their numbers, which are in order.
    fn drop_documents(&self, documents: Vec<u32>) -> PyResult<()> {
        self.with(|taken| taken.rows.drop_documents(&documents))
    }

    /// Takes the bindings out of the rows: what subscriptions from a number on gave.
    fn take_bindings(&self, first: u32) -> PyResult<Gathered> {
        let gathered = self.with(|taken| taken.rows.take_gathered(SubscriptionId(first)))?;
        Ok(Gathered::of(gathered))
    }

    /// The rows as spans: the bytes of subscriptions, starts, ends and places of the declarations
    /// in scope, or -1; and these declarations.
    fn spans<'py>(&self, py: Python<'py>) -> PyResult<Spans<'py>> {
        let rows = self.take_rows()?.spread();
        let scopes = scopes(py, &rows.scopes)?;
        let columns: [Buffer; 4] = [
            into_words(rows.subscription).into(),
            rows.start.into(),
            rows.end.into(),
            rows.scope.into(),
        ];
        Ok((columns.map(|column| PyBytes::new(py, &column)), scopes))
    }

    /// The rows in bulk: entries, which say what subscription found something in what document and
    /// list the fragments, and these, each once.
    fn matches(&self) -> PyResult<(Columns, Columns)> {
        let bulk = BulkRows::of(self.take_rows()?);
        let length = bulk.document.len();
        // Filters list nothing, and zeros of the system cost nothing.
        let filled = |places: Vec<u32>| match places.is_empty() {
            true => vec![0; length],
            false => places,
        };
        let places = vec![filled(bulk.first).into(), filled(bulk.count).into()];
        let lists = DataType::ListView(Arc::new(Field::new("item", u32::TYPE, true)));
        let nodes = vec![numbers(bulk.nodes)];
        let entries = [
            ("document", numbers(into_words(bulk.document))),
            ("subscription", numbers(into_words(bulk.subscription))),
            ("fragments", array(lists, length, None, places, nodes)),
        ];
        Ok((Columns::of(length, entries), columns(bulk.fragments)))
    }

    /// The rows of a table, which a subscription's program describes, as its columns. They stay.
    fn table(&self, subscription: u32, program: &[u8]) -> PyResult<Columns> {
        let layout = Layout::of_program(program);
        let layout = layout.map_err(|error| PyValueError::new_err(error.to_string()))?;
        self.with_rows(|rows| table_columns(rows, subscription, &layout))
    }

    /// The witnesses of the documents that joins read, by number; they are handed over once.
    fn witnesses(&self) -> PyResult<Vec<(u32, Witness)>> {
        let witnesses = self.with(|taken| std::mem::take(&mut taken.witnesses))?;
        let wrap = |(document, inner): (DocumentId, _)| (document.0, Witness { inner });
        Ok(witnesses.into_iter().map(wrap).collect())
    }
}

fn row_tuple<'py>(py: Python<'py>, rows: &Rows, index: usize) -> PyResult<Bound<'py, PyTuple>> {
    (
        rows.subscription[index].0,
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

/// Some of the rows as tuples; the declarations that rows refer to; values by the number of a row
/// among those.
fn tuples<'py>(py: Python<'py>, rows: &Rows, range: Range<usize>) -> PyResult<Tuples<'py>> {
    let list = PyList::empty(py);
    for index in range.clone() {
        list.append(row_tuple(py, rows, index)?)?;
    }
    let beside = bindings(py, rows, range)?;
    Ok((list, scopes(py, &rows.scopes)?, beside))
}

fn bindings<'py>(
    py: Python<'py>,
    rows: &Rows,
    range: Range<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let by_row = PyDict::new(py);
    let first = rows
        .bindings
        .partition_point(|beside| (beside.row as usize) < range.start);
    let found = rows.bindings[first..].iter();
    for beside in found.take_while(|beside| (beside.row as usize) < range.end) {
        let pairs = PyDict::new(py);
        for (name, value) in beside.pairs() {
            pairs.set_item(text_of(py, name), value)?;
        }
        by_row.set_item(beside.row as usize - range.start, pairs)?;
    }
    Ok(by_row)
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

/// The tokenizer checks that everything is UTF-8, so nothing is ever replaced here. Python checks it
/// again while it copies, which is several times faster than looking for what is to be replaced.
pub(crate) fn text_of<'py>(py: Python<'py>, bytes: &[u8]) -> Bound<'py, PyString> {
    PyString::from_bytes(py, bytes)
        .unwrap_or_else(|_| PyString::new(py, &String::from_utf8_lossy(bytes)))
}

fn columns(rows: Rows) -> Columns {
    let length = rows.len();
    let columns = [
        ("bindings", binding_column(&rows)),
        ("document", numbers(into_words(rows.document))),
        ("subscription", numbers(into_words(rows.subscription))),
        ("ordinal", numbers(rows.ordinal)),
        ("kind", numbers(rows.kind)),
        ("name", strings(rows.name, None)),
        ("value", strings(rows.value, None)),
        ("start", offsets(rows.start)),
        ("end", offsets(rows.end)),
        ("decided_at", numbers(rows.decided_at)),
    ];
    Columns::of(length, columns)
}
