//! Comparisons between two sets: each side keeps a summary, never the pairs.

use super::Circuit;
use super::cells::{Atom, Handle, Kind, Wire};
use super::frames::{Spot, Target};
use super::ids::{PairId, SinkId};
use super::sinks::SinkKind;
use crate::plan::{Comparison, PartId};
use crate::values;
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// What is known of the sure nodes of one side.
#[derive(Debug, Default)]
struct Side {
    count: u64,
    /// For `=`: their values. For `!=`: at most two different ones.
    texts: FxHashSet<Rc<str>>,
    min: Option<f64>,
    max: Option<f64>,
}

#[derive(Debug)]
pub struct Pair {
    op: Comparison,
    cell: Handle,
    pub sinks: [SinkId; 2],
    /// Sinks in use.
    pub sides_left: u32,
    sides: [Side; 2],
}

impl Circuit {
    pub(super) fn compare_pairs(&mut self, op: Comparison, sets: [PartId; 2], spot: Spot) -> Wire {
        let id = self.set_pairs.next();
        let sinks = [0, 1].map(|side| self.add_relay(SinkKind::Pair { pair: id, side }));
        let cell = self.cells.add(Kind::Sink(sinks[0]));
        self.set_pairs.add(Pair {
            op,
            cell,
            sinks,
            sides_left: 2,
            sides: Default::default(),
        });
        for (sink, set) in sinks.into_iter().zip(sets) {
            self.sinks[sink].cell = Some(cell);
            self.collect_merged(set, spot, Target::Sink(sink), Wire::TRUE);
        }
        self.cells.resolve(&Wire::Cell(cell))
    }

    /// An entry of a side may be settled: a sure one meets the other side.
    pub(super) fn settle_pair(&mut self, sink: SinkId, index: usize) {
        let SinkKind::Pair { pair, side } = self.sinks[sink].kind else {
            return;
        };
        let entry = &mut self.sinks[sink].entries[index];
        if let (true, Wire::Known(Atom::Text(text))) = (entry.when.is_true(), &entry.value) {
            let text = text.clone();
            // The summary has it from here on.
            entry.value = Wire::TRUE;
            let state = &mut self.set_pairs[pair];
            if state.meet(side, text) {
                let cell = state.cell;
                self.cells.decide(cell, Atom::Truth(true));
            }
        }
        self.settle_false(pair);
    }

    /// Decides false once nothing can make it true.
    pub(super) fn settle_false(&mut self, pair: PairId) {
        let state = &self.set_pairs[pair];
        let is_over = |side: usize| {
            let sink = &self.sinks[state.sinks[side]];
            sink.open == 0 && sink.pending == 0
        };
        let is_empty = |side: usize| is_over(side) && state.sides[side].count == 0;
        if is_empty(0) || is_empty(1) || (is_over(0) && is_over(1)) {
            let cell = state.cell;
            self.cells.decide(cell, Atom::Truth(false));
        }
    }
}

impl Pair {
    /// Adds a sure node to a side; true if it compares with one of the other.
    fn meet(&mut self, side: usize, text: Rc<str>) -> bool {
        let number = values::parse_number(text.as_bytes());
        let other = &self.sides[1 - side];
        let compares = match self.op {
            Comparison::Eq => other.texts.contains(&text),
            Comparison::Ne => other.texts.iter().any(|known| *known != text),
            op => {
                // The best that the other side has to offer for this operator.
                let is_left = side == 0;
                let wants_large = matches!(op, Comparison::Lt | Comparison::Le) == is_left;
                let best = if wants_large { other.max } else { other.min };
                best.is_some_and(|best| {
                    let (left, right) = if is_left {
                        (number, best)
                    } else {
                        (best, number)
                    };
                    values::compare_numbers(op, left, right)
                })
            }
        };
        let state = &mut self.sides[side];
        state.count += 1;
        match self.op {
            Comparison::Eq => {
                state.texts.insert(text);
            }
            Comparison::Ne if state.texts.len() < 2 => {
                state.texts.insert(text);
            }
            Comparison::Ne => {}
            _ if number.is_nan() => {}
            _ => {
                state.min = Some(state.min.map_or(number, |min| min.min(number)));
                state.max = Some(state.max.map_or(number, |max| max.max(number)));
            }
        }
        compares
    }
}
