//! Building gates without cells where the outcome is known, and working off messages.

use super::cells::{Atom, Handle, Kind, Message, Wire};
use super::folds::linked;
use super::ids::{MemberId, Tag};
use super::ranges::{self, Range};
use super::{Action, Circuit};
use crate::plan::Op;
use crate::values::{self, Value};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// An input that has to be true, or whose kind of cell has only one.
pub(super) const INPUT: Tag = Tag(0);

/// An input of an `And` that has to be false.
const INVERSE: Tag = Tag(1);

/// Cells that are looked through; more are hashed.
const FEW: usize = 16;

/// So many bytes of a text are looked at in the time of a step.
const BYTES_PER_STEP: u64 = 64;

impl Circuit {
    pub(super) fn and(&mut self, left: Wire, right: Wire) -> Wire {
        self.all(&[left, right])
    }

    /// The cells of those wires that are not decided, each once; nothing where a wire is
    /// `decisive` for all.
    fn undecided(&self, wires: &[Wire], decisive: bool) -> Option<SmallVec<[Handle; 4]>> {
        let mut unknown: SmallVec<[Handle; 4]> = SmallVec::new();
        let mut seen = FxHashSet::default();
        for wire in wires {
            match self.cells.resolve(wire) {
                Wire::Known(atom) if (atom == Atom::Truth(true)) == decisive => return None,
                Wire::Known(_) => {}
                Wire::Cell(handle) if unknown.len() < FEW && unknown.contains(&handle) => {}
                Wire::Cell(handle) => {
                    if unknown.len() == FEW {
                        seen.extend(unknown.iter().copied());
                    }
                    if unknown.len() < FEW || seen.insert(handle) {
                        unknown.push(handle);
                    }
                }
            }
        }
        Some(unknown)
    }

    /// The conjunction of wires.
    pub(super) fn all(&mut self, wires: &[Wire]) -> Wire {
        let Some(unknown) = self.undecided(wires, false) else {
            return Wire::FALSE;
        };
        match unknown.len() {
            0 => Wire::TRUE,
            1 => Wire::Cell(unknown[0]),
            count => {
                let gate = self.cells.add(Kind::And {
                    unknown: count as u32,
                });
                unknown
                    .iter()
                    .for_each(|&h| self.cells.depend(gate, h, INPUT));
                Wire::Cell(gate)
            }
        }
    }

    /// The left wire without the right one.
    pub(super) fn and_not(&mut self, left: &Wire, right: &Wire) -> Wire {
        match (self.cells.resolve(left), self.cells.resolve(right)) {
            (left, Wire::Known(atom)) if !atom.holds() => left,
            (Wire::Known(atom), right) if atom.holds() => self.not(&right),
            (Wire::Cell(left), Wire::Cell(right)) if left != right => {
                let gate = self.cells.add(Kind::And { unknown: 2 });
                self.cells.depend(gate, left, INPUT);
                self.cells.depend(gate, right, INVERSE);
                Wire::Cell(gate)
            }
            _ => Wire::FALSE,
        }
    }

    /// The disjunction of wires.
    pub(super) fn any(&mut self, wires: &[Wire]) -> Wire {
        let Some(unknown) = self.undecided(wires, true) else {
            return Wire::TRUE;
        };
        match unknown.len() {
            0 => Wire::FALSE,
            1 => Wire::Cell(unknown[0]),
            count => {
                let gate = self.cells.add(Kind::Or {
                    unknown: count as u32,
                    open: 0,
                });
                unknown
                    .iter()
                    .for_each(|&h| self.cells.depend(gate, h, INPUT));
                Wire::Cell(gate)
            }
        }
    }

    pub(super) fn not(&mut self, wire: &Wire) -> Wire {
        match self.cells.resolve(wire) {
            Wire::Known(atom) => Wire::Known(Atom::Truth(!atom.holds())),
            Wire::Cell(handle) => {
                let gate = self.cells.add(Kind::Not);
                self.cells.depend(gate, handle, INPUT);
                Wire::Cell(gate)
            }
        }
    }

    /// An `Or` that inputs can be added to; it is false only when its sources are closed.
    pub(super) fn open_or(&mut self, sources: u32) -> Handle {
        self.cells.add(Kind::Or {
            unknown: 0,
            open: sources,
        })
    }

    pub(super) fn or_add(&mut self, or: Handle, wire: &Wire) {
        if !self.cells.is_open(or) {
            return;
        }
        match self.cells.resolve(wire) {
            Wire::Known(atom) if atom.holds() => self.cells.decide(or, atom),
            Wire::Known(_) => {}
            Wire::Cell(handle) => {
                self.cells.depend(or, handle, INPUT);
                if let Some(cell) = self.cells.open(or)
                    && let Kind::Or { unknown, .. } = &mut cell.kind
                {
                    *unknown += 1;
                }
            }
        }
    }

