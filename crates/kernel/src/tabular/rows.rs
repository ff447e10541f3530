//! A record as a row: its cells, typed, as an object of JSON with the names of the columns.

use super::decimals::rounded;
use super::evaluate::{Evaluator, Extent, Focus};
use super::layout::{Column, Content, Layout, OnError, Shape, Source, Type};
use super::types::{Reason, write_double, write_typed};
use crate::ledger::steps_of_copy;
use crate::values::{Value, write_json};
use penstock_sequences::eval::serialize;
use penstock_sequences::tree::{Forest, NodeId, NodeRef};

/// Values in reports of misfits have so many characters at most.
const REPORTED_MAX: usize = 200;

/// A value that does not fit the type of its column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The column; names of columns around it come first, with points.
    pub column: String,
    /// The value, or its first characters.
    pub value: String,
    /// Why it does not fit.
    pub reason: String,
}

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its row was written.
    Written,
    /// It depends on what may still come in the document.
    Waits,
}

/// Why a cell was not written.
enum Stop {
    Unknown,
    Misfit(Misfit),
}

/// Writes the rows of records.
pub struct Writing<'a> {
    /// The table.
    pub layout: &'a Layout,
    /// The document so far.
    pub forest: &'a mut Forest,
    /// Hears of steps of work.
    pub meter: &'a mut dyn FnMut(u64),
}

