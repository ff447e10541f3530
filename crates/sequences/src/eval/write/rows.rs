//! Rows: one for each item of a result.

use super::{Target, Writer};
use crate::atomic::{Atomic, AtomicType};
use crate::names::{Names, QName};
use crate::scope::Scope;
use crate::tree::{Forest, Kind, NodeRef, Span};
use std::rc::Rc;

/// One item of a result.
#[derive(Clone, Copy, Debug, Default)]
pub struct Row<'r> {
    /// `element`, `attribute`, `text`, `comment`, `processing-instruction`, `document`, `number`,
    /// `string`, `boolean` or `message`.
    pub kind: &'static str,
    /// `{uri}local` of a node or of the type of an atomic value; empty for none.
    pub name: &'r str,
    /// XML for elements, documents and messages; the string value of other items.
    pub value: &'r [u8],
    /// Where the node lies in its document; None for what a constructor made.
    pub span: Option<Span>,
    /// If the value is the source of an element: the declarations in force at it, which the value
    /// does not repeat.
    pub scope: Option<&'r Rc<Scope>>,
    /// The node of a document or of a tree that was built, if there is one.
    pub node: Option<NodeRef>,
    /// The name of a node, as numbers.
    pub qname: QName,
    /// The atomic value, if it is one.
    pub atomic: Option<&'r Atomic>,
}

/// The name of a kind of node.
pub(in crate::eval) fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Document => "document",
        Kind::Element => "element",
        Kind::Attribute => "attribute",
        Kind::Text => "text",
        Kind::Comment => "comment",
        Kind::Instruction => "processing-instruction",
    }
}

impl Writer<'_> {
    /// Hands out the element or document that is complete.
    pub(super) fn finish_row(&mut self, name: Option<QName>, names: &Names) {
        let origin = self.origin.take();
        let Target::Rows(bytes, out) = &mut self.target else {
            return;
        };
        let kind = if name.is_some() {
            "element"
        } else {
            "document"
        };
        let qname = name.unwrap_or_default();
        out(Row {
            kind,
            name: &names.clark(qname.name),
            value: bytes,
            span: self.span,
            node: origin,
            qname,
            ..Row::default()
        });
        self.span = None;
        bytes.clear();
    }

    /// Hands out a node that is only a value.
    pub(super) fn value_row(
        &mut self,
        kind: &'static str,
        name: QName,
        value: &[u8],
        names: &Names,
    ) {
        let node = self.origin.take();
        let span = self.span.take();
        if let Target::Rows(_, out) = &mut self.target {
            out(Row {
                kind,
                name: &names.clark(name.name),
                value,
                span,
                node,
                qname: name,
                ..Row::default()
            });
        }
    }

    /// Hands out an element whose source is kept; false if there is none.
    pub(super) fn source_row(&mut self, node: NodeRef, forest: &Forest) -> bool {
        let tree = forest.tree(node);
        // Only what a constructor made lies nowhere.
        let span = Some(tree.span(node.node)).filter(|span| *span != (0, 0));
        self.span = span;
        let (Target::Rows(_, out), Some(value)) = (&mut self.target, tree.raw(node.node)) else {
            return false;
        };
        self.items += 1;
        (self.origin, self.span) = (None, None);
        out(Row {
            kind: kind_name(tree.kind(node.node)),
            name: &forest.names.clark(tree.name(node.node).name),
            value,
            span,
            scope: tree.scope(node.node),
            node: Some(node),
            qname: tree.name(node.node),
            atomic: None,
        });
        true
    }

    /// Hands out an atomic value.
    pub(super) fn atomic_row(&mut self, value: &Atomic) {
        let Target::Rows(_, out) = &mut self.target else {
            return;
        };
        let type_ = value.type_of();
        let kind = match type_ {
            AtomicType::Boolean => "boolean",
            type_ if type_.is_numeric() => "number",
            _ => "string",
        };
        let text = value.shared_text();
        out(Row {
            kind,
            name: &format!("{{http://www.w3.org/2001/XMLSchema}}{}", type_.name()),
            value: text.as_bytes(),
            atomic: Some(value),
            ..Row::default()
        });
    }
}
