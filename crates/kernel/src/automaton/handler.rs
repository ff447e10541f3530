//! The automaton listens to the tokenizer.

use super::frames::MemoryId;
use super::states::Flags;
use super::{Automaton, Node};
use crate::error::DocumentError;
use crate::events::{Handler, Span, StartTag, Symbol};
use crate::plan::NodeKind;

impl Handler for Automaton {
    fn element_symbol(&mut self, uri: &[u8], local: &[u8]) -> Symbol {
        self.symbol(NodeKind::Element, uri, local)
    }

    fn attribute_symbol(&mut self, uri: &[u8], local: &[u8]) -> Symbol {
        self.symbol(NodeKind::Attribute, uri, local)
    }

    fn block(&mut self, bytes: &[u8], start: u64) {
        self.source.enter(bytes, start);
    }

    fn block_end(&mut self, unread: u64) -> Result<(), DocumentError> {
        self.leave_block(unread)
    }

    #[inline]
    fn start(&mut self, tag: &StartTag<'_>) -> Result<(), DocumentError> {
        if self.text_span.is_some() {
            self.finish_text()?;
        }
        self.event_end = tag.span.end;
        let flags = self.push(tag.symbol);
        if flags.has(Flags::OPEN) || !self.passes_circuit(tag.symbol, tag.span.start) {
            self.open_element(tag)?;
        }
        self.trace_event();
        Ok(())
    }

    #[inline]
    fn end(&mut self, span: Span) -> Result<(), DocumentError> {
        if self.text_span.is_some() {
            self.finish_text()?;
        }
        self.event_end = span.end;
        let frame = &self.frames.stack[self.frames.stack.len() - 1];
        if frame.flags.has(Flags::CLOSE)
            || frame.memory != MemoryId::EMPTY
            || frame.candidate.is_some()
            || !self.leaves_circuit()
        {
            self.close_node(span.end)?;
        } else {
            self.frames.pop();
        }
        self.trace_event();
        Ok(())
    }

    #[inline]
    fn text(&mut self, value: &[u8], span: Span) -> Result<(), DocumentError> {
        if self.value_frames > 0 {
            if (self.values.len() + value.len()) as u64 > self.limits.text_bytes_max {
                return Err(self.value_too_long(span));
            }
            self.values.extend_from_slice(value);
        }
        self.check_held(span.end)?;
        let top = &self.frames.stack[self.frames.stack.len() - 1];
        if top.flags.has(Flags::TEXT) || self.hears_text || self.trace.is_some() {
            let start = self.text_span.map_or(span.start, |open| open.start);
            self.text_span = Some(Span {
                start,
                end: span.end,
            });
            if (self.text.len() + value.len()) as u64 > self.limits.text_bytes_max {
                return Err(self.value_too_long(span));
            }
            self.text.extend_from_slice(value);
        }
        Ok(())
    }

    fn empty_text(&mut self, span: Span) -> Result<(), DocumentError> {
        // It may be the end of a CDATA section whose characters came before.
        if let Some(open) = &mut self.text_span {
            open.end = span.end;
        }
        Ok(())
    }

    fn comment(&mut self, value: &[u8], span: Span) -> Result<(), DocumentError> {
        self.finish_text()?;
        self.event_end = span.end;
        let flags = self.frames.stack[self.frames.stack.len() - 1].flags;
        if flags.has(Flags::COMMENT) || self.is_heard(self.symbols.comment) {
            let node = Node {
                kind: NodeKind::Comment,
                name: b"",
                uri: b"",
                start: span.start,
                scope: None,
            };
            self.visit_leaf(self.symbols.comment, &node, value, span.end)?;
            self.finish_circuit();
            self.settle()?;
        }
        self.trace_event();
        Ok(())
    }

    fn instruction(
        &mut self,
        target: &[u8],
        value: &[u8],
        span: Span,
    ) -> Result<(), DocumentError> {
        self.finish_text()?;
        self.event_end = span.end;
        let flags = self.frames.stack[self.frames.stack.len() - 1].flags;
        if flags.has(Flags::INSTRUCTION) || self.circuit.is_some() {
            let symbol = self.symbol(NodeKind::Instruction, b"", target);
            let node = Node {
                kind: NodeKind::Instruction,
                name: target,
                uri: b"",
                start: span.start,
                scope: None,
            };
            self.visit_leaf(symbol, &node, value, span.end)?;
            self.finish_circuit();
            self.settle()?;
        }
        self.trace_event();
        Ok(())
    }
}
