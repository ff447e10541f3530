//! Values of types: their lexical forms are those of XML Schema, with white space around them.

use super::base64;
use super::decimals::{parse_decimal, write_decimal};
use super::layout::Type;
use super::moments::{parse_date, parse_timestamp, write_date, write_timestamp};
use crate::values::write_json;

/// Why a value does not fit its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It has another lexical form.
    Form,
    /// It is outside of the type's range.
    TooLarge,
    /// It has digits that the type has no room for.
    TooPrecise,
}

impl Reason {
    /// The reason in words.
    pub fn text(self, type_: Type) -> String {
        let name = name_of(type_);
        match self {
            Reason::Form => format!("not a valid {name}"),
            Reason::TooLarge => format!("out of range for {name}"),
            Reason::TooPrecise => format!("more digits than {name} keeps"),
        }
    }
}

fn name_of(type_: Type) -> String {
    match type_ {
        Type::Decimal(digits, scale) => return format!("decimal({digits},{scale})"),
        Type::String => "string",
        Type::Integer => "integer",
        Type::Double => "double",
        Type::Boolean => "boolean",
        Type::Date => "date",
        Type::Timestamp => "timestamp",
        Type::Binary => "binary",
        Type::Xml => "xml",
    }
    .into()
}

/// Appends the value of a text in JSON; nothing if it does not fit.
pub fn write_typed(type_: Type, text: &[u8], out: &mut Vec<u8>) -> Result<(), Reason> {
    if matches!(type_, Type::String | Type::Xml) {
        write_json(text, out);
        return Ok(());
    }
    let text = trim(text);
    let is_quoted = matches!(type_, Type::Date | Type::Timestamp | Type::Binary);
    let start = out.len();
    if is_quoted {
        out.push(b'"');
    }
    let written = write_trimmed(type_, text, out);
    match written {
        Err(_) => out.truncate(start),
        Ok(()) if is_quoted => out.push(b'"'),
        Ok(()) => {}
    }
    written
}

fn write_trimmed(type_: Type, text: &[u8], out: &mut Vec<u8>) -> Result<(), Reason> {
    match type_ {
        Type::Integer => {
            let number = parse_integer(text)?;
            out.extend_from_slice(number.to_string().as_bytes());
        }
        Type::Decimal(digits, scale) => {
            write_decimal(parse_decimal(text, digits, scale)?, scale, out);
        }
        Type::Double => write_double(parse_double(text)?, out),
        Type::Boolean => out.extend_from_slice(match parse_boolean(text)? {
            true => b"true",
            false => b"false",
        }),
        Type::Date => write_date(i64::from(parse_date(text)?), out),
        Type::Timestamp => write_timestamp(parse_timestamp(text)?, out),
        Type::Binary => base64::encode(&base64::decode(text).ok_or(Reason::Form)?, out),
        Type::String | Type::Xml => {}
    }
    Ok(())
}

fn trim(text: &[u8]) -> &[u8] {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let start = text.iter().position(|byte| !is_space(byte));
    let end = text.iter().rposition(|byte| !is_space(byte));
    match (start, end) {
        (Some(start), Some(end)) => &text[start..=end],
        _ => &[],
    }
}

/// Digits with a sign, of 64 bits.
pub fn parse_integer(text: &[u8]) -> Result<i64, Reason> {
    let (is_negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Reason::Form);
    }
    let mut sum = 0i64;
    for &digit in digits {
        let digit = i64::from(digit - b'0');
        let signed = if is_negative { -digit } else { digit };
        let next = sum.checked_mul(10).and_then(|sum| sum.checked_add(signed));
        sum = next.ok_or(Reason::TooLarge)?;
    }
    Ok(sum)
}

/// A number with an optional exponent, `INF`, `-INF` or `NaN`.
pub fn parse_double(text: &[u8]) -> Result<f64, Reason> {
    match text {
        b"INF" | b"+INF" => return Ok(f64::INFINITY),
        b"-INF" => return Ok(f64::NEG_INFINITY),
        b"NaN" => return Ok(f64::NAN),
        _ => {}
    }
    let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    if !text.iter().all(is_part) {
        return Err(Reason::Form);
    }
    let text = std::str::from_utf8(text).map_err(|_| Reason::Form)?;
    text.parse().map_err(|_| Reason::Form)
}

/// Appends a double; JSON has no word for those that are no numbers.
pub fn write_double(number: f64, out: &mut Vec<u8>) {
    let text = match number {
        _ if number.is_nan() => "\"NaN\"".into(),
        f64::INFINITY => "\"INF\"".into(),
        f64::NEG_INFINITY => "\"-INF\"".into(),
        _ => format!("{number:?}"),
    };
    out.extend_from_slice(text.as_bytes());
}

fn parse_boolean(text: &[u8]) -> Result<bool, Reason> {
    match text {
        b"true" | b"1" => Ok(true),
        b"false" | b"0" => Ok(false),
        _ => Err(Reason::Form),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(type_: Type, text: &str) -> Result<String, Reason> {
        let mut out = b"x".to_vec();
        let written = write_typed(type_, text.as_bytes(), &mut out);
        if written.is_err() {
            assert_eq!(out, b"x");
        }
        written.map(|()| String::from_utf8_lossy(&out[1..]).into())
    }

    #[test]
    fn values_have_the_forms_of_xml_schema() {
        use Type::{Binary, Boolean, Date, Double, Integer, String};
        for (type_, text, want) in [
            (String, " 007\n", Ok("\" 007\\n\"")),
            (Integer, " 007\n", Ok("7")),
            (Integer, "-9223372036854775808", Ok("-9223372036854775808")),
            (Integer, "9223372036854775808", Err(Reason::TooLarge)),
            (Integer, "", Err(Reason::Form)),
            (Integer, "1.0", Err(Reason::Form)),
            (Integer, "1_000", Err(Reason::Form)),
            (Integer, "١", Err(Reason::Form)),
            (Double, "1e3", Ok("1000.0")),
            (Double, "-INF", Ok("\"-INF\"")),
            (Double, "inf", Err(Reason::Form)),
            (Double, "1e", Err(Reason::Form)),
            (Boolean, " 1 ", Ok("true")),
            (Boolean, "TRUE", Err(Reason::Form)),
            (Date, "2024-02-29", Ok("\"2024-02-29\"")),
            (Binary, "YQ==", Ok("\"YQ==\"")),
        ] {
            assert_eq!(json(type_, text), want.map(Into::into), "{text:?}");
        }
    }
}
