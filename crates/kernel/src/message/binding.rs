//! Bindings for joins whose values and pieces are plain paths: their rows are written without an
//! evaluation of expressions.
//!
//! | form of a column | rows |
//! | --- | --- |
//! | value | for each node a string: the letter, then its string value |
//! | nodes | `<p>…</p>` with the nodes as content |
//! | attributes | `<p …/>` with the nodes as attributes |
//! | quoted | `<p a="…"/>` with the string values of the nodes |
//! | texts | `<p>…</p>` with the string values of the nodes |
//!
//! The name of an element is its letter. That of the last one tells that it is, and its first
//! attribute is the number of the binding (`rows/gathered.rs`).

use super::evaluating::{Evaluating, Failure, Gathered};
use super::member::Task;
use super::places::Test as TestSpec;
use super::serving::TOO_MANY;
use crate::ids::SubscriptionId;
use crate::ledger::steps_of_copy;
use crate::plan::{ProgramError, Read, Reader};
use crate::rows::{RowHead, RowKind};
use crate::vocabulary::{Axis as AxisCode, NodeKind};
use penstock_sequences::error::Error;
use penstock_sequences::eval::{markup, serialize};
use penstock_sequences::names::Names;
use penstock_sequences::scope::Scope;
use penstock_sequences::tree::{Axis, Forest, Kind, NameTest, NodeId, NodeRef, Test, Tree, Walk};
use smallvec::SmallVec;

/// What becomes of the nodes of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Value,
    Nodes,
    Attributes,
    Quoted,
    Texts,
}

#[derive(Debug)]
struct Column {
    form: Form,
    letter: u8,
    /// Steps whose nodes come in document order, each once.
    path: Box<[(Axis, Test)]>,
}

/// The columns of a binding.
#[derive(Debug)]
pub struct Layout {
    columns: Box<[Column]>,
}

impl Layout {
    /// Reads a layout; names of its tests go into a table of names.
    pub fn read(bytes: &[u8], names: &mut Names) -> Read<Layout> {
        let mut reader = Reader::new(bytes);
        let columns = reader.many(|reader, _| Column::read(reader, names))?;
        reader.end()?;
        match columns.last() {
            Some(last) if last.form != Form::Value => Ok(Layout {
                columns: columns.into(),
            }),
            _ => Err(ProgramError("a binding has no last piece")),
        }
    }
}

impl Column {
    fn read(reader: &mut Reader<'_>, names: &mut Names) -> Read<Column> {
        let form = match reader.below(5)? {
            0 => Form::Value,
            1 => Form::Nodes,
            2 => Form::Attributes,
            3 => Form::Quoted,
            _ => Form::Texts,
        };
        let letter = reader.below(128)? as u8;
        let path = reader.many(|reader, _| read_step(reader, names))?;
        // Below one of several descendants there may be others of them.
        let elements = match path.split_last() {
            Some(((Axis::Attribute, _), elements)) => elements,
            _ => &path,
        };
        let before = elements.split_last().map_or(elements, |(_, before)| before);
        if before.iter().any(|(axis, _)| *axis != Axis::Child) {
            return Err(ProgramError("the nodes of a column have no order"));
        }
        Ok(Column {
            form,
            letter,
            path: path.into(),
        })
    }
}

fn read_step(reader: &mut Reader<'_>, names: &mut Names) -> Read<(Axis, Test)> {
    let axis = match AxisCode::from_code(reader.word()?) {
        Some(AxisCode::Child) => Axis::Child,
        Some(AxisCode::Descendant) => Axis::Descendant,
        Some(AxisCode::Attribute) => Axis::Attribute,
        _ => return Err(ProgramError("a column looks elsewhere than down")),
    };
    let spec = TestSpec::read(reader)?;
    let kind = match spec.kind {
        NodeKind::Element => Kind::Element,
        NodeKind::Attribute => Kind::Attribute,
        NodeKind::Text => Kind::Text,
        _ => return Err(ProgramError("a column has other nodes")),
    };
    let name = match (&spec.local, spec.uris.as_deref()) {
        (None, None) => NameTest::Any,
        (Some(local), Some([uri])) => {
            let uri = names.string(&String::from_utf8_lossy(uri));
            let local = names.string(&String::from_utf8_lossy(local));
            NameTest::Is(names.expanded(uri, local))
        }
        _ => return Err(ProgramError("a column has nodes of several names")),
    };
    let test = Test {
        kind: Some(kind),
        name,
        element: None,
    };
    Ok((axis, test))
}