    /// One more source of an `Or`.
    pub(super) fn or_open(&mut self, or: Handle) {
        if let Some(cell) = self.cells.open(or)
            && let Kind::Or { open, .. } = &mut cell.kind
        {
            *open += 1;
        }
    }

    /// A source of an `Or` is at its end.
    pub(super) fn or_close(&mut self, or: Handle) {
        let Some(cell) = self.cells.open(or) else {
            return;
        };
        if let Kind::Or { unknown, open } = &mut cell.kind {
            *open -= 1;
            if *open == 0 && *unknown == 0 {
                self.cells.decide(or, Atom::Truth(false));
            }
        }
    }

    /// No source of an `Or` has anything more to add, however many there were.
    pub(super) fn or_end(&mut self, or: Handle) {
        if let Some(cell) = self.cells.open(or)
            && let Kind::Or { unknown, open } = &mut cell.kind
        {
            *open = 0;
            if *unknown == 0 {
                self.cells.decide(or, Atom::Truth(false));
            }
        }
    }

    /// A count of wires, from `sure` on; it stays open for `sources`.
    pub(super) fn count(&mut self, sure: f64, wires: &[Handle], sources: u32) -> Handle {
        let count = self.cells.add(Kind::Count {
            sure,
            unknown: wires.len() as u32,
            open: sources,
        });
        wires
            .iter()
            .for_each(|&h| self.cells.depend(count, h, INPUT));
        self.settle_count(count);
        count
    }

    pub(super) fn count_add(&mut self, count: Handle, wire: &Wire) {
        let wire = self.cells.resolve(wire);
        if wire.is_false() || !self.cells.is_open(count) {
            return;
        }
        if let Wire::Cell(input) = wire {
            self.cells.depend(count, input, INPUT);
        }
        if let Some(cell) = self.cells.open(count)
            && let Kind::Count { sure, unknown, .. } = &mut cell.kind
        {
            if wire.is_true() {
                *sure += 1.0;
            } else {
                *unknown += 1;
            }
        }
        self.settle_count(count);
    }

    pub(super) fn count_close(&mut self, count: Handle) {
        if let Some(cell) = self.cells.open(count) {
            if let Kind::Count { open, .. } = &mut cell.kind {
                *open -= 1;
            }
            self.settle_count(count);
        }
    }

    fn settle_count(&mut self, count: Handle) {
        let Some(cell) = self.cells.open(count) else {
            return;
        };
        let Kind::Count {
            sure,
            unknown,
            open,
        } = cell.kind
        else {
            return;
        };
        if open > 0 {
            self.cells.narrow(count, Range::from(sure));
        } else if unknown == 0 {
            self.cells.decide(count, Atom::Number(sure));
        } else {
            let high = sure + f64::from(unknown);
            self.cells.narrow(count, Range { low: sure, high });
        }
    }

    /// An operator on wires.
    pub(super) fn apply(&mut self, op: Op, args: &[Wire]) -> Wire {
        let args: Box<[Wire]> = args.iter().map(|arg| self.cells.resolve(arg)).collect();
        if let Some(atom) = self.outcome(op, &args) {
            return Wire::Known(atom);
        }
        let range = self.bounds(op, &args);
        let inputs: smallvec::SmallVec<[(Tag, Handle); 3]> = args
            .iter()
            .enumerate()
            .filter_map(|(index, arg)| match arg {
                Wire::Cell(handle) => Some((Tag(index as u32), *handle)),
                Wire::Known(_) => None,
            })
            .collect();
        let gate = self.cells.add(Kind::Apply { op, args });
        for (tag, input) in inputs {
            self.cells.depend(gate, input, tag);
        }
        if let (Some(range), Some(cell)) = (range, self.cells.open(gate)) {
            cell.range = Some(range);
        }
        self.watch_arguments(gate);
        Wire::Cell(gate)
    }

    pub(super) fn bounds(&mut self, op: Op, args: &[Wire]) -> Option<Range> {
        let bounds: smallvec::SmallVec<[Option<Range>; 2]> =
            args.iter().map(|arg| self.range(arg)).collect();
        ranges::combine(op, &bounds)
    }

