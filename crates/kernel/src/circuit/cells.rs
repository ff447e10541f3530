//! Cells of three-valued truth and of values, and the wires between them.
//!
//! A cell is unknown until it is decided, once. What depends on it is told by a message; messages
//! are worked off by the circuit (`Circuit::drain`). Handles carry a generation, so a handle to a
//! cell that is gone is harmless. Within one event nothing goes: a cell decided or orphaned during
//! an event stays readable until its end.

use super::counts::Ranked;
use super::folds::Link;
use super::ids::{CellId, CountedId, EntryId, GroupId, InfoId, SinkId, SuffixId, Tag};
use super::ranges::Range;
use super::thresholds::{End, Waiters};
use crate::ledger::Account;
use crate::plan::{Op, TargetId};
use crate::tables::Table;
use smallvec::SmallVec;
use std::rc::Rc;

/// An atomic value; `Nothing` is the value of the first node where there is no node.
#[derive(Clone, Debug, PartialEq)]
pub enum Atom {
    Truth(bool),
    Number(f64),
    Text(Rc<str>),
    Nothing,
}

impl Atom {
    /// Whether it is the truth value true.
    pub fn holds(&self) -> bool {
        matches!(self, Atom::Truth(true))
    }
}

/// A cell by number and generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle {
    pub id: CellId,
    generation: u32,
}

/// A known value, or the cell that will have it.
#[derive(Clone, Debug)]
pub enum Wire {
    Known(Atom),
    Cell(Handle),
}

impl Wire {
    pub const TRUE: Wire = Wire::Known(Atom::Truth(true));
    pub const FALSE: Wire = Wire::Known(Atom::Truth(false));

    pub fn is_true(&self) -> bool {
        matches!(self, Wire::Known(Atom::Truth(true)))
    }

    pub fn is_false(&self) -> bool {
        matches!(self, Wire::Known(Atom::Truth(false)))
    }
}

/// What a cell is.
#[derive(Debug)]
pub enum Kind {
    /// Some input is true; inputs may still be added while it is open.
    Or { unknown: u32, open: u32 },
    /// All inputs are true.
    And { unknown: u32 },
    /// The input is false.
    Not,
    /// How many inputs are true, from `base`.
    Count { sure: f64, unknown: u32, open: u32 },
    /// An operator on values.
    Apply { op: Op, args: Box<[Wire]> },
    /// The string value of an open node.
    Value,
    /// How many counted members are on one side of a node.
    Rank { among: Ranked, entry: EntryId },
    /// Receives the decisions about undecided members of a group.
    Group(GroupId),
    /// Receives the decisions about undecided ancestors that a step counts.
    Around(CountedId),
    /// One value of three.
    Link { link: Link, args: Box<[Wire; 3]> },
    /// Receives the decisions about undecided members of a set.
    Suffix(SuffixId),
    /// Decided by others, or linked later.
    Awaited,
    /// Computed by a sink from what reaches it.
    Sink(SinkId),
    /// Decides whether a target selects a node.
    Output { target: TargetId, info: InfoId },
    /// Decides the value of a target.
    Answer { target: TargetId },
}

/// A dependent, and what the input is to it.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    pub to: Handle,
    pub tag: Tag,
}

#[derive(Debug)]
pub struct Cell {
    generation: u32,
    pub kind: Kind,
    pub range: Option<Range>,
    known: Option<Atom>,
    dependents: SmallVec<[Edge; 1]>,
    inputs: SmallVec<[Handle; 2]>,
    sweep_at: u32,
    /// Undecided cells that depend on it.
    interest: u32,
    /// Others that need it: memories of open nodes, the circuit itself.
    pins: u32,
    /// Gates that wait for bounds of this number.
    pub waiters: Option<Box<Waiters>>,
    /// The bounds of its arguments that this gate waits for.
    marks: Option<Box<[Range; 2]>>,
}

