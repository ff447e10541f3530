//! Positions that predicates ask for, recognised once per plan.
//!
//! `[position() > 2 and position() < 6]` are the positions 3 to 5, `[position() != 3]` those before
//! and after: spans of whole numbers. What a step asks before the position is a guard, and only
//! nodes that pass it are counted; what it asks behind the position is asked of the nodes left.

use super::routes::Routes;
use crate::plan::{Op, Part, PartId, Plan};
use std::rc::Rc;

/// Positions from one to another, both included; `END` is no bound.
pub type Span = (u64, u64);

pub const END: u64 = u64::MAX;

/// The predicates of a step or a filter, one of which asks for positions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pick {
    /// The predicates before the position.
    pub guards: Box<[PartId]>,
    /// The positions, in order and apart from each other.
    pub spans: Box<[Span]>,
    /// What is asked of the nodes left. One that is alone has position 1 of 1 there.
    pub rest: Box<[PartId]>,
}

/// The positions that a filter asks for, or how many nodes are behind the one it asks for.
#[derive(Clone, Debug)]
pub struct FilterPick {
    pub pick: Rc<Pick>,
    pub behind: Option<u64>,
}

impl Routes {
    /// The positions that a filter's predicates ask for, where constants say which.
    pub(super) fn filter_pick_of(&self, plan: &Plan, predicates: &[PartId]) -> Option<FilterPick> {
        let ranks = self.pick_of(plan, predicates).map(|pick| (None, pick));
        let last = || self.last_pick_of(plan, predicates);
        let (behind, pick) = ranks.or_else(|| last().map(|(behind, pick)| (Some(behind), pick)))?;
        let pick = Rc::new(pick);
        Some(FilterPick { pick, behind })
    }

    /// The positions that a filter asks for, where constants say which.
    pub fn filter_pick(&self, filter: PartId) -> Option<FilterPick> {
        self.filter_picks.get(&filter).cloned()
    }

    /// The one position that predicates ask for, where a constant says how far it is from the last.
    pub(super) fn last_pick_of(&self, plan: &Plan, predicates: &[PartId]) -> Option<(u64, Pick)> {
        let at = predicates
            .iter()
            .position(|&p| self.nature(p).has_focus())?;
        let pick = Pick {
            guards: predicates[..at].into(),
            spans: [].into(),
            rest: predicates[at + 1..].into(),
        };
        Some((behind_of(plan, predicates[at])?, pick))
    }

    /// The positions that predicates ask for, where constants say which.
    pub(super) fn pick_of(&self, plan: &Plan, predicates: &[PartId]) -> Option<Pick> {
        let at = predicates
            .iter()
            .position(|&p| self.nature(p).has_focus())?;
        let mut rest = Vec::new();
        let spans = if let Part::And(parts) = plan.part(predicates[at]) {
            // What does not count positions may as well be asked behind.
            let (counting, others): (Vec<PartId>, Vec<PartId>) = parts
                .iter()
                .partition(|&&part| self.nature(part).has_focus());
            rest = others;
            common_spans(plan, &counting)?
        } else {
            spans_of(plan, predicates[at])?
        };
        rest.extend(&predicates[at + 1..]);
        let is_one = matches!(spans[..], [(from, until)] if from == until);
        if !is_one && self.counts_positions(&rest) {
            return None;
        }
        Some(Pick {
            guards: predicates[..at].into(),
            spans: spans.into(),
            rest: rest.into(),
        })
    }
}

/// How many are behind the position that a predicate asks for: `position() = last() - 2`.
fn behind_of(plan: &Plan, part: PartId) -> Option<u64> {
    let Part::Call(Op::Eq, &[left, right]) = plan.part(part) else {
        return None;
    };
    let last = match (plan.part(left), plan.part(right)) {
        (Part::Position, last) | (last, Part::Position) => last,
        _ => return None,
    };
    match last {
        Part::Last => Some(0),
        Part::Call(Op::Subtract, &[last, number]) => {
            let (Part::Last, Part::Number(number)) = (plan.part(last), plan.part(number)) else {
                return None;
            };
            let number = plan.number(number);
            let is_count = number.fract() == 0.0 && (0.0..1e9).contains(&number);
            is_count.then_some(number as u64)
        }
        _ => None,
    }
}

fn spans_of(plan: &Plan, part: PartId) -> Option<Vec<Span>> {
    match plan.part(part) {
        Part::And(parts) => common_spans(plan, parts),
        Part::Or(parts) => {
            let outsides = parts
                .iter()
                .map(|&part| spans_of(plan, part).map(|own| outside(&own)));
            let neither = outsides.reduce(|all, own| Some(common(&all?, &own?)))??;
            Some(outside(&neither))
        }
        Part::Not(part) => spans_of(plan, part).map(|own| outside(&own)),
        Part::Call(op, &[left, right]) => match (plan.part(left), plan.part(right)) {
            (Part::Position, Part::Number(number)) => compared(op, plan.number(number)),
            (Part::Number(number), Part::Position) => compared(mirrored(op), plan.number(number)),
            _ => None,
        },
        _ => None,
    }
}

/// The positions that all parts ask for.
fn common_spans(plan: &Plan, parts: &[PartId]) -> Option<Vec<Span>> {
    let spans = parts.iter().map(|&part| spans_of(plan, part));
    spans.reduce(|all, own| Some(common(&all?, &own?)))?
}

fn mirrored(op: Op) -> Op {
    match op {
        Op::Lt => Op::Gt,
        Op::Le => Op::Ge,
        Op::Gt => Op::Lt,
        Op::Ge => Op::Le,
        other => other,
    }
}

/// The positions that compare with a number.
fn compared(op: Op, number: f64) -> Option<Vec<Span>> {
    let is_whole = number.fract() == 0.0;
    // Casts to whole numbers end at the bounds of the type.
    let (below, above) = (number.floor() as u64, number.ceil() as u64);
    let spans = match op {
        Op::Eq if is_whole => span(above, below),
        Op::Eq => Vec::new(),
        Op::Ne => return compared(Op::Eq, number).map(|equal| outside(&equal)),
        _ if number.is_nan() => Vec::new(),
        Op::Lt => span(1, above.saturating_sub(1)),
        Op::Le => span(1, below),
        Op::Gt if number < 0.0 => span(1, END),
        Op::Gt => span(below.saturating_add(1), END),
        Op::Ge => span(above, END),
        _ => return None,
    };
    Some(spans)
}

fn span(from: u64, until: u64) -> Vec<Span> {
    let from = from.max(1);
    if from <= until {
        vec![(from, until)]
    } else {
        Vec::new()
    }
}

/// The positions in neither of the spans.
fn outside(spans: &[Span]) -> Vec<Span> {
    let mut apart = Vec::new();
    let mut from = 1;
    for &(first, last) in spans {
        apart.extend(span(from, first - 1));
        if last == END {
            return apart;
        }
        from = last + 1;
    }
    apart.push((from, END));
    apart
}

/// The positions in both.
fn common(left: &[Span], right: &[Span]) -> Vec<Span> {
    let pairs = left.iter().flat_map(|l| right.iter().map(move |r| (l, r)));
    pairs
        .flat_map(|(l, r)| span(l.0.max(r.0), l.1.min(r.1)))
        .collect()
}
