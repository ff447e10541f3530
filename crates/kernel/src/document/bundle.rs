//! Documents as their questions read them: their label paths, their nodes and their values.
//!
//! A bundle is a forest. Its documents share a tree of label paths, each of which knows the
//! documents that have it, so that a question is put to all of them at once. Nodes have numbers in
//! document order, one document behind the other, so what lies below a node is a range of numbers,
//! and the string value of an element is a range of the bundle's characters. Times are numbers of
//! events; what never happened has the time `NEVER`.

use super::descriptions::{Description, Descriptions};
use crate::events::{Span, expand_name, local_name};
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
    /// What is said of the nodes.
    pub(super) descriptions: Descriptions,
    /// Offset just past each event, in its document.
    pub offsets: Vec<u64>,
    /// By document: its document node, and where its source starts.
    starts: Vec<(u32, usize)>,
    /// Label paths by the path above and the symbol, as one word.
    known_paths: FxHashMap<u64, u32>,
    texts: Vec<u8>,
    strings: Vec<u8>,
    /// The decoded input, one document behind the other.
    source: Vec<u8>,
    open: Vec<u32>,
    text_from: u32,
    text_span: Option<Span>,
    /// Bytes of all elements together: those of nested ones count for each of them.
    pub nested_bytes: u64,
}