/// Nodes of a column.
type Found = SmallVec<[NodeId; 8]>;

/// Adds the nodes that a path leads to from a node; returns how many were looked at.
fn find(
    path: &[(Axis, Test)],
    node: NodeId,
    (tree, names): (&Tree, &Names),
    found: &mut Found,
) -> u64 {
    let Some(((axis, test), rest)) = path.split_first() else {
        found.push(node);
        return 1;
    };
    let mut walk = Walk::new(*axis, tree, node);
    let mut visited = 1;
    while let Some(next) = walk.next(tree) {
        visited += 1;
        if test.accepts(tree, next, names) {
            visited += find(rest, next, (tree, names), found);
        }
    }
    visited
}

impl Evaluating {
    /// Writes the rows of the bindings of a region.
    pub(super) fn bind(
        &mut self,
        layout: &Layout,
        nodes: &[NodeId],
        subscriptions: &[SubscriptionId],
        task: &mut Task<'_>,
    ) -> Result<Gathered, Failure> {
        let before = (task.rows.len(), task.rows.value.bytes.len());
        let bound = nodes
            .iter()
            .try_for_each(|&node| self.bind_one(layout, node, subscriptions, task));
        let Task { account, rows, .. } = task;
        account.add_rows(rows.len() - before.0, rows.value.bytes.len() - before.1);
        match bound {
            Ok(()) => Ok(Gathered::Done),
            Err(error) => Err(Failure { error, byte: 0 }),
        }
    }

    fn bind_one(
        &mut self,
        layout: &Layout,
        node: NodeId,
        subscriptions: &[SubscriptionId],
        task: &mut Task<'_>,
    ) -> Result<(), Error> {
        self.number += 1;
        let mut found = Found::new();
        for (place, column) in layout.columns.iter().enumerate() {
            found.clear();
            let tree = self.forest.tree(NodeRef::of_document(node));
            let visited = find(&column.path, node, (tree, &self.forest.names), &mut found);
            let start = task.rows.value.bytes.len();
            if column.form == Form::Value {
                for &value in &found {
                    let out = &mut task.rows.value.bytes;
                    out.push(column.letter);
                    out.extend_from_slice(self.forest.value(NodeRef::of_document(value)));
                    self.add_row(RowKind::String, subscriptions, task)?;
                }
            } else {
                let number = (place + 1 == layout.columns.len()).then_some(self.number);
                let out = &mut task.rows.value.bytes;
                let mut spend = |steps| task.account.spend(steps);
                write_piece(column, number, &found, (&mut self.forest, &mut spend), out);
                self.add_row(RowKind::Element, subscriptions, task)?;
            }
            let written = task.rows.value.bytes.len() - start;
            task.account.spend(visited + written as u64 / 64);
        }
        Ok(())
    }

    /// Adds a row whose value was written.
    fn add_row(
        &mut self,
        kind: RowKind,
        subscriptions: &[SubscriptionId],
        task: &mut Task<'_>,
    ) -> Result<(), Error> {
        let rows = &mut *task.rows;
        let start = rows.value.offsets.last().map_or(0, |&end| end as usize);
        let end = rows.value.bytes.len();
        if self.ordinal >= self.results_max {
            rows.value.bytes.truncate(start);
            return Err(too_many(self.results_max));
        }
        for (place, &subscription) in subscriptions.iter().enumerate() {
            if place > 0 {
                task.account.spend(steps_of_copy(end - start));
                rows.value.bytes.extend_from_within(start..end);
            }
            let head = RowHead {
                document: task.document,
                subscription,
                ordinal: self.ordinal,
                kind,
                span: None,
                decided_at: task.at,
                node: self.ordinal,
            };
            rows.push(head, b"", None);
        }
        self.ordinal += 1;
        Ok(())
    }
}

