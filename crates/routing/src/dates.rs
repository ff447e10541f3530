//! Dates and times as XML Schema writes them, on one line of time.

/// Nanoseconds since the beginning of 1970 in UTC.
pub type Instant = i128;

const NANOSECONDS: i128 = 1_000_000_000;

/// The instant of `2026-11-18` or `2026-11-18T12:30:00.5`, with `Z` or `+01:00` or without; without
/// a zone it is in UTC, and a date is its midnight. None for anything else.
pub fn parse(text: &[u8]) -> Option<Instant> {
    let text = text.trim_ascii();
    let (date, rest) = text.split_at_checked(10)?;
    let day = days(
        number(&date[..4])?,
        separated(date, 4, b'-')?,
        separated(date, 7, b'-')?,
    )?;
    let (seconds, nanoseconds, zone) = match rest.split_first() {
        Some((b'T', time)) => time_of(time)?,
        _ => (0, 0, rest),
    };
    let seconds = i128::from(day) * 86_400 + i128::from(seconds) - i128::from(zone_seconds(zone)?);
    Some(seconds * NANOSECONDS + i128::from(nanoseconds))
}

/// Seconds, nanoseconds, and what follows.
fn time_of(text: &[u8]) -> Option<(i64, i64, &[u8])> {
    let (time, mut rest) = text.split_at_checked(8)?;
    let (hours, minutes) = (number(&time[..2])?, separated(time, 2, b':')?);
    let seconds = separated(time, 5, b':')?;
    if hours > 23 || minutes > 59 || seconds > 59 {
        return None;
    }
    let mut nanoseconds = 0;
    if let Some(fraction) = rest.strip_prefix(b".") {
        let count = fraction
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if count == 0 || count > 9 {
            return None;
        }
        nanoseconds = number(&fraction[..count])? * 10_i64.pow(9 - count as u32);
        rest = &fraction[count..];
    }
    Some((hours * 3600 + minutes * 60 + seconds, nanoseconds, rest))
}

fn zone_seconds(zone: &[u8]) -> Option<i64> {
    let (&sign, offset) = match zone {
        [] | b"Z" => return Some(0),
        _ => zone.split_first()?,
    };
    if offset.len() != 5 {
        return None;
    }
    let (hours, minutes) = (number(&offset[..2])?, separated(offset, 2, b':')?);
    let seconds = hours * 3600 + minutes * 60;
    match sign {
        _ if minutes > 59 || seconds > 14 * 3600 => None,
        b'+' => Some(seconds),
        b'-' => Some(-seconds),
        _ => None,
    }
}

/// The two digits behind a separator.
fn separated(text: &[u8], place: usize, separator: u8) -> Option<i64> {
    (text[place] == separator).then(|| number(&text[place + 1..place + 3]))?
}

fn number(digits: &[u8]) -> Option<i64> {
    let add = |sum: i64, byte: &u8| {
        byte.is_ascii_digit()
            .then(|| sum * 10 + i64::from(byte - b'0'))
    };
    digits.iter().try_fold(0, add)
}

/// Days since the beginning of 1970, in the calendar that is used today, however early.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [
        31,
        28 + i64::from(is_leap),
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    let length = *lengths.get(usize::try_from(month - 1).ok()?)?;
    if year < 1 || day < 1 || day > length {
        return None;
    }
    let before = year - 1;
    let years = before * 365 + before / 4 - before / 100 + before / 400;
    let months: i64 = lengths[..month as usize - 1].iter().sum();
    const EPOCH: i64 = 1969 * 365 + 1969 / 4 - 1969 / 100 + 1969 / 400;
    Some(years + months + day - 1 - EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_lie_on_one_line() {
        assert_eq!(parse(b"1970-01-01"), Some(0));
        assert_eq!(parse(b" 1970-01-02\n"), Some(86_400 * NANOSECONDS));
        assert_eq!(parse(b"2000-03-01"), Some(951_868_800 * NANOSECONDS));
        assert_eq!(parse(b"1970-01-01T01:00:00+01:00"), Some(0));
        assert_eq!(parse(b"1969-12-31T23:59:59.5Z"), Some(-NANOSECONDS / 2));
        assert_eq!(parse(b"1970-01-01-02:00"), Some(7200 * NANOSECONDS));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "2026",
            "2026-13-01",
            "2026-02-29",
            "2026-1-1",
            "2026-01-01T",
            "2026-01-01T24:00:00",
            "2026-01-01T00:00:00.",
            "2026-01-01T00:00:00+15:00",
            "2026-01-01+1",
            "0000-01-01",
            "2026-01-01T00:00:00X",
            "20260101",
            "2026-01-011",
            "\u{661}026-01-01",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}
