//! Documents as their questions read them: their label paths, their nodes and their values.
//!
//! A bundle is a forest. Its documents share a tree of label paths, each of which knows the
//! documents that have it, so that a question is put to all of them at once. Nodes have numbers in
//! document order, one document behind the other, so what lies below a node is a range of numbers,
//! and the string value of an element is a range of the bundle's characters. Times are numbers of
//! events; what never happened has the time `NEVER`.

use crate::events::Span;
use crate::vocabulary::NodeKind;
use rustc_hash::FxHashMap;

/// Some documents of a bundle, a bit for each.
pub type Docs = u32;
/// How many documents a bundle has at most.
pub const DOCUMENTS_MAX: usize = Docs::BITS as usize;

/// The time of what did not happen.
pub const NEVER: u32 = u32::MAX;
const NONE: u32 = u32::MAX;

/// A node and a time.
pub type Timed = (u32, u32);

/// When the first of some nodes is certain, and which documents have such nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Earliest {
    pub time: u32,
    pub documents: Docs,
}

impl Earliest {
    /// That of no nodes.
    pub const NONE: Earliest = Earliest {
        time: NEVER,
        documents: 0,
    };

    /// That of the nodes of both.
    #[inline]
    pub fn or(self, other: Earliest) -> Earliest {
        Earliest {
            time: self.time.min(other.time),
            documents: self.documents | other.documents,
        }
    }
}

/// A node.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// The node above; that of a document node is itself.
    pub parent: u32,
    /// Its label path.
    pub path: u32,
    /// Its document.
    pub document: u32,
    /// When it is known to exist, its attributes included.
    pub born: u32,
    /// When everything below it is known, its string value included.
    pub closed: u32,
    /// The last node below it, or itself.
    pub last: u32,
    /// Where its string value lies, among the texts or, for other leaves, the strings.
    pub value: (u32, u32),
}

/// A label path: the symbols on the way from a document node.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// The path above; that of document nodes is itself.
    pub parent: u32,
    /// The symbol at its end.
    pub symbol: u32,
    /// The kind of its nodes.
    pub kind: NodeKind,
    /// When its first node was born.
    pub first: u32,
    /// The documents that have it.
    pub documents: Docs,
    /// How many nodes have it.
    pub count: u32,
    child: u32,
    sibling: u32,
}

/// The documents taken in; the memory serves the next bundle.
#[derive(Debug, Default)]
pub struct Bundle {
    /// By number, in document order.
    pub nodes: Vec<Node>,
    /// By number, in order of their first nodes.
    pub paths: Vec<Path>,
    /// Byte ranges of the nodes in their documents.
    pub spans: Vec<Span>,
    /// Offset just past each event, in its document.
    pub offsets: Vec<u64>,
    /// By document: its document node.
    starts: Vec<u32>,
    /// Label paths by the path above and the symbol.
    known_paths: FxHashMap<(u32, u32), u32>,
    texts: Vec<u8>,
    strings: Vec<u8>,
    open: Vec<u32>,
    text_from: u32,
    text_span: Option<Span>,
}

impl Bundle {
    /// Forgets all documents.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.paths.clear();
        self.spans.clear();
        self.offsets.clear();
        self.starts.clear();
        self.known_paths.clear();
        self.texts.clear();
        self.strings.clear();
    }

    /// How many documents there are.
    pub fn document_count(&self) -> usize {
        self.starts.len()
    }

    /// The numbers of the nodes of a document: the first, and the first of the next.
    pub fn nodes_of(&self, document: usize) -> (u32, u32) {
        let end = self.starts.get(document + 1);
        let end = end.copied().unwrap_or(self.nodes.len() as u32);
        (self.starts[document], end)
    }

    /// Starts a document with its document node.
    pub fn begin(&mut self, symbol: u32) {
        debug_assert!(self.starts.len() < DOCUMENTS_MAX);
        self.open.clear();
        self.text_span = None;
        let now = self.event(0);
        let number = self.nodes.len() as u32;
        self.starts.push(number);
        if self.paths.is_empty() {
            self.paths.push(Path {
                parent: 0,
                symbol,
                kind: NodeKind::Document,
                first: now,
                documents: 0,
                count: 0,
                child: NONE,
                sibling: NONE,
            });
        }
        let bit = self.bit();
        let path = &mut self.paths[0];
        path.documents |= bit;
        path.count += 1;
        self.nodes.push(Node {
            parent: number,
            path: 0,
            document: self.starts.len() as u32 - 1,
            born: now,
            closed: NEVER,
            last: NONE,
            value: (self.texts.len() as u32, NONE),
        });
        self.spans.push(Span::default());
        self.open.push(number);
    }

    /// The document under way.
    fn bit(&self) -> Docs {
        1 << (self.starts.len() - 1)
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
            document: self.starts.len() as u32 - 1,
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
        let bit = self.bit();
        let fresh = self.paths.len() as u32;
        let id = *self.known_paths.entry((parent, symbol)).or_insert(fresh);
        if id == fresh {
            let sibling = std::mem::replace(&mut self.paths[parent as usize].child, id);
            self.paths.push(Path {
                parent,
                symbol,
                kind,
                first: now,
                documents: 0,
                count: 0,
                child: NONE,
                sibling,
            });
        }
        let path = &mut self.paths[id as usize];
        path.documents |= bit;
        path.count += 1;
        id
    }

    /// The paths below a path.
    pub fn children(&self, path: u32) -> impl Iterator<Item = u32> + '_ {
        let step = |id: u32| (id != NONE).then_some(id);
        std::iter::successors(step(self.paths[path as usize].child), move |&id| {
            step(self.paths[id as usize].sibling)
        })
    }

    /// A node that is certain from some time on.
    #[inline]
    pub fn earliest(&self, node: u32, time: u32) -> Earliest {
        Earliest {
            time,
            documents: 1 << self.nodes[node as usize].document,
        }
    }

    /// The same for several.
    pub fn earliest_of(&self, items: &[Timed]) -> Earliest {
        let each = items.iter().map(|&(node, time)| self.earliest(node, time));
        each.fold(Earliest::NONE, Earliest::or)
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
