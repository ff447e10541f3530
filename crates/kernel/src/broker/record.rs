//! The events of a document, kept to build a tree of it if somebody needs one.

use super::alphabet::Alphabet;
use crate::events::{Scope, Span};
use penstock_sequences::names::{Names, QName};
use penstock_sequences::tree::Tree;
use std::rc::Rc;

#[derive(Clone, Copy)]
enum Event {
    /// A name, its prefix, and the number of the scope.
    Start(u32, (u32, u32), u32),
    /// A name, its prefix and the value.
    Attribute(u32, (u32, u32), (u32, u32)),
    Text((u32, u32)),
    Comment((u32, u32)),
    /// A target and the content.
    Instruction((u32, u32), (u32, u32)),
    End,
}

/// What was read of a document.
#[derive(Default)]
pub struct Record {
    events: Vec<(Event, Span)>,
    bytes: Vec<u8>,
    scopes: Vec<Rc<Scope>>,
    /// Some element has namespace declarations in scope.
    pub has_scopes: bool,
    /// The source of elements does not stand alone.
    pub has_entities: bool,
    /// The decoded input.
    pub source: Vec<u8>,
    /// By element: where it lies.
    pub spans: Vec<Span>,
    open: Vec<u32>,
}

impl Record {
    /// Forgets the document.
    pub fn clear(&mut self) {
        self.events.clear();
        self.bytes.clear();
        self.scopes.clear();
        self.has_scopes = false;
        self.has_entities = false;
        self.source.clear();
        self.spans.clear();
        self.open.clear();
    }

    fn keep(&mut self, bytes: &[u8]) -> (u32, u32) {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(bytes);
        (start, self.bytes.len() as u32)
    }

    /// An element begins.
    pub fn start(&mut self, name: u32, prefix: &[u8], scope: &Rc<Scope>, span: Span) {
        let is_known = |last: &Rc<Scope>| Rc::ptr_eq(last, scope);
        if !self.scopes.last().is_some_and(is_known) {
            self.scopes.push(scope.clone());
            self.has_scopes |= !scope.declarations().is_empty();
        }
        let prefix = self.keep(prefix);
        let scope = self.scopes.len() as u32 - 1;
        self.events.push((Event::Start(name, prefix, scope), span));
        self.open.push(self.spans.len() as u32);
        self.spans.push(span);
    }

    /// An attribute of the element that began last.
    pub fn attribute(&mut self, name: u32, prefix: &[u8], value: &[u8], span: Span) {
        let (prefix, value) = (self.keep(prefix), self.keep(value));
        self.events
            .push((Event::Attribute(name, prefix, value), span));
    }

    /// Text.
    pub fn text(&mut self, value: &[u8], span: Span) {
        let value = self.keep(value);
        self.events.push((Event::Text(value), span));
    }

    /// A comment.
    pub fn comment(&mut self, value: &[u8], span: Span) {
        let value = self.keep(value);
        self.events.push((Event::Comment(value), span));
    }

    /// A processing instruction.
    pub fn instruction(&mut self, target: &[u8], value: &[u8], span: Span) {
        let (target, value) = (self.keep(target), self.keep(value));
        self.events.push((Event::Instruction(target, value), span));
    }

    /// The innermost element ends.
    pub fn end(&mut self, span: Span) {
        self.events.push((Event::End, span));
        if let Some(element) = self.open.pop() {
            self.spans[element as usize].end = span.end;
        }
    }

    /// Whether the source of each element stands alone.
    pub fn is_plain(&self) -> bool {
        !(self.has_scopes || self.has_entities)
    }

    /// The source of an element.
    pub fn source_of(&self, element: u32) -> &[u8] {
        let Span { start, end } = self.spans[element as usize];
        self.source
            .get(start as usize..end as usize)
            .unwrap_or_default()
    }

    /// Fills a tree with the document; returns the nodes of the elements.
    pub fn fill(
        &self,
        tree: &mut Tree,
        names: &mut Names,
        alphabet: &Alphabet,
    ) -> Vec<penstock_sequences::tree::NodeId> {
        let bytes = |(from, to): (u32, u32)| &self.bytes[from as usize..to as usize];
        let mut qname = |name: Option<u32>, prefix: (u32, u32)| -> QName {
            match name.map(|name| alphabet.of(name)) {
                Some(name) => names.qname(bytes(prefix), &name.uri, &name.local),
                None => names.qname(b"", b"", bytes(prefix)),
            }
        };
        tree.clear();
        let mut nodes = Vec::with_capacity(self.spans.len());
        let mut open: Vec<usize> = Vec::new();
        for &(event, span) in &self.events {
            let place = (span.start, span.end);
            match event {
                Event::Start(name, prefix, scope) => {
                    let scope = &self.scopes[scope as usize];
                    open.push(nodes.len());
                    nodes.push(tree.start(qname(Some(name), prefix), Some(scope), span.start));
                }
                Event::Attribute(name, prefix, value) => {
                    tree.attribute(qname(Some(name), prefix), bytes(value), place);
                }
                Event::Text(value) => tree.text(bytes(value), place),
                Event::Comment(value) => {
                    tree.comment(bytes(value), place);
                }
                Event::Instruction(target, value) => {
                    tree.instruction(qname(None, target), bytes(value), place);
                }
                Event::End => {
                    if let Some(element) = open.pop()
                        && !self.has_entities
                    {
                        tree.set_raw(nodes[element], self.source_of(element as u32));
                    }
                    tree.end(span.end);
                }
            }
        }
        tree.end(self.source.len() as u64);
        nodes
    }
}
