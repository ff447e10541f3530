//! Casts: a value of one type made a value of another.

use std::rc::Rc;

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use super::numbers::{decimal_of_double, to_decimal, to_double, to_float};
use super::{Atomic, AtomicType, Duration, Seconds};
use crate::error::{Error, Result};

impl Atomic {
    /// The value as one of another type.
    ///
    /// # Errors
    ///
    /// XPTY0004 if values of this type are never cast to the other type. FORG0001 if the text is
    /// not a value of it. FOCA0001, FOCA0002, FOCA0003 if a number is out of its range.
    pub fn cast(&self, target: AtomicType) -> Result<Self> {
        if self.type_of() == target {
            return Ok(self.clone());
        }
        match (self, target) {
            (_, AtomicType::String) => Ok(Atomic::String(self.shared_text())),
            (_, AtomicType::UntypedAtomic) => Ok(Atomic::UntypedAtomic(self.shared_text())),
            (Atomic::String(_) | Atomic::UntypedAtomic(_), AtomicType::QName) => {
                Err(self.no_cast(target))
            }
            (Atomic::String(text) | Atomic::UntypedAtomic(text), _) => Atomic::parse(target, text),
            (Atomic::Boolean(truth), _) => {
                self.cast_number(&Atomic::Integer(i64::from(*truth)), target)
            }
            (Atomic::DateTime(moment), AtomicType::Date) => Ok(Atomic::Date(moment.date())),
            (Atomic::DateTime(moment), AtomicType::Time) => Ok(Atomic::Time(moment.time())),
            (Atomic::Date(moment), AtomicType::DateTime) => Ok(Atomic::DateTime(*moment)),
            _ if self.type_of().is_numeric() => self.cast_number(self, target),
            _ => self.cast_duration(target),
        }
    }

    /// Whether `cast` gives a value.
    pub fn is_castable(&self, target: AtomicType) -> bool {
        self.cast(target).is_ok()
    }

    /// The value as text, without a copy if it is text already.
    pub fn shared_text(&self) -> Rc<str> {
        match self.as_text() {
            Some(text) => text.clone(),
            None => self.to_text().into(),
        }
    }

    /// Cast a number, which may stand for a value that is none.
    fn cast_number(&self, number: &Atomic, target: AtomicType) -> Result<Self> {
        let cast = match target {
            AtomicType::Boolean => return super::truth(number).map(Atomic::Boolean),
            AtomicType::Double => to_double(number).map(Atomic::Double),
            AtomicType::Float => to_float(number).map(Atomic::Float),
            AtomicType::Decimal => return decimal(number).map(Atomic::Decimal),
            AtomicType::Integer => return integer(number).map(Atomic::Integer),
            _ => None,
        };
        cast.ok_or_else(|| self.no_cast(target))
    }

    fn cast_duration(&self, target: AtomicType) -> Result<Self> {
        let (months, seconds) = match self {
            Atomic::Duration(duration) => (duration.months, duration.seconds),
            Atomic::DayTimeDuration(seconds) => (0, *seconds),
            Atomic::YearMonthDuration(months) => (*months, Seconds::default()),
            _ => return Err(self.no_cast(target)),
        };
        match target {
            AtomicType::Duration => Ok(Atomic::Duration(Rc::new(Duration { months, seconds }))),
            AtomicType::DayTimeDuration => Ok(Atomic::DayTimeDuration(seconds)),
            AtomicType::YearMonthDuration => Ok(Atomic::YearMonthDuration(months)),
            _ => Err(self.no_cast(target)),
        }
    }

    fn no_cast(&self, target: AtomicType) -> Error {
        let reason = format!(
            "a value of type {} is never cast to {target}",
            self.type_of()
        );
        Error::new("XPTY0004", reason)
    }
}

fn decimal(number: &Atomic) -> Result<Decimal> {
    if let Some(number) = to_decimal(number) {
        return Ok(number);
    }
    let number = finite(number)?;
    decimal_of_double(number)
        .ok_or_else(|| Error::new("FOCA0001", "the number is out of range for xs:decimal"))
}

fn integer(number: &Atomic) -> Result<i64> {
    let out_of_range = || Error::new("FOCA0003", "the number is out of range for xs:integer");
    if let Some(number) = to_decimal(number) {
        return number.trunc().to_i64().ok_or_else(out_of_range);
    }
    let number = finite(number)?.trunc();
    // The first double past the largest integer is exact; the largest integer itself is not.
    let past = -(i64::MIN as f64);
    if number >= -past && number < past {
        Ok(number as i64)
    } else {
        Err(out_of_range())
    }
}

/// A float or a double that is neither infinite nor NaN.
fn finite(number: &Atomic) -> Result<f64> {
    match to_double(number) {
        Some(number) if number.is_finite() => Ok(number),
        _ => Err(Error::new(
            "FOCA0002",
            format!("{} is no decimal number", number.to_text()),
        )),
    }
}
