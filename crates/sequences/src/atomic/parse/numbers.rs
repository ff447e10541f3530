//! The lexical forms of numbers.

use rust_decimal::Decimal;

use super::malformed;
use crate::atomic::AtomicType;
use crate::error::{Error, Result};

/// More digits than a decimal holds behind its point; further ones are rounded.
const SCALE_MAX: usize = 28;

pub(super) fn integer(text: &str) -> Result<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !is_digits(digits) {
        return Err(malformed(AtomicType::Integer, text));
    }
    text.parse().map_err(|_| {
        Error::new(
            "FOCA0003",
            format!("an integer of {} digits is out of range", digits.len()),
        )
    })
}

pub(super) fn decimal(text: &str) -> Result<Decimal> {
    if !is_decimal(text) {
        return Err(malformed(AtomicType::Decimal, text));
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let whole = whole.trim_start_matches('0');
    let fraction = fraction.trim_end_matches('0');
    // One digit more than fits decides how the last one is rounded.
    let fraction = &fraction[..fraction.len().min(SCALE_MAX + 1)];
    if whole.len() > SCALE_MAX + 1 {
        return Err(out_of_range());
    }
    let point = if fraction.is_empty() { "" } else { "." };
    let written = format!(
        "{sign}{}{point}{fraction}",
        if whole.is_empty() { "0" } else { whole }
    );
    written.parse().map_err(|_| out_of_range())
}

pub(super) fn double(text: &str) -> Result<f64> {
    match text {
        "INF" => Ok(f64::INFINITY),
        "-INF" => Ok(f64::NEG_INFINITY),
        "NaN" => Ok(f64::NAN),
        _ if is_double(text) => text
            .parse()
            .map_err(|_| malformed(AtomicType::Double, text)),
        _ => Err(malformed(AtomicType::Double, text)),
    }
}

pub(super) fn float(text: &str) -> Result<f32> {
    match text {
        "INF" => Ok(f32::INFINITY),
        "-INF" => Ok(f32::NEG_INFINITY),
        "NaN" => Ok(f32::NAN),
        _ if is_double(text) => text.parse().map_err(|_| malformed(AtomicType::Float, text)),
        _ => Err(malformed(AtomicType::Float, text)),
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_decimal(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    match digits.split_once('.') {
        None => is_digits(digits),
        Some(("", fraction)) => is_digits(fraction),
        Some((whole, "")) => is_digits(whole),
        Some((whole, fraction)) => is_digits(whole) && is_digits(fraction),
    }
}

fn is_double(text: &str) -> bool {
    match text.split_once(['e', 'E']) {
        None => is_decimal(text),
        Some((mantissa, exponent)) => {
            is_decimal(mantissa) && is_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))
        }
    }
}

fn out_of_range() -> Error {
    Error::new("FOCA0001", "the decimal is out of range")
}