/// A cell is made, decided and dropped again, mostly with lists of its own.
const STEPS_PER_CELL: u64 = 6;
/// Both ends of an edge have lists that grow.
const STEPS_PER_EDGE: u64 = 3;

/// A decision or a narrower range, on its way to a dependent.
#[derive(Debug)]
pub struct Message {
    pub to: Handle,
    pub tag: Tag,
    /// Nothing where only the range changed.
    pub atom: Option<Atom>,
}

const SWEEP_MIN: u32 = 32;

/// Cells for which the room stays from one document to the next.
const SLOTS_KEPT: usize = 1 << 13;

/// The cells in being.
#[derive(Debug)]
pub struct Cells {
    slots: Table<CellId, Cell>,
    free: Vec<CellId>,
    pub queue: Vec<Message>,
    /// Decided in this event, to be freed at its end.
    decided: Vec<CellId>,
    /// Fresh, or without interest since this event.
    orphans: Vec<Handle>,
    /// Edges and inputs that lie outside the cells' own table, or may.
    links: usize,
    /// Bytes of texts that decided cells keep.
    text_bytes: usize,
    /// Whatever is not constant per event adds to its steps.
    pub account: Account,
}

impl Cells {
    pub fn new(account: Account) -> Self {
        Cells {
            slots: Table::default(),
            free: Vec::new(),
            queue: Vec::new(),
            decided: Vec::new(),
            orphans: Vec::new(),
            links: 0,
            text_bytes: 0,
            account,
        }
    }

    pub fn add(&mut self, kind: Kind) -> Handle {
        let cell = Cell {
            generation: 0,
            kind,
            range: None,
            known: None,
            dependents: SmallVec::new(),
            inputs: SmallVec::new(),
            sweep_at: SWEEP_MIN,
            interest: 0,
            pins: 0,
            waiters: None,
            marks: None,
        };
        self.account.spend(STEPS_PER_CELL);
        let handle = if let Some(id) = self.free.pop() {
            let generation = self.slots[id].generation;
            self.slots[id] = Cell { generation, ..cell };
            Handle { id, generation }
        } else {
            Handle {
                id: self.slots.push(cell),
                generation: 0,
            }
        };
        // Nobody depends on it yet; if nobody does by the end of the event, it goes.
        self.orphans.push(handle);
        handle
    }

    /// A cell that stays until it is unpinned.
    pub fn add_pinned(&mut self, kind: Kind) -> Handle {
        let handle = self.add(kind);
        self.slots[handle.id].pins += 1;
        handle
    }

    /// Decides a pinned cell that stands for no value, and lets it go.
    pub fn retire(&mut self, handle: Handle) {
        self.decide(handle, Atom::Nothing);
        self.unpin(&Wire::Cell(handle));
    }

    /// Whether the cell is there and unknown.
    #[inline]
    pub fn is_open(&self, handle: Handle) -> bool {
        let cell = &self.slots[handle.id];
        cell.generation == handle.generation && cell.known.is_none()
    }

    /// The cell, if it is there and unknown.
    pub fn open(&mut self, handle: Handle) -> Option<&mut Cell> {
        let cell = &mut self.slots[handle.id];
        (cell.generation == handle.generation && cell.known.is_none()).then_some(cell)
    }

    /// The wire with what is known by now.
    pub fn resolve(&self, wire: &Wire) -> Wire {
        if let Wire::Cell(handle) = wire {
            let cell = &self.slots[handle.id];
            if cell.generation == handle.generation
                && let Some(atom) = &cell.known
            {
                return Wire::Known(atom.clone());
            }
        }
        wire.clone()
    }

    pub fn range(&self, wire: &Wire) -> Option<Range> {
        match wire {
            Wire::Known(Atom::Number(number)) if !number.is_nan() => Some(Range::of(*number)),
            Wire::Known(_) => None,
            Wire::Cell(handle) => self.slots[handle.id].range,
        }
    }

