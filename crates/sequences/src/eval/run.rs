//! The state of one evaluation: variables, the context item, values that are kept.

use super::index::Indexed;
use super::item::{Item, Sequence};
use super::settings::{RECURSION, Settings};
use crate::atomic::Atomic;
use crate::code::{Code, ExprId, Slot};
use crate::error::{Error, Result};
use crate::functions::Environment;
use crate::stack::with_stack;
use crate::tree::{Forest, Kind, NodeId, NodeRef};
use std::cell::Cell;
use std::rc::Rc;

/// Why an evaluation does not go on.
pub(super) enum Stop {
    /// The consumer of the items wants no more. Only that consumer may return it, and it alone
    /// catches it.
    Enough,
    /// There is no value.
    Failed(Box<Error>),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Failed(Box::new(error))
    }
}

/// Whether to go on.
pub(super) type Flow<T = ()> = std::result::Result<T, Stop>;

/// An error as the reason to stop.
pub(super) fn fail<T>(code: &'static str, reason: impl Into<String>) -> Flow<T> {
    Err(Error::new(code, reason).into())
}

/// What receives items one by one.
pub(super) type Out<'o, 'a> = &'o mut dyn FnMut(&mut Run<'a>, Item) -> Flow;

/// The context item, its place, and how many there are.
#[derive(Clone, Copy, Default)]
pub(super) struct Focus<'f> {
    pub item: Option<&'f Item>,
    pub position: usize,
    /// 0 where nobody asks.
    pub size: usize,
}

impl<'f> Focus<'f> {
    /// The only item.
    pub fn on(item: &'f Item) -> Self {
        Focus {
            item: Some(item),
            position: 1,
            size: 1,
        }
    }
}

/// A variable's value, and a number that no other value has.
#[derive(Clone, Default)]
pub(super) struct Bound {
    pub value: Sequence,
    pub stamp: u64,
}

/// What stays from one call of an evaluation to the next.
pub(super) struct State {
    pub settings: Settings,
    pub environment: Environment,
    pub globals: Vec<Option<Sequence>>,
    pub gathered: Vec<Result<Sequence>>,
    /// The values of closed expressions, and the tree that `/` stood for.
    pub kept: Vec<Option<(u32, Sequence)>>,
    pub indexed: Vec<Indexed>,
    pub stamp: u64,
    /// The entry that is evaluated.
    pub entry: usize,
    /// How many items loops that go on have bound, by entry.
    pub positions: Vec<usize>,
}

impl State {
    /// How many items the loop of the entry that goes on has bound.
    pub fn position(&self) -> usize {
        self.positions[self.entry]
    }

    /// Sets how many items it has bound.
    pub fn set_position(&mut self, position: usize) {
        self.positions[self.entry] = position;
    }
}

/// One call of an evaluation.
pub(super) struct Run<'a> {
    pub code: &'a Code,
    pub state: &'a mut State,
    pub forest: &'a mut Forest,
    meter: &'a mut dyn FnMut(u64),
    /// Steps that the meter has not heard of.
    steps: Cell<u64>,
    slots: Vec<Bound>,
    frame: usize,
    calls: usize,
}

/// So many steps are counted before the meter hears of them.
const STEPS_AT_ONCE: u64 = 1024;
/// So many bytes of values are copied or looked at in one step of work.
const BYTES_OF_STEP: usize = 32;

/// Steps of work that some bytes of values take.
#[inline]
pub(super) fn steps_of_bytes(bytes: usize) -> u64 {
    (bytes / BYTES_OF_STEP) as u64
}

impl<'a> Run<'a> {
    pub fn new(
        code: &'a Code,
        state: &'a mut State,
        forest: &'a mut Forest,
        meter: &'a mut dyn FnMut(u64),
        frame: usize,
    ) -> Self {
        Run {
            code,
            state,
            forest,
            meter,
            steps: Cell::new(0),
            slots: vec![Bound::default(); frame],
            frame: 0,
            calls: 0,
        }
    }

    /// Counts steps of work.
    #[inline]
    pub fn charge(&mut self, steps: u64) {
        self.owe(steps);
        if self.steps.get() >= STEPS_AT_ONCE {
            self.settle();
        }
    }

    /// Counts steps of work, of which the meter hears when others are counted.
    #[inline]
    pub fn owe(&self, steps: u64) {
        self.steps.set(self.steps.get() + steps);
    }

