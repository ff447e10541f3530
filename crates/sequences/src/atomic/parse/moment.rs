//! The lexical forms of dates and times.

use super::malformed;
use crate::atomic::moment::{YEAR_MAX, days_in_month};
use crate::atomic::{AtomicType, Moment, Seconds, ZONE_MINUTES_MAX};
use crate::error::{Error, Result};

pub(super) fn date(text: &str) -> Result<Moment> {
    let mut reader = Reader {
        rest: text.as_bytes(),
    };
    let moment = reader.day().and_then(|day| {
        Some(Moment {
            zone: reader.zone()?,
            ..day
        })
    });
    checked(moment, &reader, AtomicType::Date, text)
}

pub(super) fn time(text: &str) -> Result<Moment> {
    let mut reader = Reader {
        rest: text.as_bytes(),
    };
    let clock = reader.clock().map(|clock| Clock {
        is_midnight_after: false,
        ..clock
    });
    let moment = clock.and_then(|clock| reader.place(Moment::reference(), clock));
    checked(moment, &reader, AtomicType::Time, text)
}

pub(super) fn date_time(text: &str) -> Result<Moment> {
    let mut reader = Reader {
        rest: text.as_bytes(),
    };
    let moment = reader.day().and_then(|day| {
        reader.byte(b'T')?;
        let clock = reader.clock()?;
        reader.place(day, clock)
    });
    checked(moment, &reader, AtomicType::DateTime, text)
}

fn checked(
    moment: Option<Moment>,
    reader: &Reader<'_>,
    target: AtomicType,
    text: &str,
) -> Result<Moment> {
    match moment {
        Some(moment) if reader.rest.is_empty() => {
            if moment.year.unsigned_abs() > YEAR_MAX.unsigned_abs() {
                return Err(Error::new("FODT0001", "the year is out of range"));
            }
            Ok(moment)
        }
        _ => Err(malformed(target, text)),
    }
}

/// A time of day. `24:00:00` is midnight of the day after.
#[derive(Clone, Copy)]
struct Clock {
    hour: u8,
    minute: u8,
    second: u8,
    nanos: u32,
    is_midnight_after: bool,
}

/// Reads the parts of a text one after the other; None where the next part is missing.
struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn byte(&mut self, expected: u8) -> Option<()> {
        self.rest = self.rest.strip_prefix(&[expected])?;
        Some(())
    }

    /// A number of two digits between two bounds.
    fn two(&mut self, min: u8, max: u8) -> Option<u8> {
        let (digits, rest) = self.rest.split_at_checked(2)?;
        if !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        self.rest = rest;
        let number = (digits[0] - b'0') * 10 + (digits[1] - b'0');
        (min..=max).contains(&number).then_some(number)
    }

    /// As many digits as there are.
    fn digits(&mut self) -> &[u8] {
        let end = self
            .rest
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        digits
    }

    /// A year, or one past the last year if it has too many digits.
    fn year(&mut self) -> Option<i32> {
        let is_negative = self.byte(b'-').is_some();
        let digits = self.digits();
        if digits.len() < 4 || (digits.len() > 4 && digits[0] == b'0') {
            return None;
        }
        let value = |year: i32, digit: &u8| {
            let year = year
                .saturating_mul(10)
                .saturating_add(i32::from(digit - b'0'));
            year.min(YEAR_MAX + 1)
        };
        let year = digits.iter().fold(0, value);
        Some(if is_negative { -year } else { year })
    }

    fn day(&mut self) -> Option<Moment> {
        let year = self.year()?;
        self.byte(b'-')?;
        let month = self.two(1, 12)?;
        self.byte(b'-')?;
        let day = self.two(1, days_in_month(year, month))?;
        Some(Moment::midnight(year, month, day))
    }

    fn clock(&mut self) -> Option<Clock> {
        let hour = self.two(0, 24)?;
        self.byte(b':')?;
        let minute = self.two(0, 59)?;
        self.byte(b':')?;
        let second = self.two(0, 59)?;
        let nanos = if self.byte(b'.').is_some() {
            fraction(self.digits())?
        } else {
            0
        };
        let is_midnight_after = hour == 24;
        if is_midnight_after && (minute, second, nanos) != (0, 0, 0) {
            return None;
        }
        Some(Clock {
            hour: hour % 24,
            minute,
            second,
            nanos,
            is_midnight_after,
        })
    }

    /// A time of a day, with the time zone that follows.
    fn place(&mut self, day: Moment, clock: Clock) -> Option<Moment> {
        let day = if clock.is_midnight_after {
            day.plus_seconds(Seconds::new(86_400)).ok()?
        } else {
            day
        };
        let Clock {
            hour,
            minute,
            second,
            nanos,
            ..
        } = clock;
        Some(Moment {
            hour,
            minute,
            second,
            nanos,
            zone: self.zone()?,
            ..day
        })
    }

    /// The time zone, if there is one.
    #[allow(clippy::option_option)]
    fn zone(&mut self) -> Option<Option<i16>> {
        let Some((first, rest)) = self.rest.split_first() else {
            return Some(None);
        };
        self.rest = rest;
        let sign = match first {
            b'Z' => return Some(Some(0)),
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        let hours = i16::from(self.two(0, 14)?);
        self.byte(b':')?;
        let minutes = hours * 60 + i16::from(self.two(0, 59)?);
        (minutes <= ZONE_MINUTES_MAX).then_some(Some(sign * minutes))
    }
}

/// Nanoseconds of the digits behind the point. Further digits are cut off.
pub(super) fn fraction(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() {
        return None;
    }
    let padded = digits
        .iter()
        .copied()
        .chain(std::iter::repeat(b'0'))
        .take(9);
    Some(padded.fold(0, |nanos, digit| nanos * 10 + u32::from(digit - b'0')))
}
