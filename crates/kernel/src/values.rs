//! Atomic values and the functions of XPath 1.0 on them.

pub use crate::vocabulary::Comparison;
use crate::vocabulary::Op;
use std::borrow::Cow;

/// An atomic value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// A string.
    Text(Cow<'a, str>),
    /// A number.
    Number(f64),
    /// A boolean.
    Boolean(bool),
}

impl<'a> Value<'a> {
    /// `number()`.
    pub fn number(&self) -> f64 {
        match self {
            Value::Text(text) => parse_number(text.as_bytes()),
            Value::Number(number) => *number,
            Value::Boolean(value) => f64::from(u8::from(*value)),
        }
    }

    /// The same, on its own.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Text(text) => Value::Text(Cow::Owned(text.into_owned())),
            Value::Number(number) => Value::Number(number),
            Value::Boolean(value) => Value::Boolean(value),
        }
    }

    /// `boolean()`.
    pub fn boolean(&self) -> bool {
        match self {
            Value::Text(text) => !text.is_empty(),
            Value::Number(number) => *number != 0.0 && !number.is_nan(),
            Value::Boolean(value) => *value,
        }
    }

    /// `string()`.
    pub fn text(self) -> Cow<'a, str> {
        match self {
            Value::Text(text) => text,
            Value::Number(number) => Cow::Owned(format_number(number)),
            Value::Boolean(value) => Cow::Borrowed(if value { "true" } else { "false" }),
        }
    }
}

/// The number that a string denotes: optional white space, minus, digits with an optional point.
pub fn parse_number(bytes: &[u8]) -> f64 {
    let text = bytes.trim_ascii();
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let mut points = 0;
    let well_formed = digits.iter().all(|&byte| {
        points += usize::from(byte == b'.');
        byte.is_ascii_digit() || byte == b'.'
    });
    if !well_formed || points > 1 || digits.len() == points {
        return f64::NAN;
    }
    // `trim_ascii` also takes form feeds, which no document can contain.
    if points == 0 && digits.len() <= 15 {
        let whole = digits
            .iter()
            .fold(0u64, |n, &byte| n * 10 + u64::from(byte - b'0')) as f64;
        return if digits.len() < text.len() {
            -whole
        } else {
            whole
        };
    }
    std::str::from_utf8(text)
        .ok()
        .and_then(|t| t.parse().ok())
        .unwrap_or(f64::NAN)
}

/// The string of a number: no exponent, no trailing zeros.
pub fn format_number(number: f64) -> String {
    if number.is_nan() {
        "NaN".into()
    } else if number.is_infinite() {
        if number > 0.0 {
            "Infinity".into()
        } else {
            "-Infinity".into()
        }
    } else if number == 0.0 {
        "0".into()
    } else {
        number.to_string()
    }
}

/// Compares two numbers.
pub fn compare_numbers(op: Comparison, left: f64, right: f64) -> bool {
    match op {
        Comparison::Eq => left == right,
        Comparison::Ne => left != right,
        Comparison::Lt => left < right,
        Comparison::Le => left <= right,
        Comparison::Gt => left > right,
        Comparison::Ge => left >= right,
    }
}

/// A test of a string value against a constant; numbers are here as their bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ValueTest<S> {
    /// It is the string.
    Equal(S),
    /// It is another one.
    Differs(S),
    /// Its number compares with a number.
    Number(Comparison, u64),
    /// It contains the string.
    Contains(S),
    /// It starts with the string.
    StartsWith(S),
}

impl<S: AsRef<[u8]>> ValueTest<S> {
    /// Whether a value passes; `number` is asked which number the value is, if that matters.
    #[inline]
    pub fn passes(&self, value: &[u8], number: impl FnOnce() -> f64) -> bool {
        match self {
            ValueTest::Equal(text) => value == text.as_ref(),
            ValueTest::Differs(text) => value != text.as_ref(),
            ValueTest::Number(op, bits) => compare_numbers(*op, number(), f64::from_bits(*bits)),
            ValueTest::Contains(text) => memchr::memmem::find(value, text.as_ref()).is_some(),
            ValueTest::StartsWith(text) => value.starts_with(text.as_ref()),
        }
    }
}

/// Compares two values by the rules of XPath 1.0, section 3.4.
pub fn compare(op: Comparison, left: Value<'_>, right: Value<'_>) -> bool {
    use Value::{Boolean, Number};
    match op {
        Comparison::Eq | Comparison::Ne => {
            let equal = match (&left, &right) {
                (Boolean(_), _) | (_, Boolean(_)) => left.boolean() == right.boolean(),
                (Number(_), _) | (_, Number(_)) => left.number() == right.number(),
                _ => left.text() == right.text(),
            };
            equal == (op == Comparison::Eq)
        }
        _ => compare_numbers(op, left.number(), right.number()),
    }
}

/// Rounds to the nearest integer, halves towards positive infinity; -0.5 gives -0.
pub fn round(number: f64) -> f64 {
    let floor = number.floor();
    // Adding a half first would round 0.49999999999999994 up.
    if number - floor >= 0.5 {
        (floor + 1.0).abs().copysign(number)
    } else if number.is_finite() {
        floor
    } else {
        number
    }
}

