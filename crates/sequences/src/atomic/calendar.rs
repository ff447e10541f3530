//! Arithmetic of dates, times and durations.

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use super::arithmetic::{Operator, division_by_zero, overflow as number_overflow};
use super::duration::overflow;
use super::numbers::{decimal_of_double, to_decimal, to_double};
use super::{Atomic, Moment, Seconds};
use crate::error::{Error, Result};

/// What is added to a moment.
#[derive(Clone, Copy)]
enum Step {
    Months(i64),
    Time(Seconds),
}

impl Step {
    fn is_zero(self) -> bool {
        match self {
            Step::Months(months) => months == 0,
            Step::Time(seconds) => seconds == Seconds::default(),
        }
    }

    /// The duration of the same type that takes no time.
    fn zero(self) -> Atomic {
        match self {
            Step::Months(_) => Atomic::YearMonthDuration(0),
            Step::Time(_) => Atomic::DayTimeDuration(Seconds::default()),
        }
    }
}

pub(super) fn arithmetic(operator: Operator, left: &Atomic, right: &Atomic) -> Result<Atomic> {
    match operator {
        Operator::Add => add(left, right).or_else(|| add(right, left)),
        Operator::Subtract => subtract(left, right),
        Operator::Multiply => scale(left, right).or_else(|| scale(right, left)),
        Operator::Divide => divide(left, right),
        Operator::IntegerDivide | Operator::Modulo => None,
    }
    .unwrap_or_else(|| Err(no_operator(operator, left, right)))
}

fn no_operator(operator: Operator, left: &Atomic, right: &Atomic) -> Error {
    let (symbol, left, right) = (operator.symbol(), left.type_of(), right.type_of());
    Error::new(
        "XPTY0004",
        format!("`{symbol}` is not defined for {left} and {right}"),
    )
}

/// A duration as something to add; None for other values and for `xs:duration`, which has no order.
fn step(value: &Atomic) -> Option<Step> {
    match value {
        Atomic::YearMonthDuration(months) => Some(Step::Months(*months)),
        Atomic::DayTimeDuration(seconds) => Some(Step::Time(*seconds)),
        _ => None,
    }
}

/// The sum of a moment or a duration and a duration; None for other types.
fn add(left: &Atomic, right: &Atomic) -> Option<Result<Atomic>> {
    let step = step(right)?;
    Some(match (left, step) {
        (Atomic::YearMonthDuration(months), Step::Months(more)) => months
            .checked_add(more)
            .map(Atomic::YearMonthDuration)
            .ok_or_else(overflow),
        (Atomic::DayTimeDuration(seconds), Step::Time(more)) => {
            let nanos = seconds.total_nanos() + more.total_nanos();
            Seconds::from_nanos(nanos).map(Atomic::DayTimeDuration)
        }
        (Atomic::DateTime(moment), step) => later(moment, step).map(Atomic::DateTime),
        (Atomic::Date(moment), step) => later(moment, step).map(|day| Atomic::Date(day.date())),
        (Atomic::Time(moment), Step::Time(seconds)) => {
            later_that_day(moment, seconds).map(Atomic::Time)
        }
        _ => return None,
    })
}

fn later(moment: &Moment, step: Step) -> Result<Moment> {
    match step {
        Step::Months(months) => moment.plus_months(months),
        Step::Time(seconds) => moment.plus_seconds(seconds),
    }
}

/// The time of day after some seconds, however many days that takes.
fn later_that_day(moment: &Moment, seconds: Seconds) -> Result<Moment> {
    let day = 86_400_000_000_000;
    let seconds = Seconds::from_nanos(seconds.total_nanos() % day)?;
    Ok(moment.plus_seconds(seconds)?.time())
}

