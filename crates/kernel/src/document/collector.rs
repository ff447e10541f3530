//! Taking documents in: events become nodes, as far as somebody needs them.

use super::bundle::Bundle;
use crate::error::{DocumentError, ErrorKind};
use crate::events::{Handler, Scope, Span, StartTag, Symbol};
use crate::ledger::Account;
use crate::tokenizer::codes;
use crate::vocabulary::NodeKind;
use std::rc::Rc;

/// Gives nodes their symbols: what is asked about a node by its kind and name follows from its
/// symbol.
pub trait Alphabet {
    /// The symbol of a kind and a name.
    fn symbol(&mut self, kind: NodeKind, uri: &[u8], local: &[u8]) -> Symbol;

    /// Whether somebody asks about nodes of a symbol; leaves that nobody asks about are left out.
    fn is_asked(&self, symbol: Symbol) -> bool;
}

/// What is kept of documents.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// String values of elements.
    pub values: bool,
    /// Attributes that are asked about.
    pub attributes: bool,
    /// Where nodes lie, their names and the declarations in scope.
    pub descriptions: bool,
    /// The decoded input.
    pub source: bool,
    /// So many bytes at most, if documents may be large.
    pub bytes_max: Option<u64>,
}

/// Fills a bundle with the documents that it listens to.
pub struct Collector<A> {
    pub alphabet: A,
    pub bundle: Bundle,
    pub needs: Needs,
    document: Symbol,
    text: Symbol,
    comment: Symbol,
    /// Whether text nodes are asked about.
    has_texts: bool,
    pub account: Account,
}

impl<A: Alphabet> Collector<A> {
    pub fn new(mut alphabet: A, needs: Needs, account: Account) -> Self {
        let kinds = [NodeKind::Document, NodeKind::Text, NodeKind::Comment];
        let [document, text, comment] = kinds.map(|kind| alphabet.symbol(kind, b"", b""));
        Collector {
            document,
            text,
            comment,
            has_texts: alphabet.is_asked(text),
            alphabet,
            bundle: Bundle::default(),
            needs,
            account,
        }
    }

    /// Starts a document behind those of the bundle.
    pub fn begin(&mut self) {
        self.account.begin();
        self.bundle.begin(self.document.0);
        self.describe(Span::default(), b"", b"", None);
    }

    /// The document is complete.
    pub fn finish(&mut self, length: u64) {
        self.end_text();
        self.bundle.close(length);
    }

    #[inline]
    fn end_text(&mut self) {
        if let Some(span) = self.bundle.end_text(self.text.0) {
            self.describe(span, b"", b"", None);
        }
    }

    /// A comment or an instruction.
    fn leaf(
        &mut self,
        (symbol, kind): (Symbol, NodeKind),
        name: &[u8],
        value: &[u8],
        span: Span,
    ) -> Result<(), DocumentError> {
        self.end_text();
        if self.alphabet.is_asked(symbol) {
            self.bundle.event(span.end);
            self.bundle.leaf(symbol.0, kind, value);
            self.describe(span, name, b"", None);
        }
        self.check(span.end)
    }

    /// Describes the newest node.
    #[inline]
    fn describe(&mut self, span: Span, name: &[u8], uri: &[u8], scope: Option<&Rc<Scope>>) {
        if self.needs.descriptions {
            self.bundle.descriptions.push(span, name, uri, scope);
        }
    }

    /// Large documents are held as a whole, so their size is bounded like that of any other held
    /// input; offsets are words, which bounds it as well.
    #[inline]
    fn check(&self, byte: u64) -> Result<(), DocumentError> {
        let Some(bytes_max) = self.needs.bytes_max else {
            return Ok(());
        };
        let bound = bytes_max.min(u64::from(u32::MAX));
        if self.bundle.size() as u64 <= bound && byte <= u64::from(u32::MAX) {
            return Ok(());
        }
        let kind = ErrorKind::Limit("buffer_bytes_max");
        let reason = format!("more than {bound} bytes are held for joins (`buffer_bytes_max`)");
        Err(DocumentError::at(byte, kind, codes::BUFFER_BYTES, reason))
    }
}

impl<A: Alphabet> Handler for Collector<A> {
    fn block(&mut self, bytes: &[u8], _start: u64) {
        if self.needs.source {
            self.bundle.add_source(bytes);
        }
    }

    fn element_symbol(&mut self, uri: &[u8], local: &[u8]) -> Symbol {
        self.alphabet.symbol(NodeKind::Element, uri, local)
    }

    fn attribute_symbol(&mut self, uri: &[u8], local: &[u8]) -> Symbol {
        self.alphabet.symbol(NodeKind::Attribute, uri, local)
    }

    #[inline]
    fn start(&mut self, tag: &StartTag<'_>) -> Result<(), DocumentError> {
        self.end_text();
        self.bundle
            .open(tag.symbol.0, NodeKind::Element, tag.span.end);
        self.describe(tag.span, tag.name, tag.uri, Some(tag.scope));
        // Attributes may be defaults, which take no input.
        self.account.position = tag.span.end;
        self.account.spend(1 + tag.attributes.len() as u64);
        if self.needs.attributes {
            for attribute in tag.attributes {
                if self.alphabet.is_asked(attribute.symbol) {
                    let (symbol, kind) = (attribute.symbol.0, NodeKind::Attribute);
                    self.bundle.leaf(symbol, kind, attribute.value);
                    self.describe(attribute.span, attribute.name, attribute.uri, None);
                }
            }
        }
        self.check(tag.span.end)
    }

    #[inline]
    fn end(&mut self, span: Span) -> Result<(), DocumentError> {
        self.end_text();
        self.bundle.close(span.end);
        Ok(())
    }

    #[inline]
    fn text(&mut self, value: &[u8], span: Span) -> Result<(), DocumentError> {
        if self.needs.values || self.has_texts {
            self.bundle.text(value, span, self.has_texts);
        }
        self.check(span.end)
    }

    fn empty_text(&mut self, span: Span) -> Result<(), DocumentError> {
        self.bundle.extend_text(span.end);
        Ok(())
    }

    fn comment(&mut self, value: &[u8], span: Span) -> Result<(), DocumentError> {
        self.leaf((self.comment, NodeKind::Comment), b"", value, span)
    }

    fn instruction(
        &mut self,
        target: &[u8],
        value: &[u8],
        span: Span,
    ) -> Result<(), DocumentError> {
        let symbol = self.alphabet.symbol(NodeKind::Instruction, b"", target);
        self.leaf((symbol, NodeKind::Instruction), target, value, span)
    }
}