    /// The value of an operator, where its arguments or their bounds give it.
    fn outcome(&mut self, op: Op, args: &[Wire]) -> Option<Atom> {
        if args.iter().all(|arg| matches!(arg, Wire::Known(_))) {
            let bytes: usize = args.iter().map(text_bytes).sum();
            self.cells.account.spend(bytes as u64 / BYTES_PER_STEP);
            let value = values::apply(op, args.len(), &|index| match &args[index] {
                Wire::Known(atom) => as_value(atom),
                Wire::Cell(_) => Value::Boolean(false),
            });
            return Some(as_atom(value));
        }
        let is_sum = matches!(op, Op::Add | Op::Subtract);
        if args.len() != 2 || (op < Op::Eq && !is_sum) {
            return None;
        }
        let nan = |wire: &Wire| matches!(wire, Wire::Known(Atom::Number(n)) if n.is_nan());
        let (left, right) = (self.range(&args[0]), self.range(&args[1]));
        let is_nan = (nan(&args[0]) && right.is_some()) || (nan(&args[1]) && left.is_some());
        if is_sum {
            return is_nan.then_some(Atom::Number(f64::NAN));
        }
        if is_nan {
            return Some(Atom::Truth(op == Op::Ne));
        }
        ranges::compare(op, left?, right?).map(Atom::Truth)
    }

    fn reconsider(&mut self, gate: Handle) {
        let Some(cell) = self.cells.open(gate) else {
            return;
        };
        let Kind::Apply { op, args } = &mut cell.kind else {
            return;
        };
        let (op, args) = (*op, std::mem::take(args));
        let outcome = self.outcome(op, &args);
        let range = self.bounds(op, &args);
        if let Some(cell) = self.cells.open(gate) {
            cell.kind = Kind::Apply { op, args };
        }
        if let Some(atom) = outcome {
            self.cells.decide(gate, atom);
            return;
        }
        if let Some(range) = range {
            self.cells.narrow_first(gate, range);
        }
        self.watch_arguments(gate);
    }

    /// Works off the messages of an event and everything that follows from them.
    pub fn drain(&mut self) {
        while let Some(message) = self.cells.queue.pop() {
            self.receive(message);
        }
    }

    fn receive(&mut self, Message { to, tag, atom }: Message) {
        self.cells.account.spend(1);
        let Some(cell) = self.cells.open(to) else {
            return;
        };
        let Some(atom) = atom else {
            return if let Kind::Apply { .. } = cell.kind {
                self.reconsider(to)
            };
        };
        match &mut cell.kind {
            Kind::Or { unknown, open } => {
                *unknown -= 1;
                let is_over = *unknown == 0 && *open == 0;
                if atom.holds() || is_over {
                    self.cells.decide(to, atom);
                }
            }
            Kind::And { unknown } => {
                *unknown -= 1;
                let holds = atom.holds() != (tag == INVERSE);
                if !holds || *unknown == 0 {
                    self.cells.decide(to, Atom::Truth(holds));
                }
            }
            Kind::Not => self.cells.decide(to, Atom::Truth(!atom.holds())),
            Kind::Count { sure, unknown, .. } => {
                *unknown -= 1;
                *sure += f64::from(u8::from(atom.holds()));
                self.settle_count(to);
            }
            Kind::Apply { args, .. } => {
                args[tag.index()] = Wire::Known(atom);
                self.reconsider(to);
            }
            &mut Kind::Group(group) => self.tell_group(group, MemberId(tag.0), atom.holds()),
            Kind::Link { link, args } => {
                args[tag.index()] = Wire::Known(atom);
                if let Some(atom) = linked(*link, args) {
                    self.cells.decide(to, atom);
                }
            }
            &mut Kind::Suffix(suffix) => self.tell_suffix(suffix, MemberId(tag.0), atom),
            &mut Kind::Around(spec) => self.tell_around(spec, MemberId(tag.0), atom.holds()),
            &mut Kind::Sink(sink) => self.tell_sink(sink, tag, atom),
            &mut Kind::Output { target, info } => {
                self.cells.decide(to, atom.clone());
                self.cells.unpin(&Wire::Cell(to));
                self.decide_output(target, info, atom.holds());
            }
            &mut Kind::Answer { target } => {
                self.cells.decide(to, atom.clone());
                self.cells.unpin(&Wire::Cell(to));
                self.actions.push(Action::Answer { target, atom });
            }
            Kind::Value | Kind::Awaited | Kind::Rank { .. } => {}
        }
    }
}

/// Bytes of a text that an operator has to look at.
fn text_bytes(wire: &Wire) -> usize {
    match wire {
        Wire::Known(Atom::Text(text)) => text.len(),
        _ => 0,
    }
}

fn as_value(atom: &Atom) -> Value<'_> {
    match atom {
        Atom::Truth(truth) => Value::Boolean(*truth),
        Atom::Number(number) => Value::Number(*number),
        Atom::Text(text) => Value::Text((&**text).into()),
        Atom::Nothing => Value::Text("".into()),
    }
}

/// The value as an atom.
pub(super) fn as_atom(value: Value<'_>) -> Atom {
    match value {
        Value::Boolean(truth) => Atom::Truth(truth),
        Value::Number(number) => Atom::Number(number),
        Value::Text(text) => Atom::Text((&*text).into()),
    }
}
