//! From bytes to the events that the algorithms are written for.

use super::query::NameId;
use penstock_kernel::error::DocumentError;
use penstock_kernel::events::{Handler, Span, StartTag, Symbol};
use penstock_kernel::limits::Limits;
use penstock_kernel::tokenizer::Tokenizer;
use rustc_hash::FxHashMap;

/// An algorithm that listens to one document after the other.
pub trait Matcher {
    fn begin(&mut self);
    /// A start tag; elements are numbered from 0 in document order.
    fn start(&mut self, name: NameId, element: u32, found: &mut Vec<u32>);
    fn end(&mut self, found: &mut Vec<u32>);
    /// The end of the document: what was not listed yet is listed now.
    fn finish(&mut self, found: &mut Vec<u32>);
    /// Forgets what was learnt from documents.
    fn forget(&mut self) {}
}

/// Reads documents for a matcher.
pub struct Reader {
    tokenizer: Tokenizer,
    names: FxHashMap<Box<[u8]>, NameId>,
}

impl Reader {
    pub fn new(names: FxHashMap<Box<[u8]>, NameId>) -> Self {
        let tokenizer = Tokenizer::new(Limits::NONE);
        Reader { tokenizer, names }
    }

    pub fn read(
        &mut self,
        data: &[u8],
        matcher: &mut dyn Matcher,
        found: &mut Vec<u32>,
    ) -> Result<(), String> {
        matcher.begin();
        let mut listener = Listener {
            names: &self.names,
            matcher,
            found,
            elements: 0,
        };
        self.tokenizer
            .begin(None)
            .and_then(|()| self.tokenizer.feed(data, &mut listener))
            .and_then(|()| self.tokenizer.finish(&mut listener))
            .map_err(|error| error.reason.to_string())?;
        listener.matcher.finish(listener.found);
        Ok(())
    }
}

struct Listener<'a> {
    names: &'a FxHashMap<Box<[u8]>, NameId>,
    matcher: &'a mut dyn Matcher,
    found: &'a mut Vec<u32>,
    elements: u32,
}

impl Handler for Listener<'_> {
    fn element_symbol(&mut self, uri: &[u8], local: &[u8]) -> Symbol {
        // The queries have no namespaces: a name in one is nobody's name.
        let known = if uri.is_empty() {
            self.names.get(local)
        } else {
            None
        };
        Symbol(known.copied().unwrap_or(0))
    }

    fn attribute_symbol(&mut self, _uri: &[u8], _local: &[u8]) -> Symbol {
        Symbol(0)
    }

    fn start(&mut self, tag: &StartTag<'_>) -> Result<(), DocumentError> {
        self.matcher.start(tag.symbol.0, self.elements, self.found);
        self.elements += 1;
        Ok(())
    }

    fn end(&mut self, _span: Span) -> Result<(), DocumentError> {
        self.matcher.end(self.found);
        Ok(())
    }

    fn text(&mut self, _value: &[u8], _span: Span) -> Result<(), DocumentError> {
        Ok(())
    }

    fn comment(&mut self, _value: &[u8], _span: Span) -> Result<(), DocumentError> {
        Ok(())
    }

    fn instruction(&mut self, _t: &[u8], _v: &[u8], _span: Span) -> Result<(), DocumentError> {
        Ok(())
    }
}