impl Bundle {
    /// Forgets all documents.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.paths.clear();
        self.descriptions.clear();
        self.offsets.clear();
        self.starts.clear();
        self.known_paths.clear();
        self.texts.clear();
        self.strings.clear();
        self.source.clear();
        self.nested_bytes = 0;
    }

    /// Bytes that are held.
    pub(super) fn size(&self) -> usize {
        let bytes = self.texts.len() + self.strings.len() + self.source.len();
        std::mem::size_of_val(&*self.nodes) + self.descriptions.size() + bytes
    }

    /// How long the documents are that came to their ends.
    pub fn bytes(&self) -> u64 {
        let ends = self.starts.iter();
        let ends = ends.map(|&(node, _)| self.nodes[node as usize].closed);
        ends.filter(|&end| end != NEVER)
            .map(|end| self.offsets[end as usize])
            .sum()
    }

    /// How many documents there are.
    pub fn document_count(&self) -> usize {
        self.starts.len()
    }

    /// The numbers of the nodes of a document: the first, and the first of the next.
    pub fn nodes_of(&self, document: usize) -> (u32, u32) {
        let end = self.starts.get(document + 1);
        let end = end.map_or(self.nodes.len() as u32, |start| start.0);
        (self.starts[document].0, end)
    }

    /// Starts a document with its document node.
    pub(super) fn begin(&mut self, symbol: u32) {
        debug_assert!(self.starts.len() < DOCUMENTS_MAX);
        self.open.clear();
        self.text_span = None;
        self.starts
            .push((self.nodes.len() as u32, self.source.len()));
        self.open(symbol, NodeKind::Document, 0);
    }

    /// Keeps the next part of the document's source.
    pub(super) fn add_source(&mut self, bytes: &[u8]) {
        self.source.extend_from_slice(bytes);
    }

    /// An event that ends at this offset; its number is the time of what it brings.
    pub(super) fn event(&mut self, offset: u64) -> u32 {
        self.offsets.push(offset);
        (self.offsets.len() - 1) as u32
    }

    /// Opens an element, or a document node.
    #[inline]
    pub(super) fn open(&mut self, symbol: u32, kind: NodeKind, end: u64) {
        let now = self.event(end);
        let path = self.path(symbol, kind, now);
        let node = self.add(path, now, (self.texts.len() as u32, NONE));
        self.nodes[node as usize].closed = NEVER;
        self.open.push(node);
    }

    /// Closes the innermost element, or the document node.
    #[inline]
    pub(super) fn close(&mut self, end: u64) {
        let now = self.event(end);
        if let Some(node) = self.open.pop() {
            let last = (self.nodes.len() - 1) as u32;
            let entry = &mut self.nodes[node as usize];
            (entry.closed, entry.last) = (now, last);
            entry.value.1 = self.texts.len() as u32;
            self.descriptions.end(node, end);
            self.nested_bytes += self.descriptions.length(node);
        }
    }

    /// Ends a document that is broken off: what is open stays undecided.
    pub fn break_off(&mut self) {
        let last = (self.nodes.len() - 1) as u32;
        while let Some(node) = self.open.pop() {
            self.nodes[node as usize].last = last;
        }
    }

    /// A node without children, born in the latest event.
    pub(super) fn leaf(&mut self, symbol: u32, kind: NodeKind, value: &[u8]) {
        let now = (self.offsets.len() - 1) as u32;
        let path = self.path(symbol, kind, now);
        let from = self.strings.len() as u32;
        self.strings.extend_from_slice(value);
        self.add(path, now, (from, self.strings.len() as u32));
    }

    /// Characters; `is_node` if text nodes are asked for.
    #[inline]
    pub(super) fn text(&mut self, value: &[u8], span: Span, is_node: bool) {
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
    pub(super) fn extend_text(&mut self, end: u64) {
        if let Some(open) = &mut self.text_span {
            open.end = end;
        }
    }

    /// Ends the text node under way, if there is one; where that lies.
    #[inline]
    pub(super) fn end_text(&mut self, symbol: u32) -> Option<Span> {
        let span = self.text_span.take()?;
        let now = self.event(span.end);
        let path = self.path(symbol, NodeKind::Text, now);
        self.add(path, now, (self.text_from, self.texts.len() as u32));
        Some(span)
    }

    fn add(&mut self, path: u32, now: u32, value: (u32, u32)) -> u32 {
        let node = self.nodes.len() as u32;
        self.nodes.push(Node {
            parent: self.open.last().copied().unwrap_or(node),
            path,
            document: self.starts.len() as u32 - 1,
            born: now,
            closed: now,
            last: node,
            value,
        });
        node
    }

    /// The path of a node with this symbol below the innermost open element.
    fn path(&mut self, symbol: u32, kind: NodeKind, now: u32) -> u32 {
        let above = self.open.last().map(|&top| self.nodes[top as usize].path);
        let fresh = self.paths.len() as u32;
        let key = u64::from(above.unwrap_or(NONE)) << u32::BITS | u64::from(symbol);
        let id = *self.known_paths.entry(key).or_insert(fresh);
        if id == fresh {
            let child = |above: u32| std::mem::replace(&mut self.paths[above as usize].child, id);
            let sibling = above.map_or(NONE, child);
            self.paths.push(Path {
                parent: above.unwrap_or(id),
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
        path.documents |= 1 << (self.starts.len() - 1);
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

    /// The kind of a node.
    #[inline]
    pub fn kind(&self, node: u32) -> NodeKind {
        self.path_of(node).kind
    }

    /// The symbol of a node.
    #[inline]
    pub fn symbol(&self, node: u32) -> u32 {
        self.path_of(node).symbol
    }

    #[inline]
    fn path_of(&self, node: u32) -> &Path {
        &self.paths[self.nodes[node as usize].path as usize]
    }

    /// The string value of a node, if it is complete.
    pub fn value(&self, node: u32) -> &[u8] {
        let (from, to) = self.nodes[node as usize].value;
        let (from, to) = (from as usize, to as usize);
        match self.kind(node) {
            NodeKind::Attribute | NodeKind::Comment | NodeKind::Instruction => {
                &self.strings[from..to]
            }
            _ => self.texts.get(from..to).unwrap_or_default(),
        }
    }

    /// What is said of a node.
    pub fn description(&self, node: u32) -> &Description {
        self.descriptions.of(node)
    }

    /// The name of a node as written.
    pub fn name(&self, node: u32) -> &[u8] {
        self.descriptions.name(node)
    }

    /// The local part of its name.
    pub fn local_name(&self, node: u32) -> &[u8] {
        local_name(self.kind(node), self.name(node))
    }

    /// Its namespace.
    pub fn uri(&self, node: u32) -> &[u8] {
        self.descriptions.uri(node)
    }

    /// Appends its name as `{uri}local`.
    pub fn expand_name(&self, node: u32, out: &mut Vec<u8>) {
        expand_name(self.uri(node), self.local_name(node), out);
    }

    /// Its source.
    pub fn source(&self, node: u32) -> &[u8] {
        let document = self.nodes[node as usize].document as usize;
        let Span { start, end } = self.description(node).span;
        &self.source[self.starts[document].1..][start as usize..end as usize]
    }
}
