//! Several listeners hear one tokenizer: each event goes to all of them, with their own symbols.

use super::{Engine, Listener, Listeners};
use crate::error::DocumentError;
use crate::events::{Attribute, Handler, Span, StartTag, Symbol};
use smallvec::SmallVec;

/// Passes an event on to an engine, whichever it is.
macro_rules! tell {
    ($engine:expr, $handler:ident => $event:expr) => {
        match $engine {
            Engine::Automaton(runner) => {
                let $handler = &mut runner.automaton;
                $event
            }
            Engine::Trie(asker) => {
                let $handler = &mut asker.trie.taken;
                $event
            }
            Engine::Witnesses(witnesses) => {
                let $handler = &mut witnesses.taken;
                $event
            }
            Engine::Messages(messages) => {
                let $handler = &mut **messages;
                $event
            }
            Engine::Broker(broker) => {
                let $handler = &mut broker.document;
                $event
            }
        }
    };
}

impl Listeners {
    /// Tells everybody who is not waiting.
    #[inline]
    fn tell(
        &mut self,
        event: impl Fn(&mut Engine) -> Result<(), DocumentError>,
    ) -> Result<(), DocumentError> {
        let hears = |listener: &&mut Listener| listener.is_active && !listener.is_waiting;
        for listener in self.list.iter_mut().filter(hears) {
            event(&mut listener.engine)?;
        }
        Ok(())
    }

    /// The symbol that stands for those of all listeners.
    fn intern(&mut self, symbol: impl Fn(&mut Engine) -> Symbol) -> Symbol {
        let of_listener = |listener: &mut Listener| match listener.is_active {
            true => symbol(&mut listener.engine),
            false => Symbol(0),
        };
        let row = self.list.iter_mut().map(of_listener).collect();
        self.symbols.intern(row)
    }
}

impl Handler for Listeners {
    fn block(&mut self, bytes: &[u8], start: u64) {
        self.open.enter_block(start + bytes.len() as u64);
        for listener in self.list.iter_mut().filter(|listener| listener.is_active) {
            tell!(&mut listener.engine, handler => handler.block(bytes, start));
        }
    }

    fn block_end(&mut self, unread: u64) -> Result<(), DocumentError> {
        for listener in self.list.iter_mut().filter(|listener| listener.is_active) {
            tell!(&mut listener.engine, handler => handler.block_end(unread))?;
        }
        self.note();
        Ok(())
    }

    fn declare_entities(&mut self) {
        for listener in self.list.iter_mut().filter(|listener| listener.is_active) {
            tell!(&mut listener.engine, handler => handler.declare_entities());
        }
    }

    fn element_symbol(&mut self, uri: &[u8], local: &[u8]) -> Symbol {
        self.intern(|engine| tell!(engine, handler => handler.element_symbol(uri, local)))
    }

    fn attribute_symbol(&mut self, uri: &[u8], local: &[u8]) -> Symbol {
        self.intern(|engine| tell!(engine, handler => handler.attribute_symbol(uri, local)))
    }

    fn start(&mut self, tag: &StartTag<'_>) -> Result<(), DocumentError> {
        if self.options.is_live {
            self.open.push(tag);
        }
        let count = self.list.len();
        let mut attributes: SmallVec<[Attribute<'_>; 8]> = tag.attributes.into();
        for (place, listener) in self.list.iter_mut().enumerate() {
            if matches!(listener.engine, Engine::Automaton(_)) {
                listener.is_waiting = false;
            }
            if !listener.is_active || listener.is_waiting {
                continue;
            }
            for (own, shared) in attributes.iter_mut().zip(tag.attributes) {
                own.symbol = self.symbols.symbol(shared.symbol, place, count);
            }
            let own = StartTag {
                symbol: self.symbols.symbol(tag.symbol, place, count),
                attributes: &attributes,
                ..*tag
            };
            tell!(&mut listener.engine, handler => handler.start(&own))?;
        }
        self.note();
        Ok(())
    }

    fn end(&mut self, span: Span) -> Result<(), DocumentError> {
        self.open.pop();
        for listener in self.list.iter_mut() {
            // One that waits for a start tag was told of the elements that are open.
            let is_automaton = matches!(listener.engine, Engine::Automaton(_));
            if listener.is_active && (is_automaton || !listener.is_waiting) {
                tell!(&mut listener.engine, handler => handler.end(span))?;
            }
        }
        self.note();
        Ok(())
    }

    fn text(&mut self, value: &[u8], span: Span) -> Result<(), DocumentError> {
        self.tell(|engine| tell!(engine, handler => handler.text(value, span)))
    }

    fn empty_text(&mut self, span: Span) -> Result<(), DocumentError> {
        self.tell(|engine| tell!(engine, handler => handler.empty_text(span)))
    }

    fn comment(&mut self, value: &[u8], span: Span) -> Result<(), DocumentError> {
        self.tell(|engine| tell!(engine, handler => handler.comment(value, span)))?;
        self.note();
        Ok(())
    }

    fn instruction(
        &mut self,
        target: &[u8],
        value: &[u8],
        span: Span,
    ) -> Result<(), DocumentError> {
        self.tell(|engine| tell!(engine, handler => handler.instruction(target, value, span)))?;
        self.note();
        Ok(())
    }
}
