//! The canonical text of atomic values: what casting to `xs:string` gives.

use std::fmt::{self, Write};

use rust_decimal::Decimal;

use super::{Atomic, Duration, Moment, Seconds};

impl Atomic {
    /// The value as text.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        self.write_text(&mut text);
        text
    }

    /// Append the value as text.
    pub fn write_text(&self, out: &mut String) {
        match self {
            Atomic::String(text) | Atomic::UntypedAtomic(text) | Atomic::AnyUri(text) => {
                out.push_str(text);
            }
            other => {
                let written = other.write_value(out);
                debug_assert!(written.is_ok(), "writing to a string does not fail");
            }
        }
    }

    fn write_value(&self, out: &mut String) -> fmt::Result {
        match self {
            Atomic::String(text) | Atomic::UntypedAtomic(text) | Atomic::AnyUri(text) => {
                out.write_str(text)
            }
            Atomic::Boolean(truth) => write!(out, "{truth}"),
            Atomic::Integer(number) => write!(out, "{number}"),
            Atomic::Decimal(number) => write_decimal(number, out),
            Atomic::Float(number) => write_float(f64::from(*number), &format!("{number:e}"), out),
            Atomic::Double(number) => write_double(*number, out),
            Atomic::QName(name) if name.prefix.is_empty() => out.write_str(&name.local),
            Atomic::QName(name) => write!(out, "{}:{}", name.prefix, name.local),
            Atomic::Date(moment) => write_date(moment, out).and_then(|()| write_zone(moment, out)),
            Atomic::Time(moment) => write_time(moment, out).and_then(|()| write_zone(moment, out)),
            Atomic::DateTime(moment) => {
                write_date(moment, out)?;
                out.write_char('T')?;
                write_time(moment, out)?;
                write_zone(moment, out)
            }
            Atomic::Duration(duration) => write_duration(duration, out),
            Atomic::DayTimeDuration(seconds) => write_duration(
                &Duration {
                    months: 0,
                    seconds: *seconds,
                },
                out,
            ),
            Atomic::YearMonthDuration(0) => out.write_str("P0M"),
            Atomic::YearMonthDuration(months) => write_duration(
                &Duration {
                    months: *months,
                    seconds: Seconds::default(),
                },
                out,
            ),
        }
    }
}

fn write_decimal(number: &Decimal, out: &mut String) -> fmt::Result {
    if number.is_zero() {
        return out.write_char('0');
    }
    write!(out, "{}", number.normalize())
}

fn write_double(number: f64, out: &mut String) -> fmt::Result {
    // Small integers are by far the most frequent doubles.
    if number.fract() == 0.0 && number.abs() < 1e6 && number != 0.0 {
        return write!(out, "{}", number as i64);
    }
    write_float(number, &format!("{number:e}"), out)
}

/// Write a number given its shortest digits in the form `-1.25e-7`.
///
/// Numbers from a millionth to a million are written without an exponent.
fn write_float(number: f64, digits: &str, out: &mut String) -> fmt::Result {
    if number.is_nan() {
        return out.write_str("NaN");
    }
    if number.is_infinite() {
        return out.write_str(if number > 0.0 { "INF" } else { "-INF" });
    }
    if number == 0.0 {
        return out.write_str(if number.is_sign_negative() { "-0" } else { "0" });
    }
    let (mantissa, exponent) = digits.split_once('e').unwrap_or((digits, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-6..6).contains(&exponent) {
        return write_plain(mantissa, exponent, out);
    }
    let point = if mantissa.contains('.') { "" } else { ".0" };
    write!(out, "{mantissa}{point}E{exponent}")
}

/// Write `mantissa × 10^exponent` without an exponent.
fn write_plain(mantissa: &str, exponent: i32, out: &mut String) -> fmt::Result {
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    out.write_str(sign)?;
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    if exponent < 0 {
        let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
        return write!(out, "0.{zeros}{digits}");
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        return write!(out, "{digits}{}", "0".repeat(whole - digits.len()));
    }
    write!(out, "{}.{}", &digits[..whole], &digits[whole..])
}

fn write_date(moment: &Moment, out: &mut String) -> fmt::Result {
    let sign = if moment.year < 0 { "-" } else { "" };
    let year = moment.year.unsigned_abs();
    write!(out, "{sign}{year:04}-{:02}-{:02}", moment.month, moment.day)
}

fn write_time(moment: &Moment, out: &mut String) -> fmt::Result {
    write!(
        out,
        "{:02}:{:02}:{:02}",
        moment.hour, moment.minute, moment.second
    )?;
    write_fraction(moment.nanos, out)
}

/// Write a fraction of a second with its point, or nothing if there is none.
fn write_fraction(nanos: u32, out: &mut String) -> fmt::Result {
    if nanos == 0 {
        return Ok(());
    }
    let digits = format!("{nanos:09}");
    write!(out, ".{}", digits.trim_end_matches('0'))
}

fn write_zone(moment: &Moment, out: &mut String) -> fmt::Result {
    match moment.zone {
        None => Ok(()),
        Some(0) => out.write_char('Z'),
        Some(zone) => {
            let sign = if zone < 0 { '-' } else { '+' };
            let minutes = zone.unsigned_abs();
            write!(out, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
        }
    }
}

fn write_duration(duration: &Duration, out: &mut String) -> fmt::Result {
    let nanos = duration.seconds.total_nanos();
    if duration.months == 0 && nanos == 0 {
        return out.write_str("PT0S");
    }
    let is_negative = duration.months < 0 || nanos < 0;
    out.write_str(if is_negative { "-P" } else { "P" })?;
    let months = duration.months.unsigned_abs();
    write_part(u128::from(months / 12), 'Y', out)?;
    write_part(u128::from(months % 12), 'M', out)?;
    let nanos = nanos.unsigned_abs();
    let seconds = nanos / 1_000_000_000;
    let fraction = (nanos % 1_000_000_000) as u32;
    write_part(seconds / 86_400, 'D', out)?;
    if nanos.is_multiple_of(86_400_000_000_000) {
        return Ok(());
    }
    out.write_char('T')?;
    write_part(seconds / 3600 % 24, 'H', out)?;
    write_part(seconds / 60 % 60, 'M', out)?;
    if seconds.is_multiple_of(60) && fraction == 0 {
        return Ok(());
    }
    write!(out, "{}", seconds % 60)?;
    write_fraction(fraction, out)?;
    out.write_char('S')
}

fn write_part(count: u128, unit: char, out: &mut String) -> fmt::Result {
    if count == 0 {
        return Ok(());
    }
    write!(out, "{count}{unit}")
}