    /// Sends `to`, which has to be open, a message when `input` is decided.
    pub fn depend(&mut self, to: Handle, input: Handle, tag: Tag) {
        self.account.spend(STEPS_PER_EDGE);
        self.links += 2;
        let cell = &mut self.slots[input.id];
        cell.interest += 1;
        cell.dependents.push(Edge { to, tag });
        if cell.dependents.len() as u32 >= cell.sweep_at {
            self.sweep_dependents(input.id);
        }
        let cell = &mut self.slots[to.id];
        cell.inputs.push(input);
        if cell.inputs.len() as u32 >= cell.sweep_at {
            let mut inputs = std::mem::take(&mut cell.inputs);
            let before = inputs.len();
            self.account.spend(before as u64);
            inputs.retain(|input| self.is_open(*input));
            self.links -= before - inputs.len();
            let cell = &mut self.slots[to.id];
            cell.sweep_at = cell.sweep_at.max(2 * inputs.len() as u32);
            cell.inputs = inputs;
        }
    }

    /// Lets go of dependents that are decided or gone; without this an endless stream below one
    /// undecided fact would grow its list for ever.
    fn sweep_dependents(&mut self, id: CellId) {
        let mut edges = std::mem::take(&mut self.slots[id].dependents);
        let before = edges.len();
        self.account.spend(before as u64);
        edges.retain(|edge| self.is_open(edge.to));
        self.links -= before - edges.len();
        let cell = &mut self.slots[id];
        cell.sweep_at = (2 * edges.len() as u32).max(SWEEP_MIN);
        cell.dependents = edges;
    }

    pub fn decide(&mut self, handle: Handle, atom: Atom) {
        if !self.is_open(handle) {
            return;
        }
        let cell = &mut self.slots[handle.id];
        let dependents = std::mem::take(&mut cell.dependents);
        let inputs = std::mem::take(&mut cell.inputs);
        self.links -= dependents.len() + inputs.len();
        if let Atom::Text(text) = &atom {
            self.text_bytes += text.len();
        }
        cell.known = Some(atom.clone());
        self.decided.push(handle.id);
        for edge in dependents {
            self.queue.push(Message {
                to: edge.to,
                tag: edge.tag,
                atom: Some(atom.clone()),
            });
        }
        self.forgo(inputs);
    }

    /// Sets the range of an undecided number, and sends it to the gates that waited for it.
    pub fn narrow(&mut self, handle: Handle, range: Range) {
        let cell = &mut self.slots[handle.id];
        cell.range = Some(range);
        let Some(mut waiters) = cell.waiters.take() else {
            return;
        };
        while let Some((edge, end, bound)) = waiters.pop_reached(range) {
            self.account.spend(1);
            if self.unmark(edge, end, bound) {
                self.queue.push(Message {
                    to: edge.to,
                    tag: edge.tag,
                    atom: None,
                });
            }
        }
        self.slots[handle.id].waiters = Some(waiters);
    }

    /// Sets the range of a number. The first one is sent to all dependents.
    pub fn narrow_first(&mut self, handle: Handle, range: Range) {
        let cell = &self.slots[handle.id];
        if cell.range.is_none() {
            for edge in &cell.dependents {
                self.account.spend(1);
                self.queue.push(Message {
                    to: edge.to,
                    tag: edge.tag,
                    atom: None,
                });
            }
        }
        self.narrow(handle, range);
    }

    /// Whether a gate still waits for a bound; it does so no longer.
    fn unmark(&mut self, edge: Edge, end: End, bound: f64) -> bool {
        let marks = self.open(edge.to).and_then(|gate| gate.marks.as_mut());
        let Some(mark) = marks.map(|marks| &mut marks[edge.tag.index()]) else {
            return false;
        };
        let own = match end {
            End::Low => &mut mark.low,
            End::High => &mut mark.high,
        };
        let is_awaited = *own == bound;
        if is_awaited {
            *own = f64::NAN;
        }
        is_awaited
    }

