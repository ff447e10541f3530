//! Filling a tree from events, and dropping parts of it.

use super::node::{Kind, NO_RAW, NO_SCOPE, Node, NodeId, Span, Tree};
use crate::names::QName;
use crate::scope::Scope;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A place to truncate a tree to; the default is the place before its first node.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    nodes: usize,
    texts: usize,
    values: usize,
    scopes: usize,
    raws: usize,
    raw_bytes: usize,
}

/// A tree with a document node, which is open.
impl Default for Tree {
    fn default() -> Self {
        let mut tree = Tree::without_root();
        tree.push(Kind::Document, QName::default(), (0, 0));
        tree.open.push(NodeId::ROOT);
        tree
    }
}

impl Tree {
    /// A tree without nodes: what is started first has no parent.
    pub fn without_root() -> Tree {
        Tree {
            nodes: Vec::new(),
            spans: Vec::new(),
            texts: Vec::new(),
            values: Vec::new(),
            scopes: Vec::new(),
            raws: Vec::new(),
            raw_bytes: Vec::new(),
            ids: Vec::new(),
            elements: FxHashMap::default(),
            open: Vec::new(),
            is_text_open: false,
        }
    }

    /// Makes it a tree with a document node and nothing else, and keeps its memory.
    pub fn clear(&mut self) {
        self.truncate(Mark::default());
        self.push(Kind::Document, QName::default(), (0, 0));
        self.open.push(NodeId::ROOT);
    }

    /// Starts an element; `start` is the offset of its start tag.
    pub fn start(&mut self, name: QName, scope: Option<&Rc<Scope>>, start: u64) -> NodeId {
        let node = self.push(Kind::Element, name, (start, start));
        if let Some(scope) = scope {
            self.set_scope(node, scope);
        }
        self.nodes[node.index()].last = NodeId::NONE;
        self.open.push(node);
        node
    }

    /// Adds an attribute to the element that was started last. It has no children yet.
    pub fn attribute(&mut self, name: QName, value: &[u8], span: Span) -> NodeId {
        let node = self.push(Kind::Attribute, name, span);
        self.set_value(node, value);
        node
    }

    /// Adds a piece of text. Pieces that follow each other are one node, unless `end_text` was
    /// called in between.
    pub fn text(&mut self, value: &[u8], span: Span) {
        if self.is_text_open {
            let node = self.nodes.len() - 1;
            self.spans[node].1 = span.1;
        } else {
            self.push(Kind::Text, QName::default(), span);
            self.is_text_open = true;
        }
        self.texts.extend_from_slice(value);
        if let Some(node) = self.nodes.last_mut() {
            node.end = self.texts.len();
        }
    }

    /// The next piece of text is a node of its own: there was a tag, comment or instruction in
    /// between that is not kept.
    pub fn end_text(&mut self) {
        self.is_text_open = false;
    }

    /// Adds characters to the string values of all open elements without keeping a node.
    pub fn add_value(&mut self, value: &[u8]) {
        self.is_text_open = false;
        self.texts.extend_from_slice(value);
    }

    /// Adds a comment.
    pub fn comment(&mut self, value: &[u8], span: Span) -> NodeId {
        let node = self.push(Kind::Comment, QName::default(), span);
        self.set_value(node, value);
        node
    }

    /// Adds a processing instruction; the local name is its target.
    pub fn instruction(&mut self, target: QName, value: &[u8], span: Span) -> NodeId {
        let node = self.push(Kind::Instruction, target, span);
        self.set_value(node, value);
        node
    }

    /// Ends the innermost open element, or the document; `end` is the offset behind its end tag.
    pub fn end(&mut self, end: u64) {
        self.is_text_open = false;
        let Some(node) = self.open.pop() else {
            return;
        };
        let last = NodeId(self.nodes.len() as u32 - 1);
        self.spans[node.index()].1 = end;
        let node = &mut self.nodes[node.index()];
        (node.last, node.end) = (last, self.texts.len());
    }

    /// The innermost element or document that is open.
    pub fn innermost(&self) -> Option<NodeId> {
        self.open.last().copied()
    }

    /// Keeps the source of an element: its text from `<` to `>`, entities expanded, without the
    /// namespace declarations that its ancestors made.
    pub fn set_raw(&mut self, node: NodeId, source: &[u8]) {
        let start = self.raw_bytes.len();
        self.raw_bytes.extend_from_slice(source);
        self.nodes[node.index()].raw = self.raws.len() as u32;
        self.raws.push(start..self.raw_bytes.len());
    }

    /// Sets the id of an element: the value of the attribute that the document declares to be one.
    pub fn set_id(&mut self, node: NodeId, id: &[u8]) {
        self.ids.push((node, id.into()));
        self.elements.entry(id.into()).or_insert(node);
    }

    /// Sets the declarations in force at an element.
    pub fn set_scope(&mut self, node: NodeId, scope: &Rc<Scope>) {
        if !self
            .scopes
            .last()
            .is_some_and(|last| Rc::ptr_eq(last, scope))
        {
            self.scopes.push(scope.clone());
        }
        self.nodes[node.index()].scope = self.scopes.len() as u32 - 1;
    }

    /// A mark to come back to.
    pub fn mark(&self) -> Mark {
        Mark {
            nodes: self.nodes.len(),
            texts: self.texts.len(),
            values: self.values.len(),
            scopes: self.scopes.len(),
            raws: self.raws.len(),
            raw_bytes: self.raw_bytes.len(),
        }
    }

    /// Drops the nodes and values that came after a mark. Elements that were started after it are
    /// not open any more: their ends are not to be reported. The string values of elements that
    /// stay lose what was dropped.
    pub fn truncate(&mut self, mark: Mark) {
        self.nodes.truncate(mark.nodes);
        self.spans.truncate(mark.nodes);
        self.texts.truncate(mark.texts);
        self.values.truncate(mark.values);
        self.scopes.truncate(mark.scopes);
        self.raws.truncate(mark.raws);
        self.raw_bytes.truncate(mark.raw_bytes);
        while self
            .ids
            .last()
            .is_some_and(|(node, _)| node.index() >= mark.nodes)
        {
            if let Some((node, id)) = self.ids.pop()
                && self.elements.get(&id) == Some(&node)
            {
                self.elements.remove(&id);
            }
        }
        while self
            .open
            .last()
            .is_some_and(|node| node.index() >= mark.nodes)
        {
            self.open.pop();
        }
        self.is_text_open = false;
    }

    fn push(&mut self, kind: Kind, name: QName, span: Span) -> NodeId {
        self.is_text_open = false;
        let id = NodeId(self.nodes.len() as u32);
        assert_ne!(id, NodeId::NONE, "a tree has fewer than 2^32 nodes");
        let at = match kind {
            Kind::Document | Kind::Element | Kind::Text => self.texts.len(),
            _ => self.values.len(),
        };
        self.nodes.push(Node {
            kind,
            name,
            parent: self.open.last().copied().unwrap_or(NodeId::NONE),
            last: if kind == Kind::Document {
                NodeId::NONE
            } else {
                id
            },
            scope: NO_SCOPE,
            raw: NO_RAW,
            start: at,
            end: at,
        });
        self.spans.push(span);
        id
    }

    fn set_value(&mut self, node: NodeId, value: &[u8]) {
        self.values.extend_from_slice(value);
        self.nodes[node.index()].end = self.values.len();
    }
}
