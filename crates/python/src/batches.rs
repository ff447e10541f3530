//! What a session decided, for Python: tuples, columns, or matches with each node once.

use crate::bindings::binding_columns;
use crate::columns::Column;
use crate::records::Witness;
use penstock_kernel::events::Declarations;
use penstock_kernel::rows::{Found, Parts, Rows};
use penstock_kernel::witness;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use std::sync::Mutex;

type Spans<'py> = (Column, Column, Column, Column, Bound<'py, PyList>);
type Matches<'py> = (Bound<'py, PyDict>, Column, Bound<'py, PyDict>);

/// Rows and witnesses that were taken.
struct Taken {
    rows: Rows,
    parts: Option<Parts>,
    witnesses: Vec<(u32, witness::Witness)>,
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
    pub(crate) fn of(rows: Rows, witnesses: Vec<(u32, witness::Witness)>) -> Batch {
        Batch {
            row_count: rows.count(),
            inner: Mutex::new(Taken {
                rows,
                parts: None,
                witnesses,
            }),
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Taken) -> T) -> PyResult<T> {
        let taken = self.inner.lock();
        let mut taken = taken.map_err(|_| PyRuntimeError::new_err("an earlier call broke it"))?;
        Ok(work(&mut taken))
    }

    fn take_rows(&self) -> PyResult<Rows> {
        self.with(|taken| std::mem::take(&mut taken.rows))
    }
}

#[pymethods]
impl Batch {
    /// The rows as tuples, the namespace declarations they refer to, and the values beside
    /// results, by the numbers of their rows.
    fn rows<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>, Bound<'py, PyDict>)> {
        let rows = self.take_rows()?.spread();
        let list = PyList::empty(py);
        for index in 0..rows.len() {
            list.append(row_tuple(py, &rows, index)?)?;
        }
        Ok((list, scopes(py, &rows.scopes)?, bindings(py, &rows)?))
    }

    /// The rows as columns in Arrow's layout, by name.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        columns(py, self.take_rows()?.spread())
    }

    /// The next part of the rows as such columns, of at least `rows_max` rows if there are more;
    /// None after the last. Of a part of matches alone all columns are empty in which these say
    /// nothing.
    fn next_columns<'py>(
        &self,
        py: Python<'py>,
        rows_max: usize,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let part = self.with(|taken| {
            let rows = std::mem::take(&mut taken.rows);
            taken
                .parts
                .get_or_insert_with(|| rows.parts(rows_max))
                .next()
        })?;
        part.map(|rows| columns(py, rows)).transpose()
    }

    /// The rows as spans: columns of subscription, start, end and the place of the declarations in
    /// scope, or -1; and these declarations.
    fn spans<'py>(&self, py: Python<'py>) -> PyResult<Spans<'py>> {
        let rows = self.take_rows()?.spread();
        Ok((
            Column::of(rows.subscription),
            Column::of(rows.start),
            Column::of(rows.end),
            Column::of(rows.scope),
            scopes(py, &rows.scopes)?,
        ))
    }

    /// The rows in bulk: entries as columns of document, subscription, and the first and the number
    /// of their places, both empty if no entry has any; places; and the nodes that these name, as
    /// columns.
    fn matches<'py>(&self, py: Python<'py>) -> PyResult<Matches<'py>> {
        let found = Found::of(self.take_rows()?);
        let entries = PyDict::new(py);
        entries.set_item("length", found.document.len())?;
        entries.set_item("document", Column::of(found.document))?;
        entries.set_item("subscription", Column::of(found.subscription))?;
        entries.set_item("first", Column::of(found.first))?;
        entries.set_item("count", Column::of(found.count))?;
        let nodes = Column::of(found.nodes);
        Ok((entries, nodes, columns(py, found.fragments)?))
    }

    /// The witnesses of the documents that joins read, by number; they are handed over once.
    fn witnesses(&self) -> PyResult<Vec<(u32, Witness)>> {
        let witnesses = self.with(|taken| std::mem::take(&mut taken.witnesses))?;
        let wrap = |(number, inner)| (number, Witness { inner });
        Ok(witnesses.into_iter().map(wrap).collect())
    }
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