    /// A gate waits for bounds of one of its arguments, a number. Returns the nearest bounds that
    /// anybody waits for, if they may have changed.
    pub fn wait(&mut self, input: Handle, edge: Edge, bounds: Range) -> Option<Range> {
        self.account.spend(1);
        let gate = self.open(edge.to)?;
        let none = Range {
            low: f64::NAN,
            high: f64::NAN,
        };
        let marks = gate.marks.get_or_insert_with(|| Box::new([none; 2]));
        let mark = std::mem::replace(&mut marks[edge.tag.index()], bounds);
        let fresh = Range {
            low: if mark.low == bounds.low {
                f64::INFINITY
            } else {
                bounds.low
            },
            high: if mark.high == bounds.high {
                f64::NEG_INFINITY
            } else {
                bounds.high
            },
        };
        let waiters = self.open(input)?.waiters.get_or_insert_default();
        waiters.add(edge, fresh);
        Some(waiters.nearest())
    }

    /// The nearest bounds that anybody waits for.
    pub fn nearest(&self, handle: Handle) -> Range {
        let waiters = self.slots[handle.id].waiters.as_ref();
        waiters.map_or(Waiters::default().nearest(), |waiters| waiters.nearest())
    }

    fn forgo(&mut self, inputs: SmallVec<[Handle; 2]>) {
        for input in inputs {
            if let Some(cell) = self.open(input) {
                cell.interest -= 1;
                if cell.interest == 0 && cell.pins == 0 {
                    self.orphans.push(input);
                }
            }
        }
    }

    pub fn pin(&mut self, wire: &Wire) {
        if let Wire::Cell(handle) = wire {
            self.slots[handle.id].pins += 1;
        }
    }

    pub fn unpin(&mut self, wire: &Wire) {
        let Wire::Cell(handle) = *wire else { return };
        let cell = &mut self.slots[handle.id];
        if cell.generation != handle.generation {
            return;
        }
        cell.pins -= 1;
        if cell.pins > 0 {
            return;
        }
        if cell.known.is_some() {
            self.decided.push(handle.id);
        } else if cell.interest == 0 {
            self.orphans.push(handle);
        }
    }

    /// Whether nothing happened in this event.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.queue.is_empty() && self.decided.is_empty() && self.orphans.is_empty()
    }

    /// Ends an event: frees cells that are decided or no longer needed.
    pub fn sweep(&mut self) {
        while let Some(handle) = self.orphans.pop() {
            let Some(cell) = self.open(handle) else {
                continue;
            };
            if cell.interest > 0 || cell.pins > 0 {
                continue;
            }
            let inputs = std::mem::take(&mut cell.inputs);
            let links = inputs.len() + cell.dependents.len();
            cell.dependents.clear();
            (cell.waiters, cell.marks) = (None, None);
            cell.generation += 1;
            self.free.push(handle.id);
            self.links -= links;
            self.forgo(inputs);
        }
        while let Some(id) = self.decided.pop() {
            let cell = &mut self.slots[id];
            if cell.pins == 0
                && let Some(atom) = cell.known.take()
            {
                if let Atom::Text(text) = atom {
                    self.text_bytes -= text.len();
                }
                cell.kind = Kind::Value;
                (cell.waiters, cell.marks) = (None, None);
                cell.generation += 1;
                self.free.push(id);
            }
        }
    }

    /// Bytes of all cells and their wires.
    pub fn bytes(&self) -> usize {
        let wires = self.links * size_of::<Edge>();
        self.slots.bytes() + wires + self.text_bytes
    }

    pub fn clear(&mut self) {
        self.slots.clear(SLOTS_KEPT);
        self.free.clear();
        self.queue.clear();
        self.decided.clear();
        self.orphans.clear();
        (self.links, self.text_bytes) = (0, 0);
    }
}

#[cfg(test)]
impl Default for Cells {
    fn default() -> Self {
        let ledger = crate::ledger::Ledger::new(&crate::limits::Limits::NONE, None, None);
        Cells::new(Account::new(std::sync::Arc::new(ledger)))
    }
}
