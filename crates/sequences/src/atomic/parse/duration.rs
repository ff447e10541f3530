//! The lexical forms of durations.

use std::rc::Rc;

use super::malformed;
use super::moment::fraction;
use crate::atomic::duration::overflow;
use crate::atomic::{Atomic, AtomicType, Duration, Seconds};
use crate::error::Result;

/// The units before and behind `T`, with the months or seconds that each has.
const DATE_UNITS: [(u8, i128, Unit); 3] = [
    (b'Y', 12, Unit::Month),
    (b'M', 1, Unit::Month),
    (b'D', 86_400, Unit::Second),
];
const TIME_UNITS: [(u8, i128, Unit); 3] = [
    (b'H', 3600, Unit::Second),
    (b'M', 60, Unit::Second),
    (b'S', 1, Unit::Second),
];
const NANOS_PER_SECOND: i128 = 1_000_000_000;

#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Month,
    Second,
}

/// What a duration is made of, and which units its text names.
#[derive(Default)]
struct Parts {
    months: i128,
    nanos: i128,
    has_months: bool,
    has_seconds: bool,
}

pub(super) fn duration(target: AtomicType, text: &str) -> Result<Atomic> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let parts = rest
        .strip_prefix('P')
        .and_then(parts)
        .ok_or_else(|| malformed(target, text))?;
    let months = i64::try_from(sign * parts.months).map_err(|_| overflow())?;
    let seconds = Seconds::from_nanos(sign * parts.nanos)?;
    match target {
        AtomicType::DayTimeDuration if !parts.has_months => Ok(Atomic::DayTimeDuration(seconds)),
        AtomicType::YearMonthDuration if !parts.has_seconds => {
            Ok(Atomic::YearMonthDuration(months))
        }
        AtomicType::Duration => Ok(Atomic::Duration(Rc::new(Duration { months, seconds }))),
        _ => Err(malformed(target, text)),
    }
}

fn parts(text: &str) -> Option<Parts> {
    let mut parts = Parts::default();
    let (date, time) = match text.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    add_units(date, &DATE_UNITS, &mut parts)?;
    if let Some(time) = time {
        if time.is_empty() {
            return None;
        }
        add_units(time, &TIME_UNITS, &mut parts)?;
    }
    (parts.has_months || parts.has_seconds).then_some(parts)
}

/// Add `12H30M`: each unit at most once, and in this order.
fn add_units(text: &str, units: &[(u8, i128, Unit)], parts: &mut Parts) -> Option<()> {
    let mut rest = text.as_bytes();
    let mut units = units.iter();
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| !byte.is_ascii_digit())?;
        let (digits, tail) = rest.split_at(end);
        if digits.is_empty() {
            return None;
        }
        let (nanos, tail) = read_fraction(tail)?;
        let (unit, tail) = tail.split_first()?;
        let (name, size, kind) = units.find(|(name, ..)| name == unit)?;
        if nanos.is_some() && *name != b'S' {
            return None;
        }
        add(count(digits), *size, *kind, nanos.unwrap_or(0), parts);
        rest = tail;
    }
    Some(())
}

/// The fraction at the front, if there is one, and what comes behind it.
#[allow(clippy::option_option)]
fn read_fraction(text: &[u8]) -> Option<(Option<u32>, &[u8])> {
    let Some(rest) = text.strip_prefix(b".") else {
        return Some((None, text));
    };
    let end = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = rest.split_at(end);
    Some((Some(fraction(digits)?), rest))
}

/// The number that digits write; a very large one is cut to a size that no duration has.
fn count(digits: &[u8]) -> i128 {
    let value = |number: i128, digit: &u8| {
        (number * 10 + i128::from(digit - b'0')).min(i128::from(u64::MAX))
    };
    digits.iter().fold(0, value)
}

fn add(count: i128, size: i128, unit: Unit, nanos: u32, parts: &mut Parts) {
    match unit {
        Unit::Month => {
            parts.months += count * size;
            parts.has_months = true;
        }
        Unit::Second => {
            parts.nanos += count * size * NANOS_PER_SECOND + i128::from(nanos);
            parts.has_seconds = true;
        }
    }
}
