//! Taking documents in.

use super::Trie;
use crate::error::DocumentError;
use crate::events::{Handler, Scope, Span, StartTag, Symbol};
use crate::plan::NodeKind;
use std::rc::Rc;

impl Trie {
    /// Starts a bundle of documents.
    pub fn begin_bundle(&mut self) {
        self.bundle.clear();
        self.source.clear();
        self.source_from.clear();
        self.described.clear();
    }

    /// Starts a document.
    pub fn begin(&mut self) {
        self.bundle.begin(self.symbols.document.0);
        self.source_from.push(self.source.len());
        self.describe(b"", b"", None);
    }

    /// The document is complete.
    pub fn finish(&mut self, length: u64) {
        self.end_text();
        self.bundle.finish(length);
    }

    /// The document turned out to be bad: what is decided so far stands.
    pub fn break_off(&mut self) {
        self.bundle.break_off();
    }

    fn symbol(&mut self, kind: NodeKind, uri: &[u8], local: &[u8]) -> Symbol {
        let symbol = self.symbols.resolve(&self.plan, kind, uri, local);
        self.names.admit(&self.symbols, symbol);
        symbol
    }

    fn is_asked(&self, symbol: Symbol) -> bool {
        !self.symbols.class(symbol).tests.is_empty()
    }

    fn end_text(&mut self) {
        if self.is_text_asked {
            let before = self.bundle.nodes.len();
            self.bundle.end_text(self.symbols.text.0);
            if self.bundle.nodes.len() > before {
                self.describe(b"", b"", None);
            }
        }
    }

    /// Keeps what the rows of queries say of the newest node.
    #[inline]
    fn describe(&mut self, local: &[u8], uri: &[u8], scope: Option<&Rc<Scope>>) {
        if self.has_queries {
            let name = self.expanded_name(local, uri);
            self.described.push((name, scope.cloned()));
        }
    }
}

impl Handler for Trie {
    fn block(&mut self, bytes: &[u8], _start: u64) {
        if self.has_queries {
            self.source.extend_from_slice(bytes);
        }
    }

    fn element_symbol(&mut self, uri: &[u8], local: &[u8]) -> Symbol {
        self.symbol(NodeKind::Element, uri, local)
    }

    fn attribute_symbol(&mut self, uri: &[u8], local: &[u8]) -> Symbol {
        self.symbol(NodeKind::Attribute, uri, local)
    }

    #[inline]
    fn start(&mut self, tag: &StartTag<'_>) -> Result<(), DocumentError> {
        self.end_text();
        self.bundle.open(tag.symbol.0, tag.span);
        self.describe(local(tag.name), tag.uri, Some(tag.scope));
        if self.asks_attributes {
            for attribute in tag.attributes {
                if self.is_asked(attribute.symbol) {
                    let symbol = attribute.symbol.0;
                    let kind = NodeKind::Attribute;
                    self.bundle
                        .leaf(symbol, kind, attribute.value, attribute.span);
                    self.describe(local(attribute.name), attribute.uri, None);
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn end(&mut self, span: Span) -> Result<(), DocumentError> {
        self.end_text();
        self.bundle.close(span.end);
        Ok(())
    }

    #[inline]
    fn text(&mut self, value: &[u8], span: Span) -> Result<(), DocumentError> {
        if self.needs_values || self.is_text_asked {
            self.bundle.text(value, span, self.is_text_asked);
        }
        Ok(())
    }

    fn empty_text(&mut self, span: Span) -> Result<(), DocumentError> {
        self.bundle.extend_text(span.end);
        Ok(())
    }

    fn comment(&mut self, value: &[u8], span: Span) -> Result<(), DocumentError> {
        self.end_text();
        if self.is_comment_asked {
            let symbol = self.symbols.comment.0;
            self.bundle
                .leaf_event(symbol, NodeKind::Comment, value, span);
            self.describe(b"", b"", None);
        }
        Ok(())
    }

    fn instruction(
        &mut self,
        target: &[u8],
        value: &[u8],
        span: Span,
    ) -> Result<(), DocumentError> {
        self.end_text();
        let symbol = self.symbol(NodeKind::Instruction, b"", target);
        if self.is_asked(symbol) {
            self.bundle
                .leaf_event(symbol.0, NodeKind::Instruction, value, span);
            self.describe(target, b"", None);
        }
        Ok(())
    }
}

fn local(name: &[u8]) -> &[u8] {
    memchr::memchr(b':', name).map_or(name, |colon| &name[colon + 1..])
}
