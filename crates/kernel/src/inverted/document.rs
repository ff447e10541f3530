//! A document as its questions read it: its label paths, its nodes and their values.
//!
//! Nodes have numbers in document order, so what lies below a node is a range of numbers, and the
//! string value of an element is a range of the document's characters. Times are numbers of
//! events; what never happened has the time `NEVER`.

use crate::events::Span;
use crate::plan::NodeKind;

/// The time of what did not happen.
pub const NEVER: u32 = u32::MAX;
const NONE: u32 = u32::MAX;

/// A node.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// The node above; that of the document node is itself.
    pub parent: u32,
    /// Its label path.
    pub path: u32,
    /// When it is known to exist, its attributes included.
    pub born: u32,
    /// When everything below it is known, its string value included.
    pub closed: u32,
    /// The last node below it, or itself.
    pub last: u32,
    /// Where its string value lies, among the texts or, for other leaves, the strings.
    pub value: (u32, u32),
}

/// A label path: the symbols on the way from the document node.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// The path above; that of the document node is itself.
    pub parent: u32,
    /// The symbol at its end.
    pub symbol: u32,
    /// The kind of its nodes.
    pub kind: NodeKind,
    /// When its first node was born.
    pub first: u32,
    /// How many nodes have it.
    pub count: u32,
    child: u32,
    sibling: u32,
}

/// One document; the memory serves the next.
#[derive(Debug, Default)]
pub struct Document {
    /// By number, in document order.
    pub nodes: Vec<Node>,
    /// By number, in order of their first nodes.
    pub paths: Vec<Path>,
    /// Byte ranges of the nodes, if they are wanted.
    pub spans: Vec<Span>,
    /// Offset just past each event.
    pub offsets: Vec<u64>,
    texts: Vec<u8>,
    strings: Vec<u8>,
    open: Vec<u32>,
    text_from: u32,
    text_span: Option<Span>,
}

impl Document {
    /// Starts a document with its document node.
    pub fn begin(&mut self, symbol: u32) {
        self.nodes.clear();
        self.paths.clear();
        self.spans.clear();
        self.offsets.clear();
        self.texts.clear();
        self.strings.clear();
        self.open.clear();
        self.text_span = None;
        self.offsets.push(0);
        self.paths.push(Path {
            parent: 0,
            symbol,
            kind: NodeKind::Document,
            first: 0,
            count: 1,
            child: NONE,
            sibling: NONE,
        });
        self.nodes.push(Node {
            parent: 0,
            path: 0,
            born: 0,
            closed: NEVER,
            last: NONE,
            value: (0, NONE),
        });
        self.spans.push(Span::default());
        self.open.push(0);
    }

    /// An event that ends at this offset; its number is the time of what it brings.
    fn event(&mut self, offset: u64) -> u32 {
        self.offsets.push(offset);
        (self.offsets.len() - 1) as u32
    }

    /// Opens an element.
    pub fn open(&mut self, symbol: u32, span: Span) {
        let now = self.event(span.end);
        let path = self.path(symbol, NodeKind::Element, now);
        let from = self.texts.len() as u32;
        let node = self.add(path, now, span, (from, NONE));
        self.nodes[node as usize].closed = NEVER;
        self.open.push(node);
    }

    /// Closes the innermost element.
    pub fn close(&mut self, end: u64) {
        let now = self.event(end);
        if let Some(node) = self.open.pop() {
            self.close_node(node, now, end);
        }
    }

    fn close_node(&mut self, node: u32, now: u32, end: u64) {
        let last = (self.nodes.len() - 1) as u32;
        let entry = &mut self.nodes[node as usize];
        (entry.closed, entry.last) = (now, last);
        entry.value.1 = self.texts.len() as u32;
        self.spans[node as usize].end = end;
    }

    /// Ends the document.
    pub fn finish(&mut self, length: u64) {
        self.close(length);
    }

    /// Ends a document that is broken off: what is open stays undecided.
    pub fn break_off(&mut self) {
        let last = (self.nodes.len() - 1) as u32;
        while let Some(node) = self.open.pop() {
            self.nodes[node as usize].last = last;
        }
    }

    /// A node without children, born in the latest event.
    pub fn leaf(&mut self, symbol: u32, kind: NodeKind, value: &[u8], span: Span) {
        let now = (self.offsets.len() - 1) as u32;
        let path = self.path(symbol, kind, now);
        let from = self.strings.len() as u32;
        self.strings.extend_from_slice(value);
        self.add(path, now, span, (from, self.strings.len() as u32));
    }

    /// The same, as an event of its own.
    pub fn leaf_event(&mut self, symbol: u32, kind: NodeKind, value: &[u8], span: Span) {
        self.event(span.end);
        self.leaf(symbol, kind, value, span);
    }

    /// Characters; `is_node` if text nodes are asked for.
    pub fn text(&mut self, value: &[u8], span: Span, is_node: bool) {
        if is_node {
            let open = self.text_span.get_or_insert_with(|| {
                self.text_from = self.texts.len() as u32;
                span
            });
            open.end = span.end;
        }
        self.texts.extend_from_slice(value);
    }

    /// Part of a text node without characters.
    pub fn extend_text(&mut self, end: u64) {
        if let Some(open) = &mut self.text_span {
            open.end = end;
        }
    }

    /// Ends the text node under way, if there is one.
    pub fn end_text(&mut self, symbol: u32) {
        if let Some(span) = self.text_span.take() {
            let now = self.event(span.end);
            let path = self.path(symbol, NodeKind::Text, now);
            let value = (self.text_from, self.texts.len() as u32);
            self.add(path, now, span, value);
        }
    }

    fn add(&mut self, path: u32, now: u32, span: Span, value: (u32, u32)) -> u32 {
        let node = self.nodes.len() as u32;
        self.nodes.push(Node {
            parent: self.open[self.open.len() - 1],
            path,
            born: now,
            closed: now,
            last: node,
            value,
        });
        self.spans.push(span);
        node
    }

    /// The path of a node with this symbol below the innermost open element.
    fn path(&mut self, symbol: u32, kind: NodeKind, now: u32) -> u32 {
        let top = self.open[self.open.len() - 1];
        let parent = self.nodes[top as usize].path;
        let mut at = self.paths[parent as usize].child;
        while at != NONE {
            let path = &mut self.paths[at as usize];
            if path.symbol == symbol {
                path.count += 1;
                return at;
            }
            at = path.sibling;
        }
        let id = self.paths.len() as u32;
        let sibling = std::mem::replace(&mut self.paths[parent as usize].child, id);
        self.paths.push(Path {
            parent,
            symbol,
            kind,
            first: now,
            count: 1,
            child: NONE,
            sibling,
        });
        id
    }

    /// The paths below a path.
    pub fn children(&self, path: u32) -> impl Iterator<Item = u32> + '_ {
        let step = |id: u32| (id != NONE).then_some(id);
        std::iter::successors(step(self.paths[path as usize].child), move |&id| {
            step(self.paths[id as usize].sibling)
        })
    }

    /// The string value of a node, if it is complete.
    pub fn value(&self, node: u32) -> &[u8] {
        let entry = &self.nodes[node as usize];
        let (from, to) = (entry.value.0 as usize, entry.value.1 as usize);
        match self.paths[entry.path as usize].kind {
            NodeKind::Attribute | NodeKind::Comment | NodeKind::Instruction => {
                &self.strings[from..to]
            }
            _ => self.texts.get(from..to).unwrap_or_default(),
        }
    }
}
