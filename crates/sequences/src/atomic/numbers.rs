//! Numbers: promotion to a common type, and exact conversions between types.

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use super::Atomic;

/// Powers of ten that a double holds exactly.
const EXACT_TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];
/// The largest magnitude up to which doubles hold all integers.
pub(super) const EXACT_INTEGER_MAX: i64 = 1 << 53;

/// Two numbers of one type.
pub(super) enum Pair {
    Integers(i64, i64),
    Decimals(Decimal, Decimal),
    Floats(f32, f32),
    Doubles(f64, f64),
}

/// Two numbers, promoted to the smallest type that both can be promoted to; None for others.
pub(super) fn promote(left: &Atomic, right: &Atomic) -> Option<Pair> {
    use Atomic::{Decimal, Double, Float, Integer};
    Some(match (left, right) {
        (Integer(left), Integer(right)) => Pair::Integers(*left, *right),
        (Double(_), _) | (_, Double(_)) => Pair::Doubles(to_double(left)?, to_double(right)?),
        (Float(_), _) | (_, Float(_)) => Pair::Floats(to_float(left)?, to_float(right)?),
        (Decimal(_), _) | (_, Decimal(_)) => Pair::Decimals(to_decimal(left)?, to_decimal(right)?),
        _ => return None,
    })
}

/// The double nearest to a number; None for values that are no numbers.
pub(super) fn to_double(value: &Atomic) -> Option<f64> {
    match value {
        Atomic::Integer(number) => Some(*number as f64),
        Atomic::Decimal(number) => Some(double_of_decimal(number)),
        Atomic::Float(number) => Some(f64::from(*number)),
        Atomic::Double(number) => Some(*number),
        _ => None,
    }
}

/// The float nearest to a number; None for values that are no numbers.
pub(super) fn to_float(value: &Atomic) -> Option<f32> {
    match value {
        Atomic::Integer(number) => Some(*number as f32),
        Atomic::Decimal(number) => Some(float_of_decimal(number)),
        Atomic::Float(number) => Some(*number),
        Atomic::Double(number) => Some(*number as f32),
        _ => None,
    }
}

/// The value of an integer or a decimal; None for others.
pub(super) fn to_decimal(value: &Atomic) -> Option<Decimal> {
    match value {
        Atomic::Integer(number) => Some(Decimal::from(*number)),
        Atomic::Decimal(number) => Some(*number),
        _ => None,
    }
}

/// The double nearest to a decimal.
///
/// The library's own conversion rounds more than once. A division of two exact doubles rounds once.
pub(super) fn double_of_decimal(number: &Decimal) -> f64 {
    let mantissa = number.mantissa();
    let power = EXACT_TENS.get(number.scale() as usize);
    match (i64::try_from(mantissa), power) {
        (Ok(whole), Some(power)) if whole.unsigned_abs() <= EXACT_INTEGER_MAX as u64 => {
            whole as f64 / power
        }
        _ => number.to_string().parse().unwrap_or(f64::NAN),
    }
}

fn float_of_decimal(number: &Decimal) -> f32 {
    match number.to_i64() {
        Some(whole) if number.is_integer() => whole as f32,
        _ => number.to_string().parse().unwrap_or(f32::NAN),
    }
}

/// The decimal nearest to a double; None if decimals do not reach so far.
pub(super) fn decimal_of_double(number: f64) -> Option<Decimal> {
    if !number.is_finite() || number.abs() >= 8e28 {
        return None;
    }
    if number.fract() == 0.0 {
        return Decimal::try_from_i128_with_scale(number as i128, 0).ok();
    }
    // Rust prints as many exact digits as it is asked for.
    let digits = format!("{number:.28}");
    digits.parse().ok()
}
