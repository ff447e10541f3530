//! Functions of the parts of dates and times.

use super::{
    Builtin, Call, DATE, DATE_TIME, DAY_TIME, DECIMAL, INTEGER, TIME, Values, empty, optional,
    value,
};
use crate::atomic::{Atomic, Decimal, Moment, Seconds};
use crate::error::{Error, Result};

pub(super) static BUILTINS: &[Builtin] = &[
    Builtin::new(
        "dateTime",
        &[optional(DATE), optional(TIME)],
        optional(DATE_TIME),
        combine,
    ),
    Builtin::new(
        "year-from-dateTime",
        &[optional(DATE_TIME)],
        optional(INTEGER),
        year,
    ),
    Builtin::new(
        "month-from-dateTime",
        &[optional(DATE_TIME)],
        optional(INTEGER),
        month,
    ),
    Builtin::new(
        "day-from-dateTime",
        &[optional(DATE_TIME)],
        optional(INTEGER),
        day,
    ),
    Builtin::new(
        "hours-from-dateTime",
        &[optional(DATE_TIME)],
        optional(INTEGER),
        hours,
    ),
    Builtin::new(
        "minutes-from-dateTime",
        &[optional(DATE_TIME)],
        optional(INTEGER),
        minutes,
    ),
    Builtin::new(
        "seconds-from-dateTime",
        &[optional(DATE_TIME)],
        optional(DECIMAL),
        seconds,
    ),
    Builtin::new(
        "timezone-from-dateTime",
        &[optional(DATE_TIME)],
        optional(DAY_TIME),
        zone,
    ),
    Builtin::new("year-from-date", &[optional(DATE)], optional(INTEGER), year),
    Builtin::new(
        "month-from-date",
        &[optional(DATE)],
        optional(INTEGER),
        month,
    ),
    Builtin::new("day-from-date", &[optional(DATE)], optional(INTEGER), day),
    Builtin::new(
        "timezone-from-date",
        &[optional(DATE)],
        optional(DAY_TIME),
        zone,
    ),
    Builtin::new(
        "hours-from-time",
        &[optional(TIME)],
        optional(INTEGER),
        hours,
    ),
    Builtin::new(
        "minutes-from-time",
        &[optional(TIME)],
        optional(INTEGER),
        minutes,
    ),
    Builtin::new(
        "seconds-from-time",
        &[optional(TIME)],
        optional(DECIMAL),
        seconds,
    ),
    Builtin::new(
        "timezone-from-time",
        &[optional(TIME)],
        optional(DAY_TIME),
        zone,
    ),
];

/// The date or time of an argument; None if it is empty.
pub(super) fn moment<'a>(call: &'a Call<'_>, place: usize) -> Option<&'a Moment> {
    match call.value(place) {
        Some(Atomic::Date(moment) | Atomic::Time(moment) | Atomic::DateTime(moment)) => {
            Some(moment)
        }
        _ => None,
    }
}

fn integer(call: &Call<'_>, part: impl Fn(&Moment) -> i64) -> Result<Values> {
    moment(call, 0).map_or_else(empty, |moment| value(Atomic::Integer(part(moment))))
}

fn year(call: &mut Call<'_>) -> Result<Values> {
    integer(call, |moment| i64::from(moment.year))
}

fn month(call: &mut Call<'_>) -> Result<Values> {
    integer(call, |moment| i64::from(moment.month))
}

fn day(call: &mut Call<'_>) -> Result<Values> {
    integer(call, |moment| i64::from(moment.day))
}

fn hours(call: &mut Call<'_>) -> Result<Values> {
    integer(call, |moment| i64::from(moment.hour))
}

fn minutes(call: &mut Call<'_>) -> Result<Values> {
    integer(call, |moment| i64::from(moment.minute))
}

fn seconds(call: &mut Call<'_>) -> Result<Values> {
    moment(call, 0).map_or_else(empty, |moment| {
        let nanos = i64::from(moment.second) * 1_000_000_000 + i64::from(moment.nanos);
        value(Atomic::Decimal(Decimal::new(nanos, 9)))
    })
}

fn zone(call: &mut Call<'_>) -> Result<Values> {
    match moment(call, 0).and_then(|moment| moment.zone) {
        Some(zone) => value(Atomic::DayTimeDuration(Seconds::new(i64::from(zone) * 60))),
        None => empty(),
    }
}

/// The time of a day. At most one time zone may be named, or twice the same.
fn combine(call: &mut Call<'_>) -> Result<Values> {
    let (Some(date), Some(time)) = (moment(call, 0), moment(call, 1)) else {
        return empty();
    };
    let zone = match (date.zone, time.zone) {
        (Some(date), Some(time)) if date != time => {
            return Err(Error::new(
                "FORG0008",
                "the date and the time have different time zones",
            ));
        }
        (date, time) => date.or(time),
    };
    let Moment {
        year, month, day, ..
    } = *date;
    value(Atomic::DateTime(Moment {
        year,
        month,
        day,
        zone,
        ..*time
    }))
}

#[cfg(test)]
mod tests {
    use crate::functions::testing::{fails, gives};

    #[test]
    fn parts_are_those_of_the_clock_where_it_was_read() {
        let moment = &["dateTime:-1999-05-31T13:20:09.25-05:00"];
        gives("year-from-dateTime", moment, "integer:-1999");
        gives("month-from-dateTime", moment, "integer:5");
        gives("day-from-dateTime", moment, "integer:31");
        gives("hours-from-dateTime", moment, "integer:13");
        gives("minutes-from-dateTime", moment, "integer:20");
        gives("seconds-from-dateTime", moment, "decimal:9.25");
        gives("timezone-from-dateTime", moment, "dayTimeDuration:-PT5H");
        gives(
            "hours-from-dateTime",
            &["dateTime:1999-12-31T24:00:00"],
            "integer:0",
        );
        gives(
            "year-from-dateTime",
            &["dateTime:1999-12-31T24:00:00"],
            "integer:2000",
        );
    }

    #[test]
    fn dates_and_times_have_their_parts() {
        gives("year-from-date", &["date:1999-05-31"], "integer:1999");
        gives("month-from-date", &["u:1999-05-31"], "integer:5");
        gives("day-from-date", &["date:1999-05-31Z"], "integer:31");
        gives(
            "timezone-from-date",
            &["date:1999-05-31Z"],
            "dayTimeDuration:PT0S",
        );
        gives("timezone-from-date", &["date:1999-05-31"], "()");
        gives("hours-from-time", &["time:01:02:03+14:00"], "integer:1");
        gives("minutes-from-time", &["time:01:02:03"], "integer:2");
        gives("seconds-from-time", &["time:01:02:03"], "decimal:3");
        gives(
            "timezone-from-time",
            &["time:01:02:03+14:00"],
            "dayTimeDuration:PT14H",
        );
        gives("hours-from-time", &["()"], "()");
        fails("hours-from-time", &["date:1999-05-31"], "XPTY0004");
    }

    #[test]
    fn a_date_and_a_time_are_combined() {
        let date = "date:1999-12-31+01:00";
        gives(
            "dateTime",
            &[date, "time:12:00:00"],
            "dateTime:1999-12-31T12:00:00+01:00",
        );
        gives(
            "dateTime",
            &["date:1999-12-31", "time:24:00:00Z"],
            "dateTime:1999-12-31T00:00:00Z",
        );
        gives("dateTime", &[date, "()"], "()");
        fails("dateTime", &[date, "time:12:00:00Z"], "FORG0008");
    }
}