impl Writing<'_> {
    fn evaluator(&mut self) -> Evaluator<'_> {
        Evaluator {
            layout: self.layout,
            tree: self.forest.tree(NodeRef::of_document(NodeId::ROOT)),
            names: &self.forest.names,
            meter: &mut *self.meter,
        }
    }

    /// The records of a region in document order, if they are known; `nodes` are its elements.
    pub fn records(&mut self, nodes: &[NodeId]) -> Option<Vec<NodeId>> {
        let record = self.layout.record;
        let mut records = Vec::with_capacity(nodes.len());
        for &node in nodes {
            let set = self.evaluator().set(record, Focus::on(node));
            if set.extent != Extent::Complete {
                return None;
            }
            records.extend(set.nodes);
        }
        records.sort_unstable();
        records.dedup();
        Some(records)
    }

    /// Appends the row of a record; nothing if it waits.
    ///
    /// # Errors
    ///
    /// A value does not fit, and the table does not take null instead.
    pub fn row(&mut self, record: NodeId, out: &mut Vec<u8>) -> Result<Outcome, Misfit> {
        let layout = self.layout;
        let start = out.len();
        let mut misfits = Vec::new();
        let written = self.columns(&layout.columns, record, "", &mut misfits, out);
        match written {
            Ok(()) => {}
            Err(stop) => {
                out.truncate(start);
                return match stop {
                    Stop::Unknown => Ok(Outcome::Waits),
                    Stop::Misfit(misfit) => Err(misfit),
                };
            }
        }
        if let Some(errors) = &layout.errors {
            out.pop();
            out.push(b',');
            out.extend_from_slice(&errors.key);
            write_misfits(&misfits, out);
            out.push(b'}');
        }
        Ok(Outcome::Written)
    }

    fn columns(
        &mut self,
        columns: &[Column],
        node: NodeId,
        around: &str,
        misfits: &mut Vec<Misfit>,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        out.push(b'{');
        for (place, column) in columns.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            out.extend_from_slice(&column.key);
            self.column(column, node, around, misfits, out)?;
        }
        out.push(b'}');
        Ok(())
    }

    fn column(
        &mut self,
        column: &Column,
        node: NodeId,
        around: &str,
        misfits: &mut Vec<Misfit>,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        let focus = Focus::on(node);
        let nodes = match (column.source, column.shape) {
            (None, _) => {
                self.one(column, node, around, misfits, out)?;
                return Ok(());
            }
            (Some(Source::Atom(id)), shape) => {
                let value = self.evaluator().value(id, focus).ok_or(Stop::Unknown)?;
                let value = value.into_owned();
                let brackets: [&[u8]; 2] = match shape {
                    Shape::One => [b"", b""],
                    Shape::List => [b"[", b"]"],
                };
                out.extend_from_slice(brackets[0]);
                if let Content::Type(type_) = column.content {
                    let fits = write_atom(type_, value.clone(), out);
                    self.settle(
                        fits,
                        column,
                        type_,
                        || value.text().into(),
                        around,
                        misfits,
                        out,
                    )?;
                }
                out.extend_from_slice(brackets[1]);
                return Ok(());
            }
            (Some(Source::Nodes(id)), Shape::One) => {
                let first = self.evaluator().first(id, focus).ok_or(Stop::Unknown)?;
                let Some(first) = first else {
                    out.extend_from_slice(b"null");
                    return Ok(());
                };
                self.one(column, first, around, misfits, out)?;
                return Ok(());
            }
            (Some(Source::Nodes(id)), Shape::List) => {
                let nodes = self.evaluator().all_nodes(id, focus);
                nodes.ok_or(Stop::Unknown)?
            }
        };
        out.push(b'[');
        for (place, &node) in nodes.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            self.one(column, node, around, misfits, out)?;
        }
        out.push(b']');
        Ok(())
    }

    /// Writes one value of a column, taken from a node.
    fn one(
        &mut self,
        column: &Column,
        node: NodeId,
        around: &str,
        misfits: &mut Vec<Misfit>,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        let type_ = match &column.content {
            Content::Columns(columns) => {
                let around = format!("{around}{}.", column.name);
                self.columns(columns, node, &around, misfits, out)?;
                return Ok(());
            }
            Content::Type(Type::Xml) => {
                let tree = self.forest.tree(NodeRef::of_document(node));
                if tree.is_open(node) {
                    return Err(Stop::Unknown);
                }
                let node = NodeRef::of_document(node);
                let xml = serialize(node, self.forest, self.meter);
                (self.meter)(steps_of_copy(xml.len()));
                write_json(&xml, out);
                return Ok(());
            }
            Content::Type(type_) => *type_,
        };
        let evaluator = self.evaluator();
        let text = evaluator.text(node).ok_or(Stop::Unknown)?;
        let fits = write_typed(type_, text, out);
        let length = text.len() as u64;
        let shown = match fits {
            Ok(()) => String::new(),
            Err(_) => String::from_utf8_lossy(text).into(),
        };
        (self.meter)(length / 64);
        self.settle(fits, column, type_, || shown, around, misfits, out)
    }

    /// Writes null for a value that does not fit, or stops.
    #[allow(clippy::too_many_arguments)]
    fn settle(
        &self,
        fits: Result<(), Reason>,
        column: &Column,
        type_: Type,
        value: impl FnOnce() -> String,
        around: &str,
        misfits: &mut Vec<Misfit>,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        let Err(reason) = fits else {
            return Ok(());
        };
        let mut value = value();
        if let Some((end, _)) = value.char_indices().nth(REPORTED_MAX) {
            value.truncate(end);
        }
        let misfit = Misfit {
            column: format!("{around}{}", column.name),
            value,
            reason: reason.text(type_),
        };
        if self.layout.on_error == OnError::Fail {
            return Err(Stop::Misfit(misfit));
        }
        out.extend_from_slice(b"null");
        misfits.push(misfit);
        Ok(())
    }
}

/// Appends a value that was computed.
fn write_atom(type_: Type, value: Value<'_>, out: &mut Vec<u8>) -> Result<(), Reason> {
    match (type_, value) {
        (Type::Double, Value::Number(number)) => {
            write_double(number, out);
            Ok(())
        }
        (Type::Decimal(_, scale), Value::Number(number)) if number.is_finite() => {
            write_typed(type_, rounded(number, scale).as_bytes(), out)
        }
        (_, value) => write_typed(type_, value.text().as_bytes(), out),
    }
}

fn write_misfits(misfits: &[Misfit], out: &mut Vec<u8>) {
    if misfits.is_empty() {
        out.extend_from_slice(b"null");
        return;
    }
    for (place, misfit) in misfits.iter().enumerate() {
        out.extend_from_slice(if place == 0 { b"[" } else { b"," });
        let fields: [(&[u8], &str); 3] = [
            (b"{\"column\":", &misfit.column),
            (b",\"value\":", &misfit.value),
            (b",\"reason\":", &misfit.reason),
        ];
        for (key, text) in fields {
            out.extend_from_slice(key);
            write_json(text.as_bytes(), out);
        }
        out.push(b'}');
    }
    out.push(b']');
}