/// Applies an operator that is no leaf to its arguments.
pub fn apply<'a>(op: Op, count: usize, arg: &dyn Fn(usize) -> Value<'a>) -> Value<'a> {
    let text = |index: usize| arg(index).text();
    let number = |index: usize| arg(index).number();
    match op {
        // Leaves have no arguments to be applied to.
        Op::Text | Op::Number | Op::Boolean | Op::Operand => Value::Boolean(false),
        Op::ToString => Value::Text(text(0)),
        Op::ToNumber => Value::Number(number(0)),
        Op::ToBoolean => Value::Boolean(arg(0).boolean()),
        Op::Concat => Value::Text((0..count).map(text).collect::<String>().into()),
        Op::Contains => Value::Boolean(text(0).contains(&*text(1))),
        Op::StartsWith => Value::Boolean(text(0).starts_with(&*text(1))),
        Op::Length => Value::Number(text(0).chars().count() as f64),
        Op::Normalize => Value::Text(normalize_space(&text(0)).into()),
        Op::Substring => {
            let length = (count == 3).then(|| number(2));
            Value::Text(substring(&text(0), number(1), length).into())
        }
        Op::Before => {
            let (whole, mark) = (text(0), text(1));
            Value::Text(
                whole
                    .find(&*mark)
                    .map_or(String::new(), |at| whole[..at].to_owned())
                    .into(),
            )
        }
        Op::After => {
            let (whole, mark) = (text(0), text(1));
            Value::Text(
                whole
                    .find(&*mark)
                    .map_or(String::new(), |at| whole[at + mark.len()..].to_owned())
                    .into(),
            )
        }
        Op::Translate => Value::Text(translate(&text(0), &text(1), &text(2)).into()),
        Op::Floor => Value::Number(number(0).floor()),
        Op::Ceiling => Value::Number(number(0).ceil()),
        Op::Round => Value::Number(round(number(0))),
        Op::Add => Value::Number(number(0) + number(1)),
        Op::Subtract => Value::Number(number(0) - number(1)),
        Op::Multiply => Value::Number(number(0) * number(1)),
        Op::Divide => Value::Number(number(0) / number(1)),
        Op::Modulo => Value::Number(number(0) % number(1)),
        Op::Negate => Value::Number(-number(0)),
        Op::Eq => Value::Boolean(compare(Comparison::Eq, arg(0), arg(1))),
        Op::Ne => Value::Boolean(compare(Comparison::Ne, arg(0), arg(1))),
        Op::Lt => Value::Boolean(compare(Comparison::Lt, arg(0), arg(1))),
        Op::Le => Value::Boolean(compare(Comparison::Le, arg(0), arg(1))),
        Op::Gt => Value::Boolean(compare(Comparison::Gt, arg(0), arg(1))),
        Op::Ge => Value::Boolean(compare(Comparison::Ge, arg(0), arg(1))),
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

fn normalize_space(text: &str) -> String {
    let mut words = text.split(is_space).filter(|word| !word.is_empty());
    let mut out = words.next().unwrap_or("").to_owned();
    for word in words {
        out.push(' ');
        out.push_str(word);
    }
    out
}

/// Characters at positions p with p >= round(start) and p < round(start) + round(length).
fn substring(text: &str, start: f64, length: Option<f64>) -> String {
    let first = round(start);
    let end = length.map_or(f64::INFINITY, |length| first + round(length));
    let inside = |&(index, _): &(usize, char)| {
        let position = (index + 1) as f64;
        position >= first && position < end
    };
    text.chars()
        .enumerate()
        .filter(inside)
        .map(|(_, c)| c)
        .collect()
}

fn translate(text: &str, from: &str, to: &str) -> String {
    let to: Vec<char> = to.chars().collect();
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match from.chars().position(|f| f == c) {
            None => out.push(c),
            Some(at) => out.extend(to.get(at)),
        }
    }
    out
}

/// Appends a string as JSON, with its quotes. The text is UTF-8.
pub fn write_json(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let mut last = 0;
    for (at, &byte) in text.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&text[last..at]);
        last = at + 1;
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            other => out.extend_from_slice(format!("\\u{other:04x}").as_bytes()),
        }
    }
    out.extend_from_slice(&text[last..]);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_grammar_of_xpath() {
        for (text, want) in [
            ("12", 12.0),
            (" -3.50\n", -3.5),
            (".5", 0.5),
            ("5.", 5.0),
            ("-0", -0.0),
        ] {
            assert_eq!(parse_number(text.as_bytes()), want, "{text}");
        }
        for text in [
            "", "-", ".", "1e3", "+1", "1 2", "1.2.3", "--1", "NaN", "Infinity", "0x1",
        ] {
            assert!(parse_number(text.as_bytes()).is_nan(), "{text}");
        }
    }

    #[test]
    fn numbers_print_without_exponents() {
        for (number, want) in [
            (1.0, "1"),
            (-0.0, "0"),
            (1e21, "1000000000000000000000"),
            (1e-7, "0.0000001"),
            (2.5, "2.5"),
        ] {
            assert_eq!(format_number(number), want);
        }
    }

    #[test]
    fn substring_rounds_its_bounds() {
        assert_eq!(substring("12345", 1.5, Some(2.6)), "234");
        assert_eq!(substring("12345", 0.0, Some(3.0)), "12");
        assert_eq!(substring("12345", f64::NAN, Some(3.0)), "");
        assert_eq!(substring("12345", 1.0, Some(f64::NAN)), "");
        assert_eq!(substring("12345", -42.0, Some(f64::INFINITY)), "12345");
        assert_eq!(
            substring("12345", f64::NEG_INFINITY, Some(f64::INFINITY)),
            ""
        );
        assert_eq!(substring("12345", 2.0, None), "2345");
    }

    #[test]
    fn halves_round_up() {
        assert_eq!(round(2.5), 3.0);
        assert_eq!(round(-2.5), -2.0);
        assert_eq!(round(0.49999999999999994), 0.0);
    }
}
