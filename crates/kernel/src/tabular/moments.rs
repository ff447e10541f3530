//! Days and moments, as XML Schema writes them. Years have four digits.

use super::types::Reason;

const MICROSECONDS: i64 = 1_000_000;
const DAY: i64 = 86_400 * MICROSECONDS;
/// 0001-01-01 and the day after 9999-12-31.
const FIRST_DAY: i64 = -719_162;
const END_DAY: i64 = 2_932_897;

/// The days since 1970 of a date. Its zone, if it has one, does not matter.
pub fn parse_date(text: &[u8]) -> Result<i32, Reason> {
    let (day, zone) = day_of(text)?;
    zone_of(zone)?;
    Ok(day as i32)
}

/// The microseconds since 1970 of a moment; without a zone it is one of UTC.
pub fn parse_timestamp(text: &[u8]) -> Result<i64, Reason> {
    let (day, rest) = day_of(text)?;
    let [b'T', h1, h2, b':', m1, m2, b':', s1, s2, rest @ ..] = rest else {
        return Err(Reason::Form);
    };
    let hour = number(&[*h1, *h2])?;
    let (minute, second) = (number(&[*m1, *m2])?, number(&[*s1, *s2])?);
    let (fraction, zone) = fraction_of(rest)?;
    let is_midnight = hour == 24 && minute == 0 && second == 0 && fraction == 0;
    if (hour > 23 && !is_midnight) || minute > 59 || second > 59 {
        return Err(Reason::Form);
    }
    let seconds = (hour * 60 + minute - zone_of(zone)?) * 60 + second;
    let moment = day * DAY + seconds * MICROSECONDS + fraction;
    match (FIRST_DAY * DAY..END_DAY * DAY).contains(&moment) {
        true => Ok(moment),
        false => Err(Reason::TooLarge),
    }
}

/// Appends a date.
pub fn write_date(day: i64, out: &mut Vec<u8>) {
    let (year, month, day) = civil_of(day);
    write_two(year / 100, out);
    write_two(year % 100, out);
    out.push(b'-');
    write_two(month, out);
    out.push(b'-');
    write_two(day, out);
}

/// Appends a moment of UTC.
pub fn write_timestamp(moment: i64, out: &mut Vec<u8>) {
    write_date(moment.div_euclid(DAY), out);
    let rest = moment.rem_euclid(DAY);
    let (seconds, fraction) = (rest / MICROSECONDS, rest % MICROSECONDS);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    for (before, part) in [(b'T', hour), (b':', minute), (b':', second)] {
        out.push(before);
        write_two(part, out);
    }
    if fraction != 0 {
        let digits = format!(".{fraction:06}");
        out.extend_from_slice(digits.trim_end_matches('0').as_bytes());
    }
    out.push(b'Z');
}

/// Appends a number of two digits.
fn write_two(number: i64, out: &mut Vec<u8>) {
    out.push(b'0' + (number / 10) as u8);
    out.push(b'0' + (number % 10) as u8);
}

/// The days since 1970, and what follows.
fn day_of(text: &[u8]) -> Result<(i64, &[u8]), Reason> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, rest @ ..] = text else {
        return Err(Reason::Form);
    };
    let year = number(&[*y1, *y2, *y3, *y4])?;
    let (month, day) = (number(&[*m1, *m2])?, number(&[*d1, *d2])?);
    if year == 0 || !(1..=12).contains(&month) || day == 0 || day > length_of(year, month) {
        return Err(Reason::Form);
    }
    Ok((days_of(year, month, day), rest))
}

/// The microseconds behind the point, and what follows.
fn fraction_of(text: &[u8]) -> Result<(i64, &[u8]), Reason> {
    let Some(rest) = text.strip_prefix(b".") else {
        return Ok((0, text));
    };
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = rest.split_at(count);
    if digits.is_empty() {
        return Err(Reason::Form);
    }
    let (kept, lost) = digits.split_at(count.min(6));
    if lost.iter().any(|&byte| byte != b'0') {
        return Err(Reason::TooPrecise);
    }
    Ok((number(kept)? * 10i64.pow(6 - kept.len() as u32), rest))
}

/// The minutes that a zone is ahead of UTC.
fn zone_of(text: &[u8]) -> Result<i64, Reason> {
    let (sign, zone) = match text {
        [] | [b'Z'] => return Ok(0),
        [b'+', zone @ ..] => (1, zone),
        [b'-', zone @ ..] => (-1, zone),
        _ => return Err(Reason::Form),
    };
    let [h1, h2, b':', m1, m2] = zone else {
        return Err(Reason::Form);
    };
    let (hours, minutes) = (number(&[*h1, *h2])?, number(&[*m1, *m2])?);
    if minutes > 59 || hours * 60 + minutes > 14 * 60 {
        return Err(Reason::Form);
    }
    Ok(sign * (hours * 60 + minutes))
}

fn number(digits: &[u8]) -> Result<i64, Reason> {
    let mut sum = 0;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return Err(Reason::Form);
        }
        sum = sum * 10 + i64::from(digit - b'0');
    }
    Ok(sum)
}

fn length_of(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Years begin in March here, so that a leap day is the last of its year.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let days = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leaps + days - 719_468
}

fn civil_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let of = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * of + of / 4 - of / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + of + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(text: &str) -> Result<String, Reason> {
        let mut out = Vec::new();
        write_timestamp(parse_timestamp(text.as_bytes())?, &mut out);
        Ok(String::from_utf8_lossy(&out).into())
    }

    #[test]
    fn moments_are_those_of_utc() {
        for (text, want) in [
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
            ("2024-02-29T12:00:00.5+02:00", "2024-02-29T10:00:00.5Z"),
            ("2023-12-31T24:00:00", "2024-01-01T00:00:00Z"),
            ("0001-01-01T00:00:00", "0001-01-01T00:00:00Z"),
            ("1969-12-31T23:59:59.999999", "1969-12-31T23:59:59.999999Z"),
            ("2024-01-01T00:00:00.1234560", "2024-01-01T00:00:00.123456Z"),
        ] {
            assert_eq!(round(text), Ok(want.into()));
        }
        for (text, want) in [
            ("2023-02-29T00:00:00", Reason::Form),
            ("2024-01-01 00:00:00", Reason::Form),
            ("2024-01-01T24:00:01", Reason::Form),
            ("2024-01-01", Reason::Form),
            ("2024-01-01T00:00:00+15:00", Reason::Form),
            ("0001-01-01T00:00:00+01:00", Reason::TooLarge),
            ("9999-12-31T24:00:00", Reason::TooLarge),
            ("2024-01-01T00:00:00.1234567", Reason::TooPrecise),
        ] {
            assert_eq!(round(text), Err(want), "{text}");
        }
    }

    #[test]
    fn every_day_is_read_back_as_it_was() {
        let mut text = Vec::new();
        for day in FIRST_DAY..END_DAY {
            text.clear();
            write_date(day, &mut text);
            assert_eq!(parse_date(&text), Ok(day as i32));
        }
        assert_eq!(parse_date(b"2024-01-31Z"), parse_date(b"2024-01-31-05:00"));
        assert_eq!(parse_date(b"0000-01-01"), Err(Reason::Form));
    }
}
