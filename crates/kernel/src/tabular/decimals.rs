//! Decimals: digits with a point at a known place.

use super::types::Reason;

/// The number of a text in units of its last place; the type says how many digits there are in
/// all, and after the point.
pub fn parse_decimal(text: &[u8], digits: u8, scale: u8) -> Result<i128, Reason> {
    let (is_negative, unsigned) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let point = memchr::memchr(b'.', unsigned).unwrap_or(unsigned.len());
    let whole = &unsigned[..point];
    let fraction = unsigned.get(point + 1..).unwrap_or_default();
    let are_digits = |digits: &[u8]| digits.iter().all(u8::is_ascii_digit);
    if whole.is_empty() && fraction.is_empty() || !are_digits(whole) || !are_digits(fraction) {
        return Err(Reason::Form);
    }
    let zeros = whole.iter().take_while(|&&byte| byte == b'0').count();
    let whole = &whole[zeros..];
    if whole.len() > usize::from(digits - scale) {
        return Err(Reason::TooLarge);
    }
    let scale = usize::from(scale);
    let (kept, lost) = fraction.split_at(fraction.len().min(scale));
    if lost.iter().any(|&byte| byte != b'0') {
        return Err(Reason::TooPrecise);
    }
    let padding = std::iter::repeat_n(&b'0', scale - kept.len());
    let all = whole.iter().chain(kept).chain(padding);
    let units = all.fold(0i128, |sum, &byte| sum * 10 + i128::from(byte - b'0'));
    Ok(if is_negative { -units } else { units })
}

/// Appends a decimal with so many digits after the point.
pub fn write_decimal(units: i128, scale: u8, out: &mut Vec<u8>) {
    if units < 0 {
        out.push(b'-');
    }
    let scale = usize::from(scale);
    let text = format!("{:0width$}", units.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = text.split_at(text.len() - scale);
    out.extend_from_slice(whole.as_bytes());
    if scale > 0 {
        out.push(b'.');
        out.extend_from_slice(fraction.as_bytes());
    }
}

/// The text of a number that was computed, rounded to so many digits after the point, halves to
/// the even digit. A double rarely is a decimal.
pub fn rounded(number: f64, scale: u8) -> String {
    let text = number.to_string();
    let scale = usize::from(scale);
    let Some(point) = text
        .find('.')
        .filter(|point| text.len() - point - 1 > scale)
    else {
        return text;
    };
    let (kept, lost) = text.split_at(point + 1 + scale);
    let mut digits: Vec<u8> = kept.bytes().collect();
    let is_odd = digits
        .iter()
        .rfind(|byte| byte.is_ascii_digit())
        .is_some_and(|byte| byte % 2 == 1);
    let half = lost.as_bytes()[0];
    let is_more = half > b'5' || half == b'5' && lost.bytes().skip(1).any(|byte| byte != b'0');
    if is_more || half == b'5' && is_odd {
        increment(&mut digits);
    }
    String::from_utf8_lossy(&digits)
        .trim_end_matches('.')
        .into()
}

/// Adds one to the last digit.
fn increment(digits: &mut Vec<u8>) {
    for digit in digits.iter_mut().rev() {
        match digit {
            b'9' => *digit = b'0',
            b'0'..=b'8' => {
                *digit += 1;
                return;
            }
            _ => {}
        }
    }
    let first = digits.iter().position(u8::is_ascii_digit).unwrap_or(0);
    digits.insert(first, b'1');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_have_digits_and_a_point() {
        for (text, want) in [
            ("1", Ok(100)),
            ("-1.5", Ok(-150)),
            ("+0012.340", Ok(1234)),
            (".5", Ok(50)),
            ("5.", Ok(500)),
            ("999.99", Ok(99999)),
            ("1000", Err(Reason::TooLarge)),
            ("0.001", Err(Reason::TooPrecise)),
            ("", Err(Reason::Form)),
            (".", Err(Reason::Form)),
            ("-", Err(Reason::Form)),
            ("1e3", Err(Reason::Form)),
            ("1,5", Err(Reason::Form)),
            ("1.2.3", Err(Reason::Form)),
        ] {
            assert_eq!(parse_decimal(text.as_bytes(), 5, 2), want, "{text}");
        }
    }

    #[test]
    fn computed_numbers_are_rounded() {
        for (number, scale, want) in [
            (0.1 + 0.2, 2, "0.30"),
            (2.5, 0, "2"),
            (3.5, 0, "4"),
            (-0.125, 2, "-0.12"),
            (9.999, 2, "10.00"),
            (99.99, 0, "100"),
            (7.0, 2, "7"),
        ] {
            assert_eq!(rounded(number, scale), want);
        }
    }

    #[test]
    fn decimals_are_written_with_all_digits() {
        for (units, scale, want) in [(5, 2, "0.05"), (-1234, 2, "-12.34"), (7, 0, "7")] {
            let mut out = Vec::new();
            write_decimal(units, scale, &mut out);
            assert_eq!(out, want.as_bytes());
        }
    }
}
