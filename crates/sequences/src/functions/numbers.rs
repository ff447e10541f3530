//! Functions of numbers.

use rust_decimal::RoundingStrategy::MidpointNearestEven;

use super::{ANY, Builtin, Call, DOUBLE, INTEGER, Kind, Values, empty, one, optional, value};
use crate::atomic::{Atomic, AtomicType, Decimal};
use crate::error::{Error, Result};

const NUMBER: Kind = Kind::Numeric;

pub(super) static BUILTINS: &[Builtin] = &[
    Builtin::new("abs", &[optional(NUMBER)], optional(NUMBER), |call| {
        let integer = |number: i64| number.checked_abs().ok_or_else(overflow);
        each_type(call, integer, |number| number.abs(), f32::abs, f64::abs)
    }),
    Builtin::new("ceiling", &[optional(NUMBER)], optional(NUMBER), |call| {
        each_type(call, Ok, |number| number.ceil(), f32::ceil, f64::ceil)
    }),
    Builtin::new("floor", &[optional(NUMBER)], optional(NUMBER), |call| {
        each_type(call, Ok, |number| number.floor(), f32::floor, f64::floor)
    }),
    Builtin::new("round", &[optional(NUMBER)], optional(NUMBER), |call| {
        each_type(
            call,
            Ok,
            round_decimal,
            |number| round(number.into()) as f32,
            round,
        )
    }),
    Builtin::new(
        "round-half-to-even",
        &[optional(NUMBER), one(INTEGER)],
        optional(NUMBER),
        round_half_to_even,
    )
    .requires(1),
    Builtin::new("number", &[optional(ANY)], one(DOUBLE), |call| {
        let number = call
            .value(0)
            .and_then(|value| value.cast(AtomicType::Double).ok());
        value(number.unwrap_or(Atomic::Double(f64::NAN)))
    }),
];

/// The result for a number, of the number's own type.
fn each_type(
    call: &Call<'_>,
    integer: impl Fn(i64) -> Result<i64>,
    decimal: impl Fn(Decimal) -> Decimal,
    float: impl Fn(f32) -> f32,
    double: impl Fn(f64) -> f64,
) -> Result<Values> {
    match call.value(0) {
        Some(Atomic::Integer(number)) => value(Atomic::Integer(integer(*number)?)),
        Some(Atomic::Decimal(number)) => value(Atomic::Decimal(decimal(*number))),
        Some(Atomic::Float(number)) => value(Atomic::Float(float(*number))),
        Some(Atomic::Double(number)) => value(Atomic::Double(double(*number))),
        _ => empty(),
    }
}

/// The nearest whole number, the greater one of two. Zero keeps the sign of the number.
pub(super) fn round(number: f64) -> f64 {
    let below = number.floor();
    // `number + 0.5` would be rounded itself.
    let rounded = if number - below >= 0.5 {
        below + 1.0
    } else {
        below
    };
    if rounded == 0.0 {
        rounded.copysign(number)
    } else {
        rounded
    }
}

fn round_decimal(number: Decimal) -> Decimal {
    let below = number.floor();
    if number - below >= Decimal::new(5, 1) {
        below + Decimal::ONE
    } else {
        below
    }
}

fn round_half_to_even(call: &mut Call<'_>) -> Result<Values> {
    let places = match call.value(1) {
        Some(Atomic::Integer(places)) => *places,
        _ => 0,
    };
    match call.value(0) {
        Some(Atomic::Integer(number)) => {
            let rounded = round_whole(i128::from(*number), false, places);
            let rounded = i64::try_from(rounded).map_err(|_| overflow())?;
            value(Atomic::Integer(rounded))
        }
        Some(Atomic::Decimal(number)) => value(Atomic::Decimal(
            decimal_to_even(*number, places).ok_or_else(overflow)?,
        )),
        Some(Atomic::Float(number)) => value(Atomic::Float(double_to_even(
            f64::from(*number),
            places,
        ) as f32)),
        Some(Atomic::Double(number)) => value(Atomic::Double(double_to_even(*number, places))),
        _ => empty(),
    }
}

/// Round a whole number to a power of ten, if `places` is negative.
///
/// `is_more` says that the number was cut off from a greater one, so that no half is exact.
fn round_whole(number: i128, is_more: bool, places: i64) -> i128 {
    if places >= 0 {
        return number;
    }
    let exponent = u32::try_from(places.unsigned_abs()).unwrap_or(u32::MAX);
    let Some(unit) = 10_i128
        .checked_pow(exponent)
        .filter(|unit| unit.checked_mul(2).is_some())
    else {
        return 0;
    };
    let magnitude = number.abs();
    let (quotient, rest) = (magnitude / unit, magnitude % unit);
    let is_up = match (rest * 2).cmp(&unit) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => is_more || quotient % 2 == 1,
        std::cmp::Ordering::Greater => true,
    };
    let rounded = (quotient + i128::from(is_up)) * unit;
    if number < 0 { -rounded } else { rounded }
}

