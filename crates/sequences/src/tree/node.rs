//! Nodes in flat arrays.

use crate::names::QName;
use crate::scope::Scope;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::rc::Rc;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The document node.
    Document,
    /// An element.
    Element,
    /// An attribute.
    Attribute,
    /// Text.
    Text,
    /// A comment.
    Comment,
    /// A processing instruction.
    Instruction,
}

/// The place of a node in its tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The first node of a tree.
    pub const ROOT: NodeId = NodeId(0);
    /// No node: the parent of a root, or the last descendant of an element that is still open.
    pub(super) const NONE: NodeId = NodeId(u32::MAX);

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where a node lies in its document: `start..end` in bytes.
pub type Span = (u64, u64);

pub(super) const NO_SCOPE: u32 = u32::MAX;
pub(super) const NO_RAW: u32 = u32::MAX;

/// A node. Its place is its number.
#[derive(Clone, Debug)]
pub struct Node {
    pub(super) kind: Kind,
    pub(super) name: QName,
    pub(super) parent: NodeId,
    pub(super) last: NodeId,
    pub(super) scope: u32,
    pub(super) raw: u32,
    /// A range of `Tree::texts` for documents, elements and text, else of `Tree::values`.
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Nodes in document order, with their values.
#[derive(Debug)]
pub struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) spans: Vec<Span>,
    pub(super) texts: Vec<u8>,
    pub(super) values: Vec<u8>,
    pub(super) scopes: Vec<Rc<Scope>>,
    pub(super) raws: Vec<Range<usize>>,
    pub(super) raw_bytes: Vec<u8>,
    /// The elements that have an id, in the order that they got it.
    pub(super) ids: Vec<(NodeId, Box<[u8]>)>,
    /// The first element with each id.
    pub(super) elements: FxHashMap<Box<[u8]>, NodeId>,
    pub(super) open: Vec<NodeId>,
    /// The next piece of text belongs to the last node.
    pub(super) is_text_open: bool,
}

impl Tree {
    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The bytes of values and sources that the tree holds.
    pub fn value_bytes(&self) -> usize {
        self.texts.len() + self.values.len() + self.raw_bytes.len()
    }

    /// What a node is.
    #[inline]
    pub fn kind(&self, node: NodeId) -> Kind {
        self.nodes[node.index()].kind
    }

    /// The name of an element or attribute, or the target of an instruction.
    #[inline]
    pub fn name(&self, node: NodeId) -> QName {
        self.nodes[node.index()].name
    }

    /// The parent, if it is in the tree.
    #[inline]
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        let parent = self.nodes[node.index()].parent;
        (parent != NodeId::NONE).then_some(parent)
    }

    /// The last node below a node, attributes included; the node itself where there is none.
    #[inline]
    pub fn last(&self, node: NodeId) -> NodeId {
        let last = self.nodes[node.index()].last;
        if last == NodeId::NONE {
            NodeId(self.nodes.len() as u32 - 1)
        } else {
            last
        }
    }

    /// Whether the end of a document or element is still to come.
    #[inline]
    pub fn is_open(&self, node: NodeId) -> bool {
        self.nodes[node.index()].last == NodeId::NONE
    }

    /// The string value: what is between the tags of an element that is complete.
    #[inline]
    pub fn value(&self, node: NodeId) -> &[u8] {
        let found = &self.nodes[node.index()];
        match found.kind {
            Kind::Text => &self.texts[found.start..found.end],
            Kind::Document | Kind::Element if found.last == NodeId::NONE => {
                &self.texts[found.start..]
            }
            Kind::Document | Kind::Element => &self.texts[found.start..found.end],
            _ => &self.values[found.start..found.end],
        }
    }

    /// Where the node lies in its document.
    pub fn span(&self, node: NodeId) -> Span {
        self.spans[node.index()]
    }

    /// Declarations in force at an element.
    pub fn scope(&self, node: NodeId) -> Option<&Rc<Scope>> {
        self.scopes.get(self.nodes[node.index()].scope as usize)
    }

    /// The source of an element, if it is kept.
    pub fn raw(&self, node: NodeId) -> Option<&[u8]> {
        let range = self.raws.get(self.nodes[node.index()].raw as usize)?;
        Some(&self.raw_bytes[range.clone()])
    }

    /// The topmost node above a node, or the node itself.
    pub fn root(&self, node: NodeId) -> NodeId {
        let mut at = node;
        while let Some(parent) = self.parent(at) {
            at = parent;
        }
        at
    }

    /// The first element with an id, as the document's own declarations say.
    pub fn element_with_id(&self, id: &[u8]) -> Option<NodeId> {
        self.elements.get(id).copied()
    }

    /// The attributes of an element, in order.
    pub fn attributes(&self, element: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let first = element.0 + 1;
        (first..=self.last(element).0)
            .map(NodeId)
            .take_while(move |&node| self.is_attribute_of(node, element))
    }

    #[inline]
    pub(super) fn is_attribute_of(&self, node: NodeId, element: NodeId) -> bool {
        let found = &self.nodes[node.index()];
        found.kind == Kind::Attribute && found.parent == element
    }
}
