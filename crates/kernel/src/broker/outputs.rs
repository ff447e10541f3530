//! What messages say, as constant bytes and pieces.

use super::program::{Content, Part};
use penstock_sequences::eval::markup;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// What is written for a bound node, one after the other.
#[derive(Clone, Debug)]
pub enum Op {
    /// Constant bytes.
    Bytes(Range<u32>),
    /// A piece.
    Piece(u32),
    /// The rest of a start tag, pieces and the end tag; or the end of an empty tag.
    Enclosed {
        /// The rest of the start tag.
        open: Range<u32>,
        /// The pieces between, in `Outputs::pieces`.
        pieces: Range<u32>,
        /// The end tag.
        close: Range<u32>,
        /// The end of an empty tag.
        empty: Range<u32>,
    },
}

/// An output: constant bytes around what is said of bound nodes.
#[derive(Clone, Debug)]
pub struct Output {
    /// The bytes before.
    pub before: Range<u32>,
    /// The bytes behind.
    pub after: Range<u32>,
    /// What is written for each node.
    pub ops: Range<u32>,
    /// Its one piece is evaluated for all nodes at once.
    pub is_set: bool,
    /// Nothing but pieces is said of a node, so that there may be nothing.
    pub is_bare: bool,
}

/// The distinct outputs of a tier.
#[derive(Default)]
pub struct Outputs {
    /// Constant bytes of all.
    pub bytes: Vec<u8>,
    /// Operations of all.
    pub ops: Vec<Op>,
    /// Pieces between tags.
    pub pieces: Vec<u32>,
    /// The outputs, by number.
    pub all: Vec<Output>,
    ids: FxHashMap<Box<[u8]>, u32>,
}

impl Outputs {
    /// The number of an output that is known by its bytes; pieces are numbers of the caller's.
    pub fn intern(&mut self, key: &[u8], message: &Content, pieces: &[u32]) -> u32 {
        if let Some(&id) = self.ids.get(key) {
            return id;
        }
        let mut draft = Draft {
            outputs: self,
            pieces,
            bytes: Vec::new(),
            ops: Vec::new(),
            before: None,
            is_set: false,
        };
        draft.content(message);
        let Draft {
            bytes: after,
            ops,
            before,
            is_set,
            ..
        } = draft;
        let after = self.keep(&after);
        let first = self.ops.len() as u32;
        let is_bare = ops.iter().all(|op| matches!(op, Op::Piece(_)));
        self.ops.extend(ops);
        let id = self.all.len() as u32;
        self.all.push(Output {
            before: before.unwrap_or(0..0),
            after,
            ops: first..self.ops.len() as u32,
            is_set,
            is_bare,
        });
        self.ids.insert(key.into(), id);
        id
    }

    /// The pieces of each bound node, in the order in which they are written.
    pub fn pieces_of(&self, output: &Output) -> Vec<u32> {
        if output.is_set {
            return Vec::new();
        }
        let ops = &self.ops[output.ops.start as usize..output.ops.end as usize];
        let pieces = ops.iter().flat_map(|op| match op {
            Op::Bytes(_) => &[][..],
            Op::Piece(piece) => std::slice::from_ref(piece),
            Op::Enclosed { pieces, .. } => &self.pieces[pieces.start as usize..pieces.end as usize],
        });
        pieces.copied().collect()
    }

    fn keep(&mut self, bytes: &[u8]) -> Range<u32> {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len() as u32
    }
}

struct Draft<'a> {
    outputs: &'a mut Outputs,
    pieces: &'a [u32],
    /// Constant bytes that are no part of an operation yet.
    bytes: Vec<u8>,
    ops: Vec<Op>,
    /// The bytes before the loop, once that has begun.
    before: Option<Range<u32>>,
    is_set: bool,
}

impl Draft<'_> {
    /// Ends the constant bytes under way.
    fn flush(&mut self) {
        if !self.bytes.is_empty() {
            let bytes = std::mem::take(&mut self.bytes);
            let range = self.outputs.keep(&bytes);
            self.ops.push(Op::Bytes(range));
        }
    }

    fn piece(&mut self, piece: usize) {
        self.flush();
        self.ops.push(Op::Piece(self.pieces[piece]));
    }

    fn content(&mut self, content: &Content) {
        match content {
            Content::Part(Part::Characters(text)) => {
                markup::escape(text.as_bytes(), &mut self.bytes);
            }
            Content::Part(Part::Piece(piece)) => self.piece(*piece),
            Content::Loop { is_set, content } => {
                let bytes = std::mem::take(&mut self.bytes);
                self.before = Some(self.outputs.keep(&bytes));
                self.is_set = *is_set;
                content.iter().for_each(|inner| self.content(inner));
                self.flush();
            }
            Content::Element {
                name,
                attributes,
                content,
            } => self.element(name, attributes, content),
        }
    }

    fn element(&mut self, name: &str, attributes: &[(Box<str>, Vec<Part>)], content: &[Content]) {
        self.bytes.push(b'<');
        self.bytes.extend_from_slice(name.as_bytes());
        for (name, parts) in attributes {
            self.attribute(name, parts);
        }
        let close = format!("</{name}>");
        let only_piece = |inner: &Content| match inner {
            Content::Part(Part::Piece(piece)) => Some(self.pieces[*piece]),
            _ => None,
        };
        let pieces: Option<Vec<u32>> = content.iter().map(only_piece).collect();
        match pieces {
            Some(pieces) if pieces.is_empty() => self.bytes.extend_from_slice(b"/>"),
            Some(pieces) => {
                let tag = std::mem::take(&mut self.bytes);
                let first = self.outputs.pieces.len() as u32;
                self.outputs.pieces.extend(pieces);
                let end = self.outputs.pieces.len() as u32;
                let open = self.outputs.keep(&[&tag, &b">"[..]].concat());
                let empty = self.outputs.keep(&[&tag, &b"/>"[..]].concat());
                let close = self.outputs.keep(close.as_bytes());
                self.ops.push(Op::Enclosed {
                    open,
                    pieces: first..end,
                    close,
                    empty,
                });
            }
            None => {
                self.bytes.push(b'>');
                content.iter().for_each(|inner| self.content(inner));
                self.bytes.extend_from_slice(close.as_bytes());
            }
        }
    }

    fn attribute(&mut self, name: &str, parts: &[Part]) {
        // Values are escaped as a whole attribute is, so its quotes are moved behind the pieces.
        markup::attribute("", name, b"", &mut self.bytes);
        self.bytes.pop();
        for part in parts {
            match part {
                Part::Characters(text) => {
                    let mut whole = Vec::new();
                    markup::attribute("", "", text.as_bytes(), &mut whole);
                    self.bytes.extend_from_slice(&whole[3..whole.len() - 1]);
                }
                Part::Piece(piece) => self.piece(*piece),
            }
        }
        self.bytes.push(b'"');
    }
}