fn decimal_to_even(number: Decimal, places: i64) -> Option<Decimal> {
    if places >= 0 {
        let places = u32::try_from(places)
            .unwrap_or(u32::MAX)
            .min(Decimal::MAX_SCALE);
        return Some(number.round_dp_with_strategy(places, MidpointNearestEven));
    }
    let whole = number.trunc();
    let is_more = whole != number;
    let rounded = round_whole(whole.mantissa(), is_more, places);
    Decimal::try_from_i128_with_scale(rounded, 0).ok()
}

fn double_to_even(number: f64, places: i64) -> f64 {
    // A double with a fraction is below 2^53, and past 2^120 all are multiples of large powers.
    if !number.is_finite() || (places >= 0 && number.fract() == 0.0) || number.abs() >= 1e36 {
        return number;
    }
    let rounded = if places < 0 {
        round_whole(number as i128, number.fract() != 0.0, places) as f64
    } else {
        // Rust prints the exact digits of the double, and rounds them half to even.
        let places = usize::try_from(places).unwrap_or(usize::MAX).min(1100);
        format!("{number:.places$}").parse().unwrap_or(number)
    };
    if rounded == 0.0 {
        rounded.copysign(number)
    } else {
        rounded
    }
}

fn overflow() -> Error {
    Error::new("FOAR0002", "the number is out of range")
}

#[cfg(test)]
mod tests {
    use crate::functions::testing::{fails, gives};

    #[test]
    fn the_type_of_the_number_stays() {
        gives("abs", &["integer:-2"], "integer:2");
        gives("abs", &["decimal:-2.5"], "decimal:2.5");
        gives("abs", &["float:-INF"], "float:INF");
        gives("abs", &["u:-2"], "double:2");
        gives("abs", &["()"], "()");
        fails("abs", &["boolean:true"], "XPTY0004");
        fails("abs", &["integer:-9223372036854775808"], "FOAR0002");
        gives("ceiling", &["decimal:-10.5"], "decimal:-10");
        gives("ceiling", &["double:-0.5"], "double:-0");
        gives("floor", &["decimal:-10.5"], "decimal:-11");
        gives("floor", &["double:10.5"], "double:10");
    }

    #[test]
    fn halves_are_rounded_up() {
        for (number, expected) in [
            ("decimal:2.5", "decimal:3"),
            ("decimal:2.4999", "decimal:2"),
            ("decimal:-2.5", "decimal:-2"),
            ("double:-0.5", "double:-0"),
            ("double:-0.6", "double:-1"),
            ("double:0.49999999999999994", "double:0"),
            ("double:4503599627370497", "double:4.503599627370497E15"),
            ("double:NaN", "double:NaN"),
            ("double:-INF", "double:-INF"),
            ("float:0.69", "float:1"),
            ("integer:7", "integer:7"),
        ] {
            gives("round", &[number], expected);
        }
    }

    #[test]
    fn halves_are_rounded_to_even() {
        for (number, places, expected) in [
            ("decimal:0.5", "integer:0", "decimal:0"),
            ("decimal:1.5", "integer:0", "decimal:2"),
            ("decimal:2.5", "integer:0", "decimal:2"),
            ("double:3567.812", "integer:2", "double:3567.81"),
            ("double:4.7564E-3", "integer:2", "double:0"),
            ("double:-4.7564E-3", "integer:2", "double:-0"),
            ("decimal:35612.25", "integer:-2", "decimal:35600"),
            ("decimal:250.01", "integer:-2", "decimal:300"),
            ("decimal:250", "integer:-2", "decimal:200"),
            ("double:250.5", "integer:-2", "double:300"),
            ("double:0.125", "integer:2", "double:0.12"),
            ("double:2.5", "integer:0", "double:2"),
            ("integer:-150", "integer:-2", "integer:-200"),
            ("integer:150", "integer:-40", "integer:0"),
            ("integer:12", "integer:5", "integer:12"),
            ("decimal:1.5", "integer:9223372036854775807", "decimal:1.5"),
            ("double:1.5", "integer:9223372036854775807", "double:1.5"),
            ("double:1.5", "integer:-9223372036854775808", "double:0"),
        ] {
            gives("round-half-to-even", &[number, places], expected);
        }
        gives("round-half-to-even", &["decimal:3.5"], "decimal:4");
    }

    #[test]
    fn what_is_no_number_is_nan() {
        gives("number", &["s:x"], "double:NaN");
        gives("number", &["u: 15 "], "double:15");
        gives("number", &["boolean:true"], "double:1");
        gives("number", &["date:2024-01-01"], "double:NaN");
        gives("number", &["()"], "double:NaN");
    }
}