fn subtract(left: &Atomic, right: &Atomic) -> Option<Result<Atomic>> {
    match (left, right) {
        (Atomic::DateTime(left), Atomic::DateTime(right))
        | (Atomic::Date(left), Atomic::Date(right))
        | (Atomic::Time(left), Atomic::Time(right)) => {
            let nanos = left.instant().total_nanos() - right.instant().total_nanos();
            Some(Seconds::from_nanos(nanos).map(Atomic::DayTimeDuration))
        }
        _ => {
            let negative = match step(right)? {
                Step::Months(months) => months
                    .checked_neg()
                    .map(Atomic::YearMonthDuration)
                    .ok_or_else(overflow),
                Step::Time(seconds) => {
                    Seconds::from_nanos(-seconds.total_nanos()).map(Atomic::DayTimeDuration)
                }
            };
            match negative {
                Ok(negative) => add(left, &negative),
                Err(error) => Some(Err(error)),
            }
        }
    }
}

/// A duration times a number; None for other types.
fn scale(duration: &Atomic, number: &Atomic) -> Option<Result<Atomic>> {
    let duration = step(duration)?;
    let rough = to_double(number)?;
    Some(match exact(number) {
        _ if rough.is_nan() => Err(not_a_number()),
        Some(number) => scale_exactly(duration, number, Decimal::checked_mul),
        None if rough.is_finite() && duration.is_zero() => Ok(duration.zero()),
        None => Err(overflow()),
    })
}

fn divide(left: &Atomic, right: &Atomic) -> Option<Result<Atomic>> {
    match (step(left)?, step(right)) {
        (Step::Months(left), Some(Step::Months(right))) => Some(ratio(left.into(), right.into())),
        (Step::Time(left), Some(Step::Time(right))) => {
            Some(ratio(left.total_nanos(), right.total_nanos()))
        }
        (_, Some(_)) => None,
        (duration, None) => {
            let rough = to_double(right)?;
            Some(match exact(right) {
                _ if rough.is_nan() => Err(not_a_number()),
                Some(number) if number.is_zero() => Err(overflow()),
                Some(number) => scale_exactly(duration, number, Decimal::checked_div),
                // No duration has half as many nanoseconds as the number says.
                None => Ok(duration.zero()),
            })
        }
    }
}

/// A number as a decimal, since a double of nanoseconds is not exact; None if it is too large.
fn exact(number: &Atomic) -> Option<Decimal> {
    to_decimal(number).or_else(|| to_double(number).and_then(decimal_of_double))
}

/// How often one duration contains another.
fn ratio(left: i128, right: i128) -> Result<Atomic> {
    if right == 0 {
        return Err(division_by_zero());
    }
    let decimal = |number| Decimal::try_from_i128_with_scale(number, 0).ok();
    let quotient = decimal(left)
        .zip(decimal(right))
        .and_then(|(left, right)| left.checked_div(right));
    quotient.map(Atomic::Decimal).ok_or_else(number_overflow)
}

fn scale_exactly(
    duration: Step,
    number: Decimal,
    combine: fn(Decimal, Decimal) -> Option<Decimal>,
) -> Result<Atomic> {
    let (count, places) = match duration {
        Step::Months(months) => (i128::from(months), 0),
        Step::Time(seconds) => (seconds.total_nanos(), 9),
    };
    let count = Decimal::try_from_i128_with_scale(count, places).map_err(|_| overflow())?;
    let scaled = combine(count, number).ok_or_else(overflow)?;
    match duration {
        Step::Months(_) => {
            let months = scaled
                .checked_add(Decimal::new(5, 1))
                .ok_or_else(overflow)?;
            let months = months.floor().to_i64().ok_or_else(overflow)?;
            Ok(Atomic::YearMonthDuration(months))
        }
        Step::Time(_) => {
            let nanos = scaled
                .checked_mul(Decimal::from(1_000_000_000))
                .ok_or_else(overflow)?;
            let nanos = nanos.round().to_i128().ok_or_else(overflow)?;
            Seconds::from_nanos(nanos).map(Atomic::DayTimeDuration)
        }
    }
}

fn not_a_number() -> Error {
    Error::new("FOCA0005", "a duration is not multiplied or divided by NaN")
}
