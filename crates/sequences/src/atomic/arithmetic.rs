//! `+ - * div idiv mod`.

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use super::numbers::{Pair, decimal_of_double, promote};
use super::{Atomic, AtomicType, calendar};
use crate::error::{Error, Result};

/// An operator of arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `div`
    Divide,
    /// `idiv`
    IntegerDivide,
    /// `mod`
    Modulo,
}

impl Operator {
    /// The operator as queries write it.
    pub fn symbol(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "div",
            Operator::IntegerDivide => "idiv",
            Operator::Modulo => "mod",
        }
    }

    /// The operator that queries write so.
    pub fn from_symbol(symbol: &str) -> Option<Self> {
        Some(match symbol {
            "+" => Operator::Add,
            "-" => Operator::Subtract,
            "*" => Operator::Multiply,
            "div" => Operator::Divide,
            "idiv" => Operator::IntegerDivide,
            "mod" => Operator::Modulo,
            _ => return None,
        })
    }
}

/// The value of `left operator right`. Untyped values are made doubles.
///
/// # Errors
///
/// XPTY0004 if the types do not go together; FORG0001 if an untyped value is no number; FOAR0001
/// for a division by zero; FOAR0002, FODT0001, FODT0002 if the result is out of range; FOCA0005 if
/// a duration is multiplied or divided by NaN.
pub fn arithmetic(operator: Operator, left: &Atomic, right: &Atomic) -> Result<Atomic> {
    if matches!(left, Atomic::UntypedAtomic(_)) {
        return arithmetic(operator, &left.cast(AtomicType::Double)?, right);
    }
    if matches!(right, Atomic::UntypedAtomic(_)) {
        return arithmetic(operator, left, &right.cast(AtomicType::Double)?);
    }
    match promote(left, right) {
        Some(Pair::Integers(left, right)) => integers(operator, left, right),
        Some(Pair::Decimals(left, right)) => decimals(operator, left, right),
        Some(Pair::Floats(left, right)) => floats(operator, left, right),
        Some(Pair::Doubles(left, right)) => doubles(operator, left, right),
        None => calendar::arithmetic(operator, left, right),
    }
}

/// The value of `-value`. An untyped value is made a double.
///
/// # Errors
///
/// XPTY0004 if the value is no number; FORG0001 if an untyped value is none; FOAR0002 if the
/// result is out of range.
pub fn negate(value: &Atomic) -> Result<Atomic> {
    match value {
        Atomic::Integer(number) => number
            .checked_neg()
            .map(Atomic::Integer)
            .ok_or_else(overflow),
        Atomic::Decimal(number) => Ok(Atomic::Decimal(-*number)),
        Atomic::Float(number) => Ok(Atomic::Float(-number)),
        Atomic::Double(number) => Ok(Atomic::Double(-number)),
        Atomic::UntypedAtomic(_) => negate(&value.cast(AtomicType::Double)?),
        other => Err(no_number("-", other)),
    }
}

/// The value of `+value`: the number itself. An untyped value is made a double.
///
/// # Errors
///
/// XPTY0004 if the value is no number; FORG0001 if an untyped value is none.
pub fn plus(value: &Atomic) -> Result<Atomic> {
    match value {
        Atomic::UntypedAtomic(_) => value.cast(AtomicType::Double),
        number if number.type_of().is_numeric() => Ok(number.clone()),
        other => Err(no_number("+", other)),
    }
}

fn no_number(sign: &str, value: &Atomic) -> Error {
    let reason = format!("`{sign}` needs a number, not {}", value.type_of());
    Error::new("XPTY0004", reason)
}

fn integers(operator: Operator, left: i64, right: i64) -> Result<Atomic> {
    let value = match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide => return decimals(operator, left.into(), right.into()),
        _ if right == 0 => return Err(division_by_zero()),
        Operator::IntegerDivide => left.checked_div(right),
        // The one overflow is the smallest integer mod -1, which is 0.
        Operator::Modulo => Some(left.checked_rem(right).unwrap_or(0)),
    };
    value.map(Atomic::Integer).ok_or_else(overflow)
}

fn decimals(operator: Operator, left: Decimal, right: Decimal) -> Result<Atomic> {
    let value = match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        _ if right.is_zero() => return Err(division_by_zero()),
        Operator::Divide => left.checked_div(right),
        Operator::Modulo => left.checked_rem(right),
        Operator::IntegerDivide => {
            let quotient = left.checked_div(right).map(|quotient| quotient.trunc());
            let whole = quotient.and_then(|quotient| quotient.to_i64());
            return whole.map(Atomic::Integer).ok_or_else(overflow);
        }
    };
    value.map(Atomic::Decimal).ok_or_else(overflow)
}

fn floats(operator: Operator, left: f32, right: f32) -> Result<Atomic> {
    Ok(Atomic::Float(match operator {
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide => left / right,
        Operator::Modulo => left % right,
        Operator::IntegerDivide => {
            return integer_quotient(left.into(), right.into(), left / right);
        }
    }))
}

fn doubles(operator: Operator, left: f64, right: f64) -> Result<Atomic> {
    Ok(Atomic::Double(match operator {
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide => left / right,
        Operator::Modulo => left % right,
        Operator::IntegerDivide => return integer_quotient(left, right, left / right),
    }))
}

/// The whole part of a quotient of floats or doubles.
fn integer_quotient(left: f64, right: f64, quotient: impl Into<f64>) -> Result<Atomic> {
    if right == 0.0 {
        return Err(division_by_zero());
    }
    if left.is_nan() || right.is_nan() || left.is_infinite() {
        return Err(overflow());
    }
    let quotient: f64 = quotient.into();
    let whole = decimal_of_double(quotient.trunc()).and_then(|whole| whole.to_i64());
    whole.map(Atomic::Integer).ok_or_else(overflow)
}

pub(super) fn division_by_zero() -> Error {
    Error::new("FOAR0001", "division by zero")
}

pub(super) fn overflow() -> Error {
    Error::new("FOAR0002", "the result of the operation is out of range")
}
