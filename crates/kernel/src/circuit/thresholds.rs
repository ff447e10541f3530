//! Who wants to know how far a number has come.
//!
//! The bounds of a count move with every member. A comparison is told only when a bound reaches
//! the value that may decide it, so a count that many nodes compare costs each of them a message
//! or two, not one for every member.

use super::Circuit;
use super::cells::{Atom, Edge, Handle, Kind, Wire};
use super::ids::Tag;
use super::ranges::Range;
use crate::plan::Op;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A bound of a number that a gate waits for.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    /// Reversed for high ends: those come down.
    at: f64,
    edge: Edge,
}

impl PartialEq for Waiter {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Waiter {}

impl PartialOrd for Waiter {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiter {
    fn cmp(&self, other: &Self) -> Ordering {
        // The heap gives the greatest first, and the nearest bound is wanted.
        other.at.total_cmp(&self.at)
    }
}

/// The end of a range that a gate waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Low,
    High,
}

/// The gates that wait for bounds of one number.
#[derive(Debug, Default)]
pub struct Waiters {
    lows: BinaryHeap<Waiter>,
    highs: BinaryHeap<Waiter>,
}

impl Waiters {
    pub fn add(&mut self, edge: Edge, bounds: Range) {
        if bounds.low < f64::INFINITY {
            self.lows.push(Waiter {
                at: bounds.low,
                edge,
            });
        }
        if bounds.high > f64::NEG_INFINITY {
            self.highs.push(Waiter {
                at: -bounds.high,
                edge,
            });
        }
    }

    /// One who waited for the range that a number has now, and the end and bound it waited for.
    pub fn pop_reached(&mut self, range: Range) -> Option<(Edge, End, f64)> {
        if self.lows.peek().is_some_and(|first| first.at <= range.low) {
            let first = self.lows.pop()?;
            return Some((first.edge, End::Low, first.at));
        }
        if self
            .highs
            .peek()
            .is_some_and(|first| first.at <= -range.high)
        {
            let first = self.highs.pop()?;
            return Some((first.edge, End::High, -first.at));
        }
        None
    }

    /// The nearest bounds that a gate waits for.
    pub fn nearest(&self) -> Range {
        Range {
            low: self.lows.peek().map_or(f64::INFINITY, |first| first.at),
            high: self
                .highs
                .peek()
                .map_or(f64::NEG_INFINITY, |first| -first.at),
        }
    }
}

impl Circuit {
    /// A gate that is undecided waits for the bounds of its arguments that may decide it.
    pub(super) fn watch_arguments(&mut self, gate: Handle) {
        let Some(cell) = self.cells.open(gate) else {
            return;
        };
        let Kind::Apply { op, args } = &cell.kind else {
            return;
        };
        let (op, args) = (*op, args.clone());
        let wanted = cell.waiters.as_ref().map(|waiters| waiters.nearest());
        if op >= Op::Eq && args.len() == 2 {
            let (Some(left), Some(right)) = (self.range(&args[0]), self.range(&args[1])) else {
                return;
            };
            let is_moving = args.iter().all(|arg| matches!(arg, Wire::Cell(_)));
            self.watch(gate, Tag(0), &args[0], meeting(left, right, is_moving));
            self.watch(gate, Tag(1), &args[1], meeting(right, left, is_moving));
        } else if let Some(wanted) = wanted {
            for (index, arg) in args.iter().enumerate() {
                if let Some(bounds) = self.bounds_of_argument(op, &args, index, wanted) {
                    self.watch(gate, Tag(index as u32), arg, bounds);
                }
            }
        }
    }

