//! Comparisons of two values: `eq ne lt le gt ge`, and `= != < <= > >=` of one pair.

use std::cmp::Ordering;

use super::numbers::{Pair, promote};
use super::{Atomic, AtomicType, Duration, Seconds};
use crate::error::{Error, Result};

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `eq`, `=`
    Equal,
    /// `ne`, `!=`
    NotEqual,
    /// `lt`, `<`
    Less,
    /// `le`, `<=`
    LessOrEqual,
    /// `gt`, `>`
    Greater,
    /// `ge`, `>=`
    GreaterOrEqual,
}

/// What the comparison of a number with untyped text that is no number gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Untyped {
    /// FORG0001, as XQuery says.
    #[default]
    Error,
    /// False, whatever the operator.
    False,
}

impl Comparison {
    /// The comparison that queries write so, as a value comparison or a general one.
    pub fn from_symbol(symbol: &str) -> Option<Self> {
        Some(match symbol {
            "eq" | "=" => Comparison::Equal,
            "ne" | "!=" => Comparison::NotEqual,
            "lt" | "<" => Comparison::Less,
            "le" | "<=" => Comparison::LessOrEqual,
            "gt" | ">" => Comparison::Greater,
            "ge" | ">=" => Comparison::GreaterOrEqual,
            _ => return None,
        })
    }

    /// The comparison as a value comparison writes it.
    pub fn symbol(self) -> &'static str {
        match self {
            Comparison::Equal => "eq",
            Comparison::NotEqual => "ne",
            Comparison::Less => "lt",
            Comparison::LessOrEqual => "le",
            Comparison::Greater => "gt",
            Comparison::GreaterOrEqual => "ge",
        }
    }

    /// The comparison that holds with the operands exchanged.
    pub fn mirrored(self) -> Self {
        match self {
            Comparison::Less => Comparison::Greater,
            Comparison::LessOrEqual => Comparison::GreaterOrEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterOrEqual => Comparison::LessOrEqual,
            same => same,
        }
    }

    /// Whether the comparison holds for values in this order; None is NaN with anything.
    pub fn holds(self, order: Option<Ordering>) -> bool {
        match self {
            Comparison::Equal => order == Some(Ordering::Equal),
            Comparison::NotEqual => order != Some(Ordering::Equal),
            Comparison::Less => order == Some(Ordering::Less),
            Comparison::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Comparison::Greater => order == Some(Ordering::Greater),
            Comparison::GreaterOrEqual => {
                matches!(order, Some(Ordering::Greater | Ordering::Equal))
            }
        }
    }

    fn needs_order(self) -> bool {
        !matches!(self, Comparison::Equal | Comparison::NotEqual)
    }
}

/// Whether `left eq right` holds, or another value comparison. Untyped values are strings.
///
/// # Errors
///
/// XPTY0004 if the types cannot be compared so.
pub fn compare_values(comparison: Comparison, left: &Atomic, right: &Atomic) -> Result<bool> {
    let relation = relation(left, right);
    match relation {
        Some(Relation::Ordered(order)) => Ok(comparison.holds(order)),
        Some(Relation::Equality(is_equal)) if !comparison.needs_order() => {
            Ok(is_equal == (comparison == Comparison::Equal))
        }
        _ => Err(incomparable(comparison, left, right)),
    }
}

/// Whether `left = right` holds for one pair of items, or another general comparison.
///
/// An untyped value is compared with a number as a double, with text as text, and with values of
/// another type as a value of that type.
///
/// # Errors
///
/// XPTY0004 if the types cannot be compared so; FORG0001 if an untyped value cannot be converted.
pub fn compare_general(
    comparison: Comparison,
    left: &Atomic,
    right: &Atomic,
    untyped: Untyped,
) -> Result<bool> {
    let is_text = |value: &Atomic| value.as_text().is_some();
    let (text, other, is_left) = match (left, right) {
        (Atomic::UntypedAtomic(_), other) if !is_text(other) => (left, other, true),
        (other, Atomic::UntypedAtomic(_)) if !is_text(other) => (right, other, false),
        _ => return compare_values(comparison, left, right),
    };
    let is_number = other.type_of().is_numeric();
    let target = if is_number {
        AtomicType::Double
    } else {
        other.type_of()
    };
    match text.cast(target) {
        Ok(value) if is_left => compare_values(comparison, &value, right),
        Ok(value) => compare_values(comparison, left, &value),
        Err(_) if is_number && untyped == Untyped::False => Ok(false),
        Err(error) => Err(error),
    }
}

/// How two values relate.
pub(super) enum Relation {
    /// Their types have an order; None if one of them is NaN.
    Ordered(Option<Ordering>),
    /// Their types are only equal or not.
    Equality(bool),
}

/// How two values relate; None if their types cannot be compared.
pub(super) fn relation(left: &Atomic, right: &Atomic) -> Option<Relation> {
    if let (Some(left), Some(right)) = (left.as_text(), right.as_text()) {
        return Some(Relation::Ordered(Some(left.cmp(right))));
    }
    if let Some(pair) = promote(left, right) {
        return Some(Relation::Ordered(match pair {
            Pair::Integers(left, right) => Some(left.cmp(&right)),
            Pair::Decimals(left, right) => Some(left.cmp(&right)),
            Pair::Floats(left, right) => left.partial_cmp(&right),
            Pair::Doubles(left, right) => left.partial_cmp(&right),
        }));
    }
    let order = match (left, right) {
        (Atomic::Boolean(left), Atomic::Boolean(right)) => left.cmp(right),
        (Atomic::Date(left), Atomic::Date(right))
        | (Atomic::Time(left), Atomic::Time(right))
        | (Atomic::DateTime(left), Atomic::DateTime(right)) => left.instant().cmp(&right.instant()),
        (Atomic::DayTimeDuration(left), Atomic::DayTimeDuration(right)) => left.cmp(right),
        (Atomic::YearMonthDuration(left), Atomic::YearMonthDuration(right)) => left.cmp(right),
        (Atomic::QName(left), Atomic::QName(right)) => {
            return Some(Relation::Equality(left == right));
        }
        _ => {
            return Some(Relation::Equality(
                as_duration(left)? == as_duration(right)?,
            ));
        }
    };
    Some(Relation::Ordered(Some(order)))
}

/// Whether two values are equal; NaN is not, and values of types that cannot be compared are not.
pub(crate) fn is_equal(left: &Atomic, right: &Atomic) -> bool {
    match relation(left, right) {
        Some(Relation::Ordered(order)) => order == Some(Ordering::Equal),
        Some(Relation::Equality(is_equal)) => is_equal,
        None => false,
    }
}

/// A duration of any type; None for other values.
pub(crate) fn as_duration(value: &Atomic) -> Option<Duration> {
    match value {
        Atomic::Duration(duration) => Some(**duration),
        Atomic::DayTimeDuration(seconds) => Some(Duration {
            months: 0,
            seconds: *seconds,
        }),
        Atomic::YearMonthDuration(months) => Some(Duration {
            months: *months,
            seconds: Seconds::default(),
        }),
        _ => None,
    }
}

fn incomparable(comparison: Comparison, left: &Atomic, right: &Atomic) -> Error {
    let (symbol, left, right) = (comparison.symbol(), left.type_of(), right.type_of());
    Error::new(
        "XPTY0004",
        format!("`{symbol}` does not compare {left} with {right}"),
    )
}
