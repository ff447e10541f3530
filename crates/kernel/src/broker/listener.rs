//! Listens to a document: its elements and values go into the store, its events into the record.

use super::alphabet::Alphabet;
use super::record::Record;
use crate::error::DocumentError;
use crate::events::{Handler, Span, StartTag, Symbol};
use crate::ledger::Account;
use crate::message::prefix_of;
use crate::vocabulary::NodeKind;
use penstock_broker::Store;

/// The document under way, and what is known of names from the documents before.
pub struct Document {
    /// The names, and the tests that they pass.
    pub alphabet: Alphabet,
    /// The elements and their values.
    pub store: Store,
    /// The events.
    pub record: Record,
    /// What reading costs.
    pub account: Account,
}

impl Document {
    /// No document yet; what the next ones cost goes into an account.
    pub fn new(account: Account) -> Document {
        Document {
            alphabet: Alphabet::default(),
            store: Store::default(),
            record: Record::default(),
            account,
        }
    }

    /// Starts a document.
    pub fn begin(&mut self) {
        self.account.begin();
        self.store.clear();
        self.record.clear();
    }

    /// Forgets all names, but no test.
    pub fn forget_names(&mut self) {
        self.alphabet.forget(&mut self.store);
    }
}

impl Handler for Document {
    fn block(&mut self, bytes: &[u8], _start: u64) {
        self.record.source.extend_from_slice(bytes);
    }

    fn declare_entities(&mut self) {
        self.record.has_entities = true;
    }

    fn element_symbol(&mut self, uri: &[u8], local: &[u8]) -> Symbol {
        let kind = NodeKind::Element;
        Symbol(self.alphabet.name(kind, uri, local, &mut self.store))
    }

    fn attribute_symbol(&mut self, uri: &[u8], local: &[u8]) -> Symbol {
        let kind = NodeKind::Attribute;
        Symbol(self.alphabet.name(kind, uri, local, &mut self.store))
    }

    #[inline]
    fn start(&mut self, tag: &StartTag<'_>) -> Result<(), DocumentError> {
        let name = tag.symbol.0;
        self.account.position = tag.span.end;
        self.account.spend(1 + tag.attributes.len() as u64);
        self.store.start(name);
        self.record
            .start(name, prefix_of(tag.name), tag.scope, tag.span);
        for attribute in tag.attributes {
            let (name, value) = (attribute.symbol.0, attribute.value);
            self.store.attribute(name, value);
            let prefix = prefix_of(attribute.name);
            self.record.attribute(name, prefix, value, attribute.span);
        }
        Ok(())
    }

    #[inline]
    fn end(&mut self, span: Span) -> Result<(), DocumentError> {
        self.store.end();
        self.record.end(span);
        Ok(())
    }

    #[inline]
    fn text(&mut self, value: &[u8], span: Span) -> Result<(), DocumentError> {
        self.store.text(value);
        self.record.text(value, span);
        Ok(())
    }

    fn comment(&mut self, value: &[u8], span: Span) -> Result<(), DocumentError> {
        self.store.end_text();
        self.record.comment(value, span);
        Ok(())
    }

    fn instruction(
        &mut self,
        target: &[u8],
        value: &[u8],
        span: Span,
    ) -> Result<(), DocumentError> {
        self.store.end_text();
        self.record.instruction(target, value, span);
        Ok(())
    }
}
