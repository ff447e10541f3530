//! Evaluating expressions over a forest.
//!
//! Items are handed from one expression to the next one by one (`stream`); a value is collected
//! only where all of it is needed (`value`). A constructor whose node is only written goes to the
//! output without being built (`construct`, `write`).

mod calls;
mod collected;
mod compare;
mod construct;
mod deep_equal;
mod flwor;
mod index;
mod item;
mod node_calls;
mod qnames;
mod run;
mod sequence_calls;
mod settings;
mod steps;
mod stream;
mod truth;
mod types;
mod value;
mod write;

pub use collected::Collected;
pub use compare::double;
pub use item::{Item, Sequence};
pub use settings::{RECURSION, Settings};
pub use write::{Row, markup, serialize};

use crate::atomic::Moment;
use crate::code::{Binding, Code};
use crate::error::Result;
use crate::functions::Environment;
use crate::stack::with_stack;
use crate::tree::{Forest, NodeId, NodeRef};
use index::Indexed;
use run::{Flow, Focus, Run, State, finish};
use std::rc::Rc;
use write::{Target, Writer};

/// So much memory for messages stays for the next one.
const BUFFER_BYTES_KEPT: usize = 64 << 10;

/// The evaluation of a query's expressions over one document after the other.
///
/// Values of expressions that do not depend on variables, and indexes, are kept from one call to the
/// next. They are those of the document as it was when they were first needed: what reads the whole
/// document must be evaluated when it is complete, or after `forget`.
pub struct Evaluation {
    code: Rc<Code>,
    state: State,
    buffer: Vec<u8>,
}

impl Evaluation {
    /// An evaluation of a query.
    pub fn new(code: Rc<Code>, settings: Settings) -> Self {
        let state = State {
            environment: Environment::new(settings.now),
            settings,
            globals: vec![None; code.globals.len()],
            gathered: Vec::new(),
            kept: vec![None; code.exprs.len()],
            indexed: code.lookups.iter().map(|_| Indexed::default()).collect(),
            stamp: 0,
            entry: 0,
            positions: vec![0; code.entries.len()],
        };
        Evaluation {
            code,
            state,
            buffer: Vec::new(),
        }
    }

    /// What functions may know besides their arguments.
    pub fn environment(&self) -> &Environment {
        &self.state.environment
    }

    /// Sets the current date and time, and forgets all that belongs to the document before.
    pub fn restart(&mut self, now: Moment) {
        self.state.settings.now = now;
        self.state.environment.now = Environment::new(now).now;
        self.state.gathered.clear();
        self.state.positions.fill(0);
        self.forget();
    }

    /// Sets what a part of the query has gathered, or why it has failed: that is an error where
    /// somebody reads it.
    pub fn set_gathered(&mut self, part: usize, items: Result<Sequence>) {
        if self.state.gathered.len() <= part {
            self.state.gathered.resize(part + 1, Ok(Sequence::Empty));
        }
        self.state.gathered[part] = items;
        self.forget();
    }

    /// Forgets the values and indexes that were kept, those of global variables included.
    pub fn forget(&mut self) {
        self.state.kept.fill(None);
        self.state.indexed.fill_with(Indexed::default);
        self.state.globals.fill(None);
    }

    /// The value of an entry, for a binding if it has one.
    ///
    /// Nodes that it constructs are trees of the forest.
    ///
    /// # Errors
    ///
    /// A dynamic error, with the code that XQuery has for it.
    pub fn items(
        &mut self,
        entry: usize,
        binding: Option<Sequence>,
        forest: &mut Forest,
        meter: &mut dyn FnMut(u64),
    ) -> Result<Sequence> {
        let body = self.code.entries[entry].body;
        self.run(entry, binding, forest, meter, |run, focus| {
            run.value(body, focus)
        })
    }

    /// Hands out the value of an entry: one row for each item, or one message if its body is a
    /// constructor.
    ///
    /// Nodes that it constructs on the way are trees of the forest.
    ///
    /// # Errors
    ///
    /// A dynamic error, with the code that XQuery has for it. Rows before it have been handed out.
    pub fn rows(
        &mut self,
        entry: usize,
        binding: Option<Sequence>,
        forest: &mut Forest,
        meter: &mut dyn FnMut(u64),
        out: &mut dyn FnMut(Row<'_>),
    ) -> Result<()> {
        if !(self.state.settings.has_messages && self.code.is_message(entry)) {
            return self.write_rows(entry, binding, forest, meter, out);
        }
        let body = self.code.entries[entry].body;
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        let mut writer = Writer::new(Target::Bytes(buffer));
        let filled = self.run(entry, binding, forest, meter, |run, focus| {
            run.write_message(body, focus, &mut writer)
        });
        if let Target::Bytes(buffer) = writer.finish() {
            self.buffer = buffer;
        }
        let filled = filled?;
        let is_dropped = filled.is_enclosing && !filled.is_filled;
        if !(is_dropped && self.state.settings.is_empty_dropped) {
            out(Row {
                kind: "message",
                name: "",
                value: &self.buffer,
                ..Row::default()
            });
        }
        self.empty_buffer();
        Ok(())
    }

    /// Adds the items of an entry to those that were collected before, written as far as they are
    /// nodes. The nodes that they come from, and those that were constructed, are not needed then.
    ///
    /// # Errors
    ///
    /// A dynamic error, with the code that XQuery has for it. Items before it were added.
    pub fn collect(
        &mut self,
        entry: usize,
        binding: Option<Sequence>,
        forest: &mut Forest,
        meter: &mut dyn FnMut(u64),
        into: &mut Collected,
    ) -> Result<()> {
        self.write_rows(entry, binding, forest, meter, &mut |row| into.push(&row))
    }

    fn write_rows(
        &mut self,
        entry: usize,
        binding: Option<Sequence>,
        forest: &mut Forest,
        meter: &mut dyn FnMut(u64),
        out: &mut dyn FnMut(Row<'_>),
    ) -> Result<()> {
        let body = self.code.entries[entry].body;
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        let mut writer = Writer::new(Target::Rows(buffer, out));
        let result = self.run(entry, binding, forest, meter, |run, focus| {
            run.write(body, focus, &mut writer)
        });
        if let Target::Rows(buffer, _) = writer.finish() {
            self.buffer = buffer;
        }
        self.empty_buffer();
        result
    }

    /// Gives back what one large message took.
    fn empty_buffer(&mut self) {
        self.buffer.clear();
        self.buffer.shrink_to(BUFFER_BYTES_KEPT);
    }

    fn run<T>(
        &mut self,
        entry: usize,
        binding: Option<Sequence>,
        forest: &mut Forest,
        meter: &mut dyn FnMut(u64),
        evaluate: impl for<'a> FnOnce(&mut Run<'a>, Focus<'_>) -> Flow<T>,
    ) -> Result<T> {
        self.state.entry = entry;
        let code = self.code.clone();
        let entry = &code.entries[entry];
        let mut frame = code.facts(entry.body).frame;
        if let Binding::Variable(slot) = entry.binding {
            frame = frame.max(slot.0 as usize + 1);
        }
        let mut run = Run::new(&code, &mut self.state, forest, meter, frame);
        let mut item = Item::Node(NodeRef::of_document(NodeId::ROOT));
        match (entry.binding, binding) {
            (Binding::Variable(slot), Some(value)) => run.bind(slot, value),
            (Binding::Context, Some(Sequence::One(context))) => item = context,
            _ => {}
        }
        let flow = with_stack(|| evaluate(&mut run, Focus::on(&item)));
        run.settle();
        finish(flow)
    }
}