    /// Gives what functions know, and a meter for their work.
    pub fn with_environment<T>(
        &mut self,
        call: impl FnOnce(&Environment, &mut dyn FnMut(u64)) -> T,
    ) -> T {
        let Run {
            state,
            meter,
            steps,
            ..
        } = self;
        call(&state.environment, &mut |more| count(steps, *meter, more))
    }

    /// Gives the forest, and a meter for what is made of its nodes.
    pub fn with_forest<T>(
        &mut self,
        work: impl FnOnce(&mut Forest, &mut dyn FnMut(u64)) -> T,
    ) -> T {
        let Run {
            forest,
            meter,
            steps,
            ..
        } = self;
        work(forest, &mut |more| count(steps, *meter, more))
    }

    /// Tells the meter what was counted.
    pub fn settle(&mut self) {
        (self.meter)(self.steps.take());
    }

    #[inline]
    pub fn variable(&self, slot: Slot) -> &Bound {
        &self.slots[self.frame + slot.0 as usize]
    }

    #[inline]
    pub fn bind(&mut self, slot: Slot, value: Sequence) {
        self.state.stamp += 1;
        let stamp = self.state.stamp;
        self.slots[self.frame + slot.0 as usize] = Bound { value, stamp };
    }

    /// Gives a variable a value that it had before.
    pub fn restore(&mut self, slot: Slot, bound: Bound) {
        self.slots[self.frame + slot.0 as usize] = bound;
    }

    /// Evaluates something in a new frame, whose first variables have values.
    pub fn in_frame<T>(
        &mut self,
        size: usize,
        values: Vec<(Slot, Sequence)>,
        inside: impl FnOnce(&mut Self) -> Flow<T>,
    ) -> Flow<T> {
        self.check_depth()?;
        let outer = self.frame;
        self.frame = self.slots.len();
        self.slots.resize(self.frame + size, Bound::default());
        self.calls += 1;
        for (slot, value) in values {
            self.bind(slot, value);
        }
        let result = with_stack(|| inside(self));
        self.calls -= 1;
        self.slots.truncate(self.frame);
        self.frame = outer;
        result
    }

    fn check_depth(&self) -> Flow {
        if self.calls >= self.state.settings.recursion_max {
            let depth = self.calls;
            return fail(RECURSION, format!("functions call each other {depth} deep"));
        }
        Ok(())
    }

    /// The value of an expression that is the same everywhere, computed once.
    pub fn kept(&mut self, id: ExprId, focus: Focus<'_>) -> Flow<Sequence> {
        let tree = match focus.item {
            Some(Item::Node(node)) if self.code.facts(id).is_rooted => node.tree,
            _ => 0,
        };
        if let Some((known, value)) = &self.state.kept[id.index()]
            && *known == tree
        {
            return Ok(value.clone());
        }
        let value = self.compute(id, focus)?;
        self.state.kept[id.index()] = Some((tree, value.clone()));
        Ok(value)
    }

    /// The document node of a document.
    pub fn document(&self, document: u32) -> Flow<NodeRef> {
        if (document as usize) < self.forest.documents {
            return Ok(NodeRef {
                tree: document,
                node: NodeId::ROOT,
            });
        }
        fail("FODC0002", "a document that the query reads is not there")
    }

    /// The typed value of an item.
    pub fn atomize(&self, item: &Item) -> Atomic {
        match item {
            Item::Atomic(value) => value.clone(),
            Item::Node(node) => {
                let text = self.text(*node);
                match self.forest.kind(*node) {
                    Kind::Comment | Kind::Instruction => Atomic::String(text),
                    _ => Atomic::UntypedAtomic(text),
                }
            }
        }
    }

    /// The string value of a node.
    pub fn text(&self, node: NodeRef) -> Rc<str> {
        self.owe(steps_of_bytes(self.forest.value(node).len()));
        match std::str::from_utf8(self.forest.value(node)) {
            Ok(text) => text.into(),
            Err(_) => String::from_utf8_lossy(self.forest.value(node)).into(),
        }
    }
}

/// Counts steps, and tells the meter of many at once.
#[inline]
fn count(steps: &Cell<u64>, meter: &mut dyn FnMut(u64), more: u64) {
    steps.set(steps.get() + more);
    if steps.get() >= STEPS_AT_ONCE {
        meter(steps.take());
    }
}

/// The value of a computation, with what went wrong as an error.
pub(super) fn finish<T>(flow: Flow<T>) -> Result<T> {
    flow.map_err(|stop| match stop {
        Stop::Failed(error) => *error,
        // A consumer catches its own stop, so none arrives here.
        Stop::Enough => Error::new("XQ", "the evaluation was stopped"),
    })
}
