//! The order of sorted values: `order by`, `min` and `max`.
//!
//! Numbers of different types have no consistent order of their own: a decimal may equal two doubles
//! that differ. So a column of values is made one type first, and then sorted.

use std::cmp::Ordering;

use super::compare::{Relation, relation};
use super::{Atomic, AtomicType};
use crate::error::{Error, Result};

/// Make the keys of one `order by` values of one type, the smallest that they can be promoted to.
///
/// Untyped values become strings. Afterwards `order_keys` is a total order of these keys.
///
/// # Errors
///
/// XPTY0004 if the keys have no common type, or their type has no order.
pub fn unify(keys: &mut [Option<Atomic>]) -> Result<()> {
    let Some(target) = common_type(keys.iter().flatten(), "XPTY0004")? else {
        return Ok(());
    };
    for key in keys.iter_mut().flatten() {
        if key.type_of() != target {
            *key = key.cast(target)?;
        }
    }
    Ok(())
}

/// The order of two keys of one `order by` that sorts upwards; None is an empty key.
///
/// NaN stands between the empty keys and all numbers.
///
/// # Errors
///
/// XPTY0004 if the values cannot be compared, which does not happen behind `unify`.
pub fn order_keys(
    left: Option<&Atomic>,
    right: Option<&Atomic>,
    is_empty_greatest: bool,
) -> Result<Ordering> {
    let ranks = (rank(left), rank(right));
    let (Some(left), Some(right)) = (left, right) else {
        return Ok(in_direction(ranks, is_empty_greatest));
    };
    match relation(left, right) {
        Some(Relation::Ordered(Some(order))) => Ok(order),
        Some(Relation::Ordered(None)) => Ok(in_direction(ranks, is_empty_greatest)),
        _ => Err(unordered(left.type_of(), right.type_of(), "XPTY0004")),
    }
}

/// Empty keys before NaN before all others.
fn rank(key: Option<&Atomic>) -> u8 {
    match key {
        None => 0,
        Some(Atomic::Double(number)) if number.is_nan() => 1,
        Some(Atomic::Float(number)) if number.is_nan() => 1,
        Some(_) => 2,
    }
}

fn in_direction(ranks: (u8, u8), is_empty_greatest: bool) -> Ordering {
    if is_empty_greatest {
        ranks.1.cmp(&ranks.0)
    } else {
        ranks.0.cmp(&ranks.1)
    }
}

/// The smallest type with an order that all values can be promoted to; None for no values.
///
/// Untyped values count as strings. The error of values without a common type has the given code.
pub(crate) fn common_type<'a>(
    values: impl IntoIterator<Item = &'a Atomic>,
    code: &'static str,
) -> Result<Option<AtomicType>> {
    let mut common = None;
    for value in values {
        let next = match value.type_of() {
            AtomicType::UntypedAtomic => AtomicType::String,
            other => other,
        };
        common = Some(match common {
            None if matches!(next, AtomicType::QName | AtomicType::Duration) => {
                return Err(unordered(next, next, code));
            }
            None => next,
            Some(known) => join(known, next).ok_or_else(|| unordered(known, next, code))?,
        });
    }
    Ok(common)
}

/// The smaller type of those that both can be promoted to.
fn join(left: AtomicType, right: AtomicType) -> Option<AtomicType> {
    use AtomicType::{AnyUri, Decimal, Double, Float, String};
    if left == right {
        return Some(left);
    }
    if matches!((left, right), (String, AnyUri) | (AnyUri, String)) {
        return Some(String);
    }
    if !left.is_numeric() || !right.is_numeric() {
        return None;
    }
    [Double, Float, Decimal]
        .into_iter()
        .find(|kind| *kind == left || *kind == right)
}

fn unordered(left: AtomicType, right: AtomicType, code: &'static str) -> Error {
    let reason = if left == right {
        format!("values of type {left} have no order")
    } else {
        format!("values of types {left} and {right} have no common order")
    };
    Error::new(code, reason)
}
