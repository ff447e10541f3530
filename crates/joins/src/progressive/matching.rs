//! Whether two bindings of different streams go together.

use super::binding::Binding;
use super::graph::{Comparison, JoinGraph, Operator, ValueKind};
use crate::meter::Meter;
use rustc_hash::FxHashSet;
use std::cmp::Ordering;

/// Lists whose product is at most this are compared value by value.
const PRODUCT_MAX: usize = 64;

impl JoinGraph {
    /// Whether all conditions between two bindings hold, the distance of their times included.
    pub(super) fn matches(&self, left: &Binding, right: &Binding, meter: &Meter) -> bool {
        let is_near = self
            .within()
            .is_none_or(|within| left.time.abs_diff(right.time) <= within.unsigned_abs());
        is_near
            && self
                .edges(left.stream, right.stream)
                .iter()
                .all(|&(from, to)| have_common_value(left, from, right, to, meter))
            && self.comparisons().iter().all(|comparison| {
                let (from, to) = (comparison.left.stream, comparison.right.stream);
                if (from, to) == (left.stream, right.stream) {
                    holds(comparison, left, right, meter)
                } else if (to, from) == (left.stream, right.stream) {
                    holds(comparison, right, left, meter)
                } else {
                    true
                }
            })
    }
}

fn have_common_value(a: &Binding, from: u32, b: &Binding, to: u32, meter: &Meter) -> bool {
    let (left, right) = (a.values(from), b.values(to));
    meter.spend(1 + (left.len() + right.len()) as u64);
    if left.len() * right.len() <= PRODUCT_MAX {
        return left
            .into_iter()
            .any(|value| right.clone().any(|other| value == other));
    }
    let values: FxHashSet<&[u8]> = left.collect();
    right.into_iter().any(|value| values.contains(value))
}

/// Whether some value of the left attribute and some of the right one compare as they should.
fn holds(comparison: &Comparison, left: &Binding, right: &Binding, meter: &Meter) -> bool {
    let (left, right) = (
        left.values(comparison.left.number),
        right.values(comparison.right.number),
    );
    meter.spend(1 + (left.len() + right.len()) as u64);
    match comparison.kind {
        ValueKind::Text => some_compare(comparison.operator, left, right, Ord::cmp),
        ValueKind::Number => some_compare(
            comparison.operator,
            left.filter_map(number_of),
            right.filter_map(number_of),
            f64::total_cmp,
        ),
    }
}

/// A value as a number. Zero has one sign, so that numbers have one order.
fn number_of(value: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(value).ok()?;
    let trimmed = text.trim_matches([' ', '\t', '\n', '\r']);
    let number = match trimmed {
        "INF" | "+INF" => f64::INFINITY,
        "-INF" => f64::NEG_INFINITY,
        // Rust knows more spellings of infinity than XML Schema has.
        _ if trimmed
            .bytes()
            .any(|byte| matches!(byte, b'i' | b'n' | b'I' | b'N')) =>
        {
            return None;
        }
        _ => trimmed.parse().ok()?,
    };
    Some(number + 0.0)
}

/// The extremes decide: the least of one side against the greatest of the other one.
fn some_compare<T: Copy>(
    operator: Operator,
    left: impl Iterator<Item = T>,
    right: impl Iterator<Item = T>,
    order: impl Fn(&T, &T) -> Ordering,
) -> bool {
    let (Some((least, most)), Some((low, high))) =
        (extremes(left, &order), extremes(right, &order))
    else {
        return false;
    };
    match operator {
        Operator::Less => order(&least, &high).is_lt(),
        Operator::LessOrEqual => order(&least, &high).is_le(),
        Operator::Greater => order(&most, &low).is_gt(),
        Operator::GreaterOrEqual => order(&most, &low).is_ge(),
        Operator::NotEqual => {
            order(&least, &most).is_ne()
                || order(&low, &high).is_ne()
                || order(&least, &low).is_ne()
        }
    }
}

fn extremes<T: Copy>(
    mut values: impl Iterator<Item = T>,
    order: impl Fn(&T, &T) -> Ordering,
) -> Option<(T, T)> {
    let first = values.next()?;
    Some(values.fold((first, first), |(least, most), value| {
        let least = if order(&value, &least).is_lt() {
            value
        } else {
            least
        };
        let most = if order(&value, &most).is_gt() {
            value
        } else {
            most
        };
        (least, most)
    }))
}