    /// Sends a message to `gate` when a number reaches one of the bounds.
    fn watch(&mut self, gate: Handle, tag: Tag, arg: &Wire, bounds: Range) {
        let &Wire::Cell(input) = arg else { return };
        let edge = Edge { to: gate, tag };
        let Some(nearest) = self.cells.wait(input, edge, bounds) else {
            return;
        };
        match self.cells.open(input).map(|cell| &cell.kind) {
            Some(Kind::Apply { .. }) => self.watch_arguments(input),
            Some(&Kind::Rank { among, entry }) => {
                self.wait_for_rank(among, entry, nearest);
            }
            _ => {}
        }
    }

    /// The bounds of one argument of a sum, difference or negation that correspond to bounds of
    /// the outcome. Where two arguments move, any move of one counts.
    fn bounds_of_argument(
        &mut self,
        op: Op,
        args: &[Wire],
        index: usize,
        wanted: Range,
    ) -> Option<Range> {
        let own = self.range(&args[index])?;
        let other = args.get(1 - index.min(1)).filter(|_| args.len() == 2);
        let any_move = moved(own);
        let flipped = |range: Range, from: f64| Range {
            low: from - range.high,
            high: from - range.low,
        };
        let bounds = match (op, other) {
            (Op::ToNumber, _) => wanted,
            (Op::Negate, _) => flipped(wanted, 0.0),
            (Op::Add | Op::Subtract, Some(Wire::Known(Atom::Number(number)))) => {
                // Sums of fractions are rounded; then the exact bound is not known.
                if number.fract() != 0.0 {
                    return Some(any_move);
                }
                match (op, index) {
                    (Op::Add, _) => Range {
                        low: wanted.low - number,
                        high: wanted.high - number,
                    },
                    (_, 0) => Range {
                        low: wanted.low + number,
                        high: wanted.high + number,
                    },
                    _ => flipped(wanted, *number),
                }
            }
            (Op::Add | Op::Subtract, Some(Wire::Cell(_))) => any_move,
            _ => return None,
        };
        // What is reached already was not enough: the next move may be.
        Some(Range {
            low: bounds.low.max(any_move.low),
            high: bounds.high.min(any_move.high),
        })
    }

    /// The bounds of a number.
    pub(super) fn range(&mut self, wire: &Wire) -> Option<Range> {
        let Wire::Cell(handle) = wire else {
            return self.cells.range(wire);
        };
        match self.cells.open(*handle).map(|cell| &cell.kind) {
            Some(&Kind::Rank { among, entry }) => {
                return Some(self.range_of_rank(among, entry));
            }
            // Nobody told it of moves that nobody waited for.
            Some(Kind::Apply { op, args }) if *op < Op::Eq => {
                let (op, args) = (*op, args.clone());
                return self.bounds(op, &args);
            }
            _ => {}
        }
        self.cells.range(wire)
    }
}

/// The bounds of one number that may decide its comparison with another. Where both move, each
/// waits for the middle: one of them is there before they meet.
fn meeting(own: Range, other: Range, is_moving: bool) -> Range {
    let middle = |from: f64, to: f64| match is_moving {
        false => to,
        // An end that is open may matter as soon as it is not any more.
        true if from.is_infinite() => from,
        true if to.is_infinite() => to,
        true => f64::midpoint(from, to),
    };
    let next = moved(own);
    Range {
        low: middle(own.low, other.high).max(next.low),
        high: middle(own.high, other.low).min(next.high),
    }
}

/// The bounds that any move of a number reaches: counts move by one at least.
fn moved(range: Range) -> Range {
    Range {
        low: range.low + 0.5,
        high: (range.high - 0.5).min(f64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_beside_a_constant_waits_for_it() {
        let bounds = meeting(Range::from(2.0), Range::of(7.0), false);
        assert_eq!((bounds.low, bounds.high), (7.0, 7.0));
    }

    #[test]
    fn two_that_move_wait_in_the_middle() {
        let bounds = meeting(
            Range {
                low: 0.0,
                high: 9.0,
            },
            Range {
                low: 4.0,
                high: 8.0,
            },
            true,
        );
        assert_eq!(bounds.low, 4.0);
        assert_eq!(bounds.high, 6.5);
    }
}
