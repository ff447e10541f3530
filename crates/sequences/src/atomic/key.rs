//! Keys for hash tables: `distinct-values`, and comparisons of many values with `eq`.

use std::rc::Rc;

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use super::compare::as_duration;
use super::numbers::{EXACT_INTEGER_MAX, double_of_decimal};
use super::{Atomic, Duration, QName, Seconds};

/// Decimals of so many digits are all different doubles.
const DOUBLE_DIGITS_MAX: u128 = 1_000_000_000_000_000;

/// What a value is equal by. Values of types that cannot be compared have different keys.
///
/// Two values have the same key if and only if `eq` holds; NaN has the key of NaN.
/// `eq` is not transitive for numbers of different types, so no key can follow it everywhere.
/// Exceptions are integers and decimals of more than 15 digits against doubles, which keep keys of
/// their own, and floats with a fraction, whose key is that of the decimal that they are written as.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// Strings, untyped values and URIs.
    Text(Rc<str>),
    /// Truth values.
    Boolean(bool),
    /// Whole numbers.
    Integer(i64),
    /// Numbers that a double tells apart, by its bits.
    Double(u64),
    /// Decimals that doubles do not tell apart.
    Decimal(Decimal),
    /// Names.
    Name(Rc<QName>),
    /// Days.
    Date(Seconds),
    /// Times of day.
    Time(Seconds),
    /// Instants.
    DateTime(Seconds),
    /// Durations.
    Duration(Duration),
}

/// The key of a value.
pub fn key(value: &Atomic) -> Key {
    match value {
        Atomic::String(text) | Atomic::UntypedAtomic(text) | Atomic::AnyUri(text) => {
            Key::Text(text.clone())
        }
        Atomic::Boolean(truth) => Key::Boolean(*truth),
        Atomic::Integer(number) => Key::Integer(*number),
        Atomic::Decimal(number) => of_decimal(number),
        Atomic::Float(number) => of_float(*number),
        Atomic::Double(number) => of_double(*number),
        Atomic::QName(name) => Key::Name(name.clone()),
        Atomic::Date(moment) => Key::Date(moment.instant()),
        Atomic::Time(moment) => Key::Time(moment.instant()),
        Atomic::DateTime(moment) => Key::DateTime(moment.instant()),
        Atomic::Duration(_) | Atomic::DayTimeDuration(_) | Atomic::YearMonthDuration(_) => {
            Key::Duration(as_duration(value).unwrap_or_default())
        }
    }
}

fn of_double(number: f64) -> Key {
    if number.fract() == 0.0 && number.abs() <= EXACT_INTEGER_MAX as f64 {
        return Key::Integer(number as i64);
    }
    Key::Double(if number.is_nan() {
        f64::NAN.to_bits()
    } else {
        number.to_bits()
    })
}

fn of_float(number: f32) -> Key {
    if number.fract() == 0.0 || !number.is_finite() {
        return of_double(number.into());
    }
    of_double(number.to_string().parse().unwrap_or(f64::NAN))
}

fn of_decimal(number: &Decimal) -> Key {
    let number = number.normalize();
    match number.to_i64() {
        Some(whole) if number.scale() == 0 => Key::Integer(whole),
        _ if number.mantissa().unsigned_abs() < DOUBLE_DIGITS_MAX => {
            of_double(double_of_decimal(&number))
        }
        _ => Key::Decimal(number),
    }
}
