//! Witnesses as columns: what records say, for engines that join relations.

use crate::columns::Column;
use crate::records::words_of;
use penstock_joins::record::Record;
use penstock_joins::results::ordinal_of;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;
use std::collections::HashMap;

/// Strings as Arrow lays them out, with a byte for each that says whether it is there.
struct Strings {
    offsets: Vec<i32>,
    bytes: Vec<u8>,
    valid: Vec<u8>,
}

impl Strings {
    fn new() -> Self {
        Strings {
            offsets: vec![0],
            bytes: Vec::new(),
            valid: Vec::new(),
        }
    }

    fn push(&mut self, text: Option<&[u8]>) -> Option<()> {
        self.bytes.extend_from_slice(text.unwrap_or(b""));
        self.offsets.push(i32::try_from(self.bytes.len()).ok()?);
        self.valid.push(u8::from(text.is_some()));
        Some(())
    }

    fn put(self, name: &str, columns: &Bound<'_, PyDict>) -> PyResult<()> {
        columns.set_item(format!("{name}_offsets"), Column::of(self.offsets))?;
        columns.set_item(format!("{name}_bytes"), Column::of(self.bytes))?;
        columns.set_item(format!("{name}_valid"), Column::of(self.valid))
    }
}

/// The tables of several records, one below the other.
struct Tables {
    node_document: Vec<u32>,
    node_number: Vec<u32>,
    node_start: Vec<u32>,
    node_end: Vec<u32>,
    value: Strings,
    text: Strings,
    /// Rows of the table of nodes, here and for edges.
    binding_row: Vec<u32>,
    binding_variable: Vec<u32>,
    edge_row: Vec<u32>,
    edge_number: Vec<u32>,
    edge_above: Vec<u32>,
}

impl Tables {
    fn new() -> Self {
        Tables {
            node_document: Vec::new(),
            node_number: Vec::new(),
            node_start: Vec::new(),
            node_end: Vec::new(),
            value: Strings::new(),
            text: Strings::new(),
            binding_row: Vec::new(),
            binding_variable: Vec::new(),
            edge_row: Vec::new(),
            edge_number: Vec::new(),
            edge_above: Vec::new(),
        }
    }

    /// Adds a record; None if the strings are too many for their offsets.
    fn add(&mut self, document: u32, record: &Record<'_>, edges: &Edges<'_>) -> Option<()> {
        let first = self.node_document.len() as u32;
        for number in 0..record.node_count() {
            let node = record.node(number);
            self.node_document.push(document);
            self.node_number.push(number);
            self.node_start.push(node.span.0);
            self.node_end.push(node.span.1);
            self.value.push(node.value)?;
            self.text.push(node.text)?;
        }
        for (variable, node) in record.bindings() {
            self.binding_row.push(first + node);
            self.binding_variable.push(variable);
        }
        let mut add = |number: u32, above: u32, below: u32| {
            self.edge_row.push(first + below);
            self.edge_number.push(number);
            self.edge_above.push(above);
        };
        if record.is_flat() {
            // One node for each variable, so that a record does not say which lies under which.
            let nodes: HashMap<u32, u32> = record.bindings().collect();
            for (number, (upper, lower)) in edges.listed.iter().enumerate() {
                if let (Some(&above), Some(&below)) = (nodes.get(upper), nodes.get(lower)) {
                    add(number as u32, above, below);
                }
            }
        } else {
            for [upper, lower, above, below] in record.edges() {
                if let Some(&number) = edges.numbers.get(&(upper, lower)) {
                    add(number, above, below);
                }
            }
        }
        Some(())
    }

    fn put(self, columns: &Bound<'_, PyDict>) -> PyResult<()> {
        for (name, numbers) in [
            ("node_document", self.node_document),
            ("node_number", self.node_number),
            ("node_start", self.node_start),
            ("node_end", self.node_end),
            ("binding_row", self.binding_row),
            ("binding_variable", self.binding_variable),
            ("edge_row", self.edge_row),
            ("edge_number", self.edge_number),
            ("edge_above", self.edge_above),
        ] {
            columns.set_item(name, Column::of(numbers))?;
        }
        self.value.put("value", columns)?;
        self.text.put("text", columns)
    }
}

/// Pairs of variables, upper and lower, and the number of each.
struct Edges<'a> {
    listed: &'a [(u32, u32)],
    numbers: HashMap<(u32, u32), u32>,
}

/// The witnesses of records as columns of three tables. Nodes have their document (the number of
/// its record), a number there, a range, value and text. Bindings and edges refer to rows of that
/// table: a variable's node; the lower node of an edge, whose number is its place in `edges`.
#[pyfunction]
pub fn witness_columns<'py>(
    py: Python<'py>,
    records: Vec<PyBackedBytes>,
    edges: Vec<(u32, u32)>,
) -> PyResult<Bound<'py, PyDict>> {
    let edges = Edges {
        listed: &edges,
        numbers: edges.iter().copied().zip(0..).collect(),
    };
    let mut tables = Tables::new();
    for (document, bytes) in records.iter().enumerate() {
        if bytes.is_empty() {
            continue;
        }
        let words = words_of(bytes);
        let record = Record::check(&words)
            .ok_or_else(|| PyValueError::new_err("these bytes are no record"))?;
        tables
            .add(document as u32, &record, &edges)
            .ok_or_else(|| PyValueError::new_err("too many bytes of records for one table"))?;
    }
    let columns = PyDict::new(py);
    tables.put(&columns)?;
    Ok(columns)
}

/// The ordinal of an event made of documents, given by their ids, and of nodes, given by the place
/// of their document and their range.
#[pyfunction]
pub fn event_ordinal(documents: Vec<String>, nodes: Vec<[u32; 3]>) -> u64 {
    let ids = documents.iter().map(|id| id.as_bytes());
    ordinal_of(ids, nodes.into_iter())
}