/// The error of a document that has more results than it may.
pub(super) fn too_many(results_max: u64) -> Error {
    let reason = format!("there are more than {results_max} results (`{TOO_MANY}`)");
    Error::new(TOO_MANY, reason)
}

/// Writes an element with what a column has.
fn write_piece(
    column: &Column,
    number: Option<u64>,
    found: &[NodeId],
    (forest, meter): (&mut Forest, &mut dyn FnMut(u64)),
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(&[b'<', column.letter]);
    if let Some(number) = number {
        out.extend_from_slice(b" n=\"");
        out.extend_from_slice(number.to_string().as_bytes());
        out.push(b'"');
    }
    match column.form {
        Form::Attributes => {
            for &node in found {
                let node = NodeRef::of_document(node);
                let name = forest.tree(node).name(node.node);
                let local = forest.names.text(forest.names.local(name.name));
                markup::attribute("", local, forest.value(node), out);
            }
        }
        Form::Quoted => {
            markup::attribute("", "a", &joined(found, forest), out);
        }
        _ => {
            out.push(b'>');
            let start = out.len();
            if column.form == Form::Nodes {
                for &node in found {
                    let start = out.len();
                    write_node(node, (&mut *forest, &mut *meter), out);
                    meter(steps_of_copy(out.len() - start));
                }
            } else {
                markup::escape(&joined(found, forest), out);
            }
            if out.len() > start {
                out.extend_from_slice(&[b'<', b'/', column.letter, b'>']);
                return;
            }
            out.pop();
        }
    }
    out.extend_from_slice(b"/>");
}

/// The string values of nodes, with spaces between them.
fn joined(found: &[NodeId], forest: &Forest) -> SmallVec<[u8; 64]> {
    let mut text = SmallVec::new();
    for (place, &node) in found.iter().enumerate() {
        if place > 0 {
            text.push(b' ');
        }
        text.extend_from_slice(forest.value(NodeRef::of_document(node)));
    }
    text
}

/// Writes a node as content.
fn write_node(
    node: NodeId,
    (forest, meter): (&mut Forest, &mut dyn FnMut(u64)),
    out: &mut Vec<u8>,
) {
    let node = NodeRef::of_document(node);
    let tree = forest.tree(node);
    if tree.kind(node.node) == Kind::Text {
        markup::escape(tree.value(node.node), out);
        return;
    }
    // With declarations around it the source does not stand alone.
    match tree.raw(node.node) {
        Some(source) if tree.scope(node.node).is_none_or(|scope| is_empty(scope)) => {
            out.extend_from_slice(source);
        }
        _ => out.extend_from_slice(&serialize(node, forest, meter)),
    }
}

fn is_empty(scope: &Scope) -> bool {
    let mut chain = std::iter::successors(Some(scope), |scope| scope.outer.as_deref());
    chain.all(|scope| scope.declared.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step to children of a name: axis, kind, local name, namespace.
    const CHILD: &[u8] = b"\x01\x02\x01\x01a\x01\x01\x00";
    const DESCENDANT: &[u8] = b"\x02\x02\x01\x01a\x01\x01\x00";

    fn layout(form: u8, steps: &[&[u8]]) -> Read<Layout> {
        let mut bytes = vec![1, form, b'p', steps.len() as u8];
        steps.iter().for_each(|step| bytes.extend_from_slice(step));
        Layout::read(&bytes, &mut Names::default())
    }

    #[test]
    fn a_layout_ends_with_a_piece_and_its_nodes_have_an_order() {
        assert!(layout(1, &[CHILD, DESCENDANT]).is_ok());
        assert!(layout(0, &[CHILD]).is_err());
        assert!(layout(1, &[DESCENDANT, CHILD]).is_err());
        assert!(layout(5, &[CHILD]).is_err());
        assert!(layout(1, &[&CHILD[..4]]).is_err());
    }
}
