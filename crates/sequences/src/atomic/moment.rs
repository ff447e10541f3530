//! Points in time: dates, times of day, and both together, with or without a time zone.

use super::duration::Seconds;
use crate::error::{Error, Result};

/// The largest distance of a time zone from UTC, in minutes.
pub const ZONE_MINUTES_MAX: i16 = 14 * 60;
/// Years reach as far as this, before and after the year 0.
pub(super) const YEAR_MAX: i32 = 999_999_999;
const SECONDS_PER_DAY: i64 = 86_400;
/// The day that times of day are compared on.
const REFERENCE_DAY: (i32, u8, u8) = (1972, 12, 31);

/// A day of the Gregorian calendar and a time of that day, where a time zone says or anywhere.
///
/// Two moments are equal here if they are written alike; `instant` is what XQuery compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The year; there is a year 0.
    pub year: i32,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
    /// Nanoseconds beyond the second.
    pub nanos: u32,
    /// Minutes ahead of UTC.
    pub zone: Option<i16>,
}

impl Moment {
    /// Midnight of a day.
    pub(super) fn midnight(year: i32, month: u8, day: u8) -> Self {
        Moment {
            year,
            month,
            day,
            hour: 0,
            minute: 0,
            second: 0,
            nanos: 0,
            zone: None,
        }
    }

    /// Midnight of the day that times of day are compared on.
    pub(super) fn reference() -> Self {
        let (year, month, day) = REFERENCE_DAY;
        Moment::midnight(year, month, day)
    }

    /// The moment of an instant, as clocks in a time zone show it.
    ///
    /// # Errors
    ///
    /// FODT0001 if the year is out of range.
    pub fn from_instant(instant: Seconds, zone: Option<i16>) -> Result<Self> {
        let ahead = i64::from(zone.unwrap_or(0)) * 60;
        let local = instant.whole().checked_add(ahead).ok_or_else(overflow)?;
        let (year, month, day) = day_of_number(local.div_euclid(SECONDS_PER_DAY))?;
        // Less than a day, so every part fits.
        let second = local.rem_euclid(SECONDS_PER_DAY);
        Ok(Moment {
            year,
            month,
            day,
            hour: (second / 3600) as u8,
            minute: (second / 60 % 60) as u8,
            second: (second % 60) as u8,
            nanos: instant.nanos(),
            zone,
        })
    }

    /// The moment so long after 1970 began, in UTC. A clock that is wrong by thousands of years
    /// shows the first day.
    pub fn since_1970(since: std::time::Duration) -> Self {
        let whole = i64::try_from(since.as_secs()).unwrap_or(0);
        let instant = Seconds::with_nanos(whole, since.subsec_nanos());
        Moment::from_instant(instant, Some(0)).unwrap_or_else(|_| Moment::midnight(1970, 1, 1))
    }

    /// The seconds since 1970 began in UTC. A moment without a time zone is in UTC.
    pub fn instant(&self) -> Seconds {
        let days = number_of_day(self.year, self.month, self.day);
        let clock =
            i64::from(self.hour) * 3600 + i64::from(self.minute) * 60 + i64::from(self.second);
        let whole = days * SECONDS_PER_DAY + clock - i64::from(self.zone.unwrap_or(0)) * 60;
        Seconds::with_nanos(whole, self.nanos)
    }

    /// Midnight of the same day, in the same time zone.
    pub fn date(&self) -> Self {
        let midnight = Moment::midnight(self.year, self.month, self.day);
        Moment {
            zone: self.zone,
            ..midnight
        }
    }

    /// The same time on the reference day, in the same time zone.
    pub fn time(&self) -> Self {
        let (year, month, day) = REFERENCE_DAY;
        Moment {
            year,
            month,
            day,
            ..*self
        }
    }

    /// The same instant as clocks in another zone show it, or the same clock without a zone.
    ///
    /// A moment without a zone gets the zone, and its clock stays.
    ///
    /// # Errors
    ///
    /// FODT0001 if the year is out of range.
    pub fn in_zone(&self, zone: Option<i16>) -> Result<Self> {
        match (self.zone, zone) {
            (Some(_), Some(_)) => Moment::from_instant(self.instant(), zone),
            _ => Ok(Moment { zone, ..*self }),
        }
    }

    /// The moment some months later; the last day of the month if the month is too short.
    pub(super) fn plus_months(&self, months: i64) -> Result<Self> {
        let count = i64::from(self.year) * 12 + i64::from(self.month) - 1;
        let count = count.checked_add(months).ok_or_else(overflow)?;
        let year = checked_year(count.div_euclid(12))?;
        let month = (count.rem_euclid(12) + 1) as u8;
        let day = self.day.min(days_in_month(year, month));
        Ok(Moment {
            year,
            month,
            day,
            ..*self
        })
    }

