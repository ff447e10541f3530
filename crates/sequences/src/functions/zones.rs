//! `adjust-…-to-timezone`.

use super::moments::moment;
use super::{Builtin, Call, DATE, DATE_TIME, DAY_TIME, TIME, Values, empty, optional, value};
use crate::atomic::{Atomic, Moment, ZONE_MINUTES_MAX};
use crate::error::{Error, Result};

pub(super) static BUILTINS: &[Builtin] = &[
    Builtin::new(
        "adjust-dateTime-to-timezone",
        &[optional(DATE_TIME), optional(DAY_TIME)],
        optional(DATE_TIME),
        |call| adjust(call, Atomic::DateTime),
    )
    .requires(1),
    Builtin::new(
        "adjust-date-to-timezone",
        &[optional(DATE), optional(DAY_TIME)],
        optional(DATE),
        |call| adjust(call, |moment| Atomic::Date(moment.date())),
    )
    .requires(1),
    Builtin::new(
        "adjust-time-to-timezone",
        &[optional(TIME), optional(DAY_TIME)],
        optional(TIME),
        |call| adjust(call, |moment| Atomic::Time(moment.time())),
    )
    .requires(1),
];

fn adjust(call: &Call<'_>, make: fn(Moment) -> Atomic) -> Result<Values> {
    let Some(moment) = moment(call, 0) else {
        return empty();
    };
    let zone = match (call.arguments.get(1), call.value(1)) {
        (None, _) => Some(0),
        (_, Some(Atomic::DayTimeDuration(ahead))) => Some(minutes(ahead.total_nanos())?),
        _ => None,
    };
    value(make(moment.in_zone(zone)?))
}

/// The minutes of a duration that is a time zone.
fn minutes(nanos: i128) -> Result<i16> {
    let minute = 60_000_000_000;
    match i16::try_from(nanos / minute) {
        Ok(minutes) if nanos % minute == 0 && minutes.abs() <= ZONE_MINUTES_MAX => Ok(minutes),
        _ => {
            let reason = "a time zone is whole minutes from -PT14H to PT14H";
            Err(Error::new("FODT0003", reason))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::functions::testing::{fails, gives};

    #[test]
    fn clocks_are_moved_to_a_zone() {
        let name = "adjust-dateTime-to-timezone";
        let moment = "dateTime:2002-03-07T10:00:00-07:00";
        gives(
            name,
            &[moment, "dayTimeDuration:-PT10H"],
            "dateTime:2002-03-07T07:00:00-10:00",
        );
        gives(name, &[moment], "dateTime:2002-03-07T17:00:00Z");
        gives(name, &[moment, "()"], "dateTime:2002-03-07T10:00:00");
        gives(
            name,
            &["dateTime:2002-03-07T10:00:00", "dayTimeDuration:-PT5H"],
            "dateTime:2002-03-07T10:00:00-05:00",
        );
        gives(name, &["()"], "()");
    }

    #[test]
    fn dates_and_times_drop_what_they_do_not_have() {
        let date = "date:2002-03-07-07:00";
        gives(
            "adjust-date-to-timezone",
            &[date, "dayTimeDuration:-PT10H"],
            "date:2002-03-06-10:00",
        );
        gives(
            "adjust-time-to-timezone",
            &["time:10:00:00-07:00", "dayTimeDuration:PT10H"],
            "time:03:00:00+10:00",
        );
    }

    #[test]
    fn zones_have_bounds() {
        let name = "adjust-time-to-timezone";
        gives(
            name,
            &["time:10:00:00", "dayTimeDuration:PT14H"],
            "time:10:00:00+14:00",
        );
        for wrong in ["PT14H1M", "-PT14H1M", "PT30S", "P3000000D"] {
            fails(
                name,
                &["time:10:00:00", &format!("dayTimeDuration:{wrong}")],
                "FODT0003",
            );
        }
    }
}
