//! All tiers listen to one tokenizer.

use super::Tiers;
use crate::error::DocumentError;
use crate::events::{Attribute, Handler, Span, StartTag, Symbol};

impl Handler for Tiers {
    fn block(&mut self, bytes: &[u8], start: u64) {
        self.open.enter_block(start + bytes.len() as u64);
        for runner in &mut self.runners {
            runner.automaton.block(bytes, start);
        }
    }

    fn block_end(&mut self, unread: u64) -> Result<(), DocumentError> {
        for runner in &mut self.runners {
            runner.automaton.block_end(unread)?;
        }
        self.note();
        Ok(())
    }

    fn element_symbol(&mut self, uri: &[u8], local: &[u8]) -> Symbol {
        let symbols = self.runners.iter_mut();
        let row = symbols.map(|runner| runner.automaton.element_symbol(uri, local).0);
        Symbol(self.symbols.intern(row.collect()))
    }

    fn attribute_symbol(&mut self, uri: &[u8], local: &[u8]) -> Symbol {
        let symbols = self.runners.iter_mut();
        let row = symbols.map(|runner| runner.automaton.attribute_symbol(uri, local).0);
        Symbol(self.symbols.intern(row.collect()))
    }

    fn start(&mut self, tag: &StartTag<'_>) -> Result<(), DocumentError> {
        if self.options.is_live {
            self.open.push(tag);
        }
        let count = self.runners.len();
        let mut attributes: Vec<Attribute<'_>> = tag.attributes.to_vec();
        for (index, runner) in self.runners.iter_mut().enumerate() {
            runner.is_waiting = false;
            for (own, shared) in attributes.iter_mut().zip(tag.attributes) {
                own.symbol = Symbol(self.symbols.symbol(shared.symbol.0, index, count));
            }
            runner.automaton.start(&StartTag {
                symbol: Symbol(self.symbols.symbol(tag.symbol.0, index, count)),
                attributes: &attributes,
                ..*tag
            })?;
        }
        self.note();
        Ok(())
    }

    fn end(&mut self, span: Span) -> Result<(), DocumentError> {
        self.open.pop();
        for runner in &mut self.runners {
            runner.automaton.end(span)?;
        }
        self.note();
        Ok(())
    }

    fn text(&mut self, value: &[u8], span: Span) -> Result<(), DocumentError> {
        for runner in self.runners.iter_mut().filter(|runner| !runner.is_waiting) {
            runner.automaton.text(value, span)?;
        }
        Ok(())
    }

    fn empty_text(&mut self, span: Span) -> Result<(), DocumentError> {
        for runner in self.runners.iter_mut().filter(|runner| !runner.is_waiting) {
            runner.automaton.empty_text(span)?;
        }
        Ok(())
    }

    fn comment(&mut self, value: &[u8], span: Span) -> Result<(), DocumentError> {
        for runner in self.runners.iter_mut().filter(|runner| !runner.is_waiting) {
            runner.automaton.comment(value, span)?;
        }
        self.note();
        Ok(())
    }

    fn instruction(
        &mut self,
        target: &[u8],
        value: &[u8],
        span: Span,
    ) -> Result<(), DocumentError> {
        for runner in self.runners.iter_mut().filter(|runner| !runner.is_waiting) {
            runner.automaton.instruction(target, value, span)?;
        }
        self.note();
        Ok(())
    }
}
