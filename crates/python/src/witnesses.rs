//! Witnesses as columns: what records say, for engines that join relations.

use crate::arrow::{Columns, numbers, strings};
use crate::records::words_of;
use arrow_data::ArrayData;
use penstock_joins::record::Record;
use penstock_joins::results::ordinal_of;
use penstock_kernel::rows::TextColumn;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::collections::HashMap;

/// Strings, some of which are missing.
#[derive(Default)]
struct Strings {
    column: TextColumn,
    is_there: Vec<bool>,
}

impl Strings {
    fn push(&mut self, text: Option<&[u8]>) -> Option<()> {
        self.column.bytes.extend_from_slice(text.unwrap_or(b""));
        i32::try_from(self.column.bytes.len()).ok()?;
        self.column.finish_value();
        self.is_there.push(text.is_some());
        Some(())
    }

    fn finish(self) -> ArrayData {
        strings(self.column, Some(self.is_there.into()))
    }
}

/// The tables of several records, one below the other.
#[derive(Default)]
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

    fn finish(self) -> (Columns, Columns, Columns) {
        let lengths = [&self.node_document, &self.binding_row, &self.edge_row].map(Vec::len);
        let nodes = [
            ("document", numbers(self.node_document)),
            ("node", numbers(self.node_number)),
            ("start", numbers(self.node_start)),
            ("end", numbers(self.node_end)),
            ("value", self.value.finish()),
            ("text", self.text.finish()),
        ];
        let bindings = [
            ("row", numbers(self.binding_row)),
            ("variable", numbers(self.binding_variable)),
        ];
        let edges = [
            ("row", numbers(self.edge_row)),
            ("edge", numbers(self.edge_number)),
            ("above", numbers(self.edge_above)),
        ];
        (
            Columns::of(lengths[0], nodes),
            Columns::of(lengths[1], bindings),
            Columns::of(lengths[2], edges),
        )
    }
}

/// Pairs of variables, upper and lower, and the number of each.
struct Edges<'a> {
    listed: &'a [(u32, u32)],
    numbers: HashMap<(u32, u32), u32>,
}

/// The witnesses of records as three tables: nodes, bindings and edges. Nodes have their document
/// (the number of its record), a number there, a range, value and text. Bindings and edges refer to
/// rows of that table: a variable's node; the lower node of an edge, whose number is its place in
/// `edges`.
#[pyfunction]
pub fn witness_columns(
    records: Vec<PyBackedBytes>,
    edges: Vec<(u32, u32)>,
) -> PyResult<(Columns, Columns, Columns)> {
    let edges = Edges {
        listed: &edges,
        numbers: edges.iter().copied().zip(0..).collect(),
    };
    let mut tables = Tables::default();
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
    Ok(tables.finish())
}

/// The ordinal of an event made of documents, given by their ids, and of nodes, given by the place
/// of their document and their range.
#[pyfunction]
pub fn event_ordinal(documents: Vec<String>, nodes: Vec<[u32; 3]>) -> u64 {
    let ids = documents.iter().map(|id| id.as_bytes());
    ordinal_of(ids, nodes.into_iter())
}