    /// The moment some seconds later, in the same time zone.
    pub(super) fn plus_seconds(&self, seconds: Seconds) -> Result<Self> {
        let nanos = self.instant().total_nanos() + seconds.total_nanos();
        let instant = Seconds::from_nanos(nanos).map_err(|_| overflow())?;
        Moment::from_instant(instant, self.zone)
    }
}

/// How many days a month has.
pub(super) fn days_in_month(year: i32, month: u8) -> u8 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The number of a day, counted from 1970-01-01.
///
/// Years begin in March here, so that the leap day is the last one. 400 years are 146,097 days.
fn number_of_day(year: i32, month: u8, day: u8) -> i64 {
    let year = i64::from(year) - i64::from(month <= 2);
    let cycle = year.div_euclid(400);
    let year_of_cycle = year.rem_euclid(400);
    let month_from_march = (i64::from(month) + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + i64::from(day) - 1;
    let day_of_cycle = year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100 + day_of_year;
    cycle * 146_097 + day_of_cycle - 719_468
}

/// The year, month and day of a day's number.
fn day_of_number(number: i64) -> Result<(i32, u8, u8)> {
    let number = number.checked_add(719_468).ok_or_else(overflow)?;
    let cycle = number.div_euclid(146_097);
    let day_of_cycle = number.rem_euclid(146_097);
    let year_of_cycle =
        (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36_524 - day_of_cycle / 146_096) / 365;
    let day_of_year =
        day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * month_from_march + 2) / 5 + 1) as u8;
    let month = ((month_from_march + 2) % 12 + 1) as u8;
    let year = checked_year(cycle * 400 + year_of_cycle + i64::from(month <= 2))?;
    Ok((year, month, day))
}

fn checked_year(year: i64) -> Result<i32> {
    match i32::try_from(year) {
        Ok(year) if (-YEAR_MAX..=YEAR_MAX).contains(&year) => Ok(year),
        _ => Err(overflow()),
    }
}

fn overflow() -> Error {
    Error::new("FODT0001", "the date is out of range")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_days_have_their_numbers() {
        for (day, number) in [
            ((1970, 1, 1), 0),
            ((1969, 12, 31), -1),
            ((2000, 2, 29), 11_016),
            ((2000, 3, 1), 11_017),
            ((0, 1, 1), -719_528),
            ((-1, 12, 31), -719_529),
        ] {
            assert_eq!(number_of_day(day.0, day.1, day.2), number, "{day:?}");
            assert_eq!(day_of_number(number), Ok(day));
        }
    }

    #[test]
    fn every_day_of_eight_hundred_years_follows_the_one_before() {
        let (mut year, mut month, mut day) = (1600, 1, 1);
        let first = number_of_day(year, month, day);
        for number in first..first + 2 * 146_097 {
            assert_eq!(day_of_number(number), Ok((year, month, day)));
            assert_eq!(number_of_day(year, month, day), number);
            day += 1;
            if day > days_in_month(year, month) {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
    }

    #[test]
    fn a_month_later_is_the_last_day_of_a_short_month() {
        let moment = Moment::midnight(2024, 1, 31);
        assert_eq!(moment.plus_months(1), Ok(Moment::midnight(2024, 2, 29)));
        assert_eq!(moment.plus_months(13), Ok(Moment::midnight(2025, 2, 28)));
        assert_eq!(moment.plus_months(-13), Ok(Moment::midnight(2022, 12, 31)));
    }

    #[test]
    fn years_have_bounds() {
        let last = Moment::midnight(YEAR_MAX, 12, 31);
        assert_eq!(last.plus_months(1).unwrap_err().code, "FODT0001");
        assert!(last.plus_seconds(Seconds::new(SECONDS_PER_DAY - 1)).is_ok());
        let error = last
            .plus_seconds(Seconds::new(SECONDS_PER_DAY))
            .unwrap_err();
        assert_eq!(error.code, "FODT0001");
        let error = last.plus_seconds(Seconds::new(i64::MAX)).unwrap_err();
        assert_eq!(error.code, "FODT0001");
    }

    #[test]
    fn zones_move_the_clock_and_keep_the_instant() {
        let moment = Moment {
            zone: Some(-300),
            hour: 23,
            ..Moment::midnight(2002, 3, 7)
        };
        let moved = moment.in_zone(Some(600)).unwrap();
        assert_eq!((moved.day, moved.hour), (8, 14));
        assert_eq!(moved.instant(), moment.instant());
        assert_eq!(moment.in_zone(None).unwrap().hour, 23);
    }
}
