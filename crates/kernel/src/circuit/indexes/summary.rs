//! The sure members of a set, as one comparison needs them.
//!
//! Members have a *rank*, and a part has those from its *bound* on. So for an order the greatest
//! number from each rank on is enough, a staircase; for `!=` the last two members that differ from
//! each other; for `=` the last member of each value.

use super::slots::{Bid, Slots};
use super::values::Values;
use crate::circuit::cells::{Cells, Handle};
use crate::plan::Comparison;
use crate::values;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

#[derive(Debug)]
pub enum Summary {
    Equal(Values),
    Differ {
        /// The last member, and the last one with another value: rank, value.
        last: Option<(u64, Rc<str>)>,
        other: Option<(u64, Rc<str>)>,
        /// The values that nodes wait with.
        waiting: Values,
    },
    /// A node's number is less than a member's.
    Ordered {
        /// Whether both numbers are negated: the comparison is the other way round.
        is_negated: bool,
        or_equal: bool,
        /// By rank: the greatest number from there on. Numbers fall.
        stairs: BTreeMap<u64, f64>,
    },
}

/// Bytes of a stair, with its share of a tree that is not full.
const STAIR: usize = 2 * size_of::<(u64, f64)>();

impl Summary {
    /// The summary for a comparison of a node's value, on the left, with members.
    pub fn new(op: Comparison) -> Summary {
        match op {
            Comparison::Eq => Summary::Equal(Values::default()),
            Comparison::Ne => Summary::Differ {
                last: None,
                other: None,
                waiting: Values::default(),
            },
            _ => Summary::Ordered {
                is_negated: matches!(op, Comparison::Gt | Comparison::Ge),
                or_equal: matches!(op, Comparison::Le | Comparison::Ge),
                stairs: BTreeMap::new(),
            },
        }
    }

    pub fn bytes(&self) -> usize {
        match self {
            Summary::Equal(values) => values.bytes(),
            Summary::Differ {
                last,
                other,
                waiting,
            } => {
                let texts = last.iter().chain(other);
                waiting.bytes() + texts.map(|(_, text)| text.len()).sum::<usize>()
            }
            Summary::Ordered { stairs, .. } => stairs.len() * STAIR,
        }
    }

    /// Whether a value compares with a sure member of a part.
    pub fn compares(&self, text: &str, bound: u64) -> bool {
        match self {
            Summary::Equal(values) => values.has(text, bound),
            Summary::Differ { last, other, .. } => {
                let mut both = last.iter().chain(other);
                let different = both.find(|(_, own)| **own != *text);
                different.is_some_and(|(rank, _)| *rank >= bound)
            }
            Summary::Ordered {
                is_negated,
                or_equal,
                stairs,
            } => {
                let number = number_of(text, *is_negated);
                let greatest = stairs.range(bound..).next();
                greatest.is_some_and(|(_, &greatest)| is_less(number, greatest, *or_equal))
            }
        }
    }

    /// A node waits at a place for a member that its value compares with.
    pub fn wait(
        &mut self,
        text: &str,
        bound: u64,
        at: usize,
        slots: &mut Slots,
        cells: &mut Cells,
    ) {
        cells.account.spend(1);
        let bid = match self {
            Summary::Equal(values) => {
                return values.wait(text, bound, slots.get_mut(at).or, cells);
            }
            Summary::Differ { waiting, .. } => Bid::Only(waiting.intern(text)),
            Summary::Ordered { is_negated, .. } => match number_of(text, *is_negated) {
                number if number.is_nan() => return,
                number => Bid::Least(number),
            },
        };
        let own = slots.bid_at(at);
        if own.join(bid) != own {
            slots.bid(at, own.join(bid));
        }
    }

    /// A member is sure. Calls `tell` for those who waited for it at some places.
    pub fn list(
        &mut self,
        text: &Rc<str>,
        rank: u64,
        slots: &mut Slots,
        places: Range<usize>,
        mut tell: impl FnMut(Handle),
    ) {
        match self {
            Summary::Equal(values) => {
                let id = values.list(text, rank);
                while let Some(or) = values.pop(id, rank) {
                    tell(or);
                }
            }
            Summary::Differ {
                last,
                other,
                waiting,
            } => {
                note(last, other, text, rank);
                let own = waiting.find(text).map(Bid::Only);
                let wins = |bid: Bid| bid != Bid::Nothing && Some(bid) != own;
                while let Some(or) = slots.take(places.clone(), wins) {
                    tell(or);
                }
            }
            Summary::Ordered {
                is_negated,
                or_equal,
                stairs,
            } => {
                let number = number_of(text, *is_negated);
                if number.is_nan() {
                    return;
                }
                climb(stairs, rank, number);
                let wins = |bid: Bid| matches!(bid, Bid::Least(least) if is_less(least, number, *or_equal));
                while let Some(or) = slots.take(places.clone(), wins) {
                    tell(or);
                }
            }
        }
    }
}

/// Notes a member among the last two that differ.
fn note(
    last: &mut Option<(u64, Rc<str>)>,
    other: &mut Option<(u64, Rc<str>)>,
    text: &Rc<str>,
    rank: u64,
) {
    let is_text =
        |member: &Option<(u64, Rc<str>)>| member.as_ref().is_some_and(|(_, own)| own == text);
    let rank_of = |member: &Option<(u64, Rc<str>)>| member.as_ref().map(|(rank, _)| *rank);
    if is_text(last) {
        *last = Some((rank.max(rank_of(last).unwrap_or(rank)), text.clone()));
    } else if rank_of(last).is_none_or(|known| rank > known) {
        *other = last.replace((rank, text.clone()));
    } else if rank_of(other).is_none_or(|known| rank > known) {
        *other = Some((rank, text.clone()));
    }
}

/// Adds a number to a staircase; stairs that it makes superfluous go.
fn climb(stairs: &mut BTreeMap<u64, f64>, rank: u64, number: f64) {
    let is_needless = stairs
        .range(rank..)
        .next()
        .is_some_and(|(_, &next)| next >= number);
    if is_needless {
        return;
    }
    while let Some((&below, &least)) = stairs.range(..rank).next_back()
        && least <= number
    {
        stairs.remove(&below);
    }
    stairs.insert(rank, number);
}

fn number_of(text: &str, is_negated: bool) -> f64 {
    let number = values::parse_number(text.as_bytes());
    if is_negated { -number } else { number }
}

fn is_less(left: f64, right: f64, or_equal: bool) -> bool {
    left < right || or_equal && left == right
}
