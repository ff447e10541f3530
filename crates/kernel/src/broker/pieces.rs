//! Pieces of messages: expressions over a bound node, evaluated once for each.

use super::alphabet::Alphabet;
use super::program::PieceForm;
use super::record::Record;
use crate::message::now;
use crate::plan::{ProgramError, Read};
use penstock_broker::{NONE, Step, Store};
use penstock_sequences::code::Code;
use penstock_sequences::error::Error;
use penstock_sequences::eval::{Evaluation, Sequence, Settings};
use penstock_sequences::names::NamesMark;
use penstock_sequences::tree::{Forest, NodeId, NodeRef};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The wrappers that pieces are written in.
const ELEMENT: (&[u8], &[u8]) = (b"<w>", b"</w>");
const ATTRIBUTE: (&[u8], &[u8]) = (b"<w a=\"", b"\"/>");

struct Piece {
    evaluation: Evaluation,
    is_attribute: bool,
    /// Where it leads, if it is a mere path.
    steps: Option<Vec<Step>>,
}

/// Where the bytes of a piece lie. An error has the number of the error, and no end.
pub type Span = (u32, u32);

/// All pieces, and what they are for the nodes of a document.
#[derive(Default)]
pub struct Pieces {
    all: Vec<Piece>,
    ids: FxHashMap<(bool, Box<[u8]>), u32>,
    forest: Forest,
    names: Option<NamesMark>,
    /// The nodes of the elements, if the tree of the document has been built.
    nodes: Option<Vec<NodeId>>,
    /// By piece: where its elements' spans start, or `NONE`.
    blocks: Vec<u32>,
    spans: Vec<Span>,
    /// Bytes of pieces.
    pub bytes: Vec<u8>,
    /// Why pieces have no value.
    pub errors: Vec<Error>,
    list: Vec<u32>,
    is_new: bool,
}

/// What pieces are evaluated over.
pub struct Reading<'a> {
    /// The elements and values of the document.
    pub store: &'a Store,
    /// Its events.
    pub record: &'a Record,
    /// Its names.
    pub alphabet: &'a Alphabet,
}

impl Pieces {
    /// The number of a piece. There is no document under way.
    pub fn intern(&mut self, form: &PieceForm<'_>, recursion_max: u64) -> Read<u32> {
        let key = (form.is_attribute, form.code.into());
        if let Some(&id) = self.ids.get(&key) {
            return Ok(id);
        }
        self.forget();
        let code = Code::read(form.code, &mut self.forest.names);
        let code = code.map_err(|_| ProgramError("its code is wrong"))?;
        if code.entry_count() != 1 || !code.is_message(0) {
            return Err(ProgramError("its code has other entries"));
        }
        self.names = Some(self.forest.names.mark());
        let settings = Settings {
            recursion_max: usize::try_from(recursion_max).unwrap_or(usize::MAX),
            has_messages: true,
            is_empty_dropped: false,
            now: now(),
        };
        let id = self.all.len() as u32;
        self.all.push(Piece {
            evaluation: Evaluation::new(Rc::new(code), settings),
            is_attribute: form.is_attribute,
            steps: form.steps.clone(),
        });
        self.ids.insert(key, id);
        Ok(id)
    }

    /// Where a piece leads, if it is a mere path.
    pub fn steps(&self, piece: u32) -> Option<&[Step]> {
        self.all[piece as usize].steps.as_deref()
    }

    /// Forgets the document and its names.
    fn forget(&mut self) {
        self.clear();
        if let Some(mark) = self.names {
            self.forest.names.truncate(mark);
        }
    }

    /// Forgets the document.
    pub fn clear(&mut self) {
        if self.nodes.take().is_some() {
            self.forest.clear();
        }
        self.blocks.clear();
        self.blocks.resize(self.all.len(), NONE);
        self.spans.clear();
        self.bytes.clear();
        self.errors.clear();
        self.is_new = true;
    }

    /// A piece of a node.
    #[inline]
    pub fn of(
        &mut self,
        piece: u32,
        element: u32,
        reading: &Reading<'_>,
        meter: &mut dyn FnMut(u64),
    ) -> Span {
        if self.blocks[piece as usize] == NONE {
            self.blocks[piece as usize] = self.spans.len() as u32;
            let length = self.spans.len() + reading.store.len();
            self.spans.resize(length, (NONE, NONE));
        }
        let slot = self.blocks[piece as usize] as usize + element as usize;
        if self.spans[slot].0 == NONE {
            self.spans[slot] = self.make(piece, element, reading, meter);
        }
        self.spans[slot]
    }

    fn make(
        &mut self,
        piece: u32,
        element: u32,
        reading: &Reading<'_>,
        meter: &mut dyn FnMut(u64),
    ) -> Span {
        let Reading { store, record, .. } = reading;
        if let (Some(steps), true) = (&self.all[piece as usize].steps, record.is_plain()) {
            let start = self.bytes.len() as u32;
            self.list.clear();
            store.follow(element, steps, &mut self.list);
            for &found in &self.list {
                self.bytes.extend_from_slice(record.source_of(found));
            }
            let end = self.bytes.len() as u32;
            meter(1 + u64::from(end - start) / 64);
            return (start, end);
        }
        self.evaluate(piece, &[element], reading, meter)
    }

    /// A piece of several nodes.
    pub fn evaluate(
        &mut self,
        piece: u32,
        elements: &[u32],
        reading: &Reading<'_>,
        meter: &mut dyn FnMut(u64),
    ) -> Span {
        if self.nodes.is_none() {
            let Forest { names, .. } = &mut self.forest;
            let mut names = std::mem::take(names);
            let tree = self.forest.document();
            self.nodes = Some(reading.record.fill(tree, &mut names, reading.alphabet));
            self.forest.names = names;
            meter(1 + reading.record.source.len() as u64 / 16);
        }
        if std::mem::take(&mut self.is_new) {
            let now = now();
            self.all
                .iter_mut()
                .for_each(|piece| piece.evaluation.restart(now));
        }
        let nodes = self.nodes.as_deref().unwrap_or_default();
        let bound = elements
            .iter()
            .map(|&element| NodeRef::of_document(nodes[element as usize]));
        let bound: Sequence = bound.collect();
        let Piece {
            evaluation,
            is_attribute,
            ..
        } = &mut self.all[piece as usize];
        let (before, after) = if *is_attribute { ATTRIBUTE } else { ELEMENT };
        let start = self.bytes.len() as u32;
        let bytes = &mut self.bytes;
        let mark = self.forest.mark();
        let written = evaluation.rows(0, Some(bound), &mut self.forest, meter, &mut |row| {
            // A wrapper without content has no end tag.
            let value = row.value.strip_prefix(before);
            let value = value.and_then(|value| value.strip_suffix(after));
            bytes.extend_from_slice(value.unwrap_or_default());
        });
        self.forest.truncate(mark);
        match written {
            Ok(()) => (start, self.bytes.len() as u32),
            Err(error) => {
                self.errors.push(error);
                (self.errors.len() as u32 - 1, NONE)
            }
        }
    }
}
