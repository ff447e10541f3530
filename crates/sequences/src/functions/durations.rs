//! Functions of the parts of durations.

use super::{Builtin, Call, DECIMAL, DURATION, INTEGER, Values, empty, optional, value};
use crate::atomic::{Atomic, Decimal, Duration, as_duration};
use crate::error::{Error, Result};

const NANOS_PER_SECOND: i128 = 1_000_000_000;

pub(super) static BUILTINS: &[Builtin] = &[
    Builtin::new(
        "years-from-duration",
        &[optional(DURATION)],
        optional(INTEGER),
        |call| integer(call, |duration| i128::from(duration.months / 12)),
    ),
    Builtin::new(
        "months-from-duration",
        &[optional(DURATION)],
        optional(INTEGER),
        |call| integer(call, |duration| i128::from(duration.months % 12)),
    ),
    Builtin::new(
        "days-from-duration",
        &[optional(DURATION)],
        optional(INTEGER),
        |call| integer(call, |duration| seconds_of(duration) / 86_400),
    ),
    Builtin::new(
        "hours-from-duration",
        &[optional(DURATION)],
        optional(INTEGER),
        |call| integer(call, |duration| seconds_of(duration) / 3600 % 24),
    ),
    Builtin::new(
        "minutes-from-duration",
        &[optional(DURATION)],
        optional(INTEGER),
        |call| integer(call, |duration| seconds_of(duration) / 60 % 60),
    ),
    Builtin::new(
        "seconds-from-duration",
        &[optional(DURATION)],
        optional(DECIMAL),
        |call| {
            call.value(0)
                .and_then(as_duration)
                .map_or_else(empty, |duration| {
                    let nanos = duration.seconds.total_nanos() % (60 * NANOS_PER_SECOND);
                    value(Atomic::Decimal(Decimal::from_i128_with_scale(nanos, 9)))
                })
        },
    ),
];

/// Whole seconds, rounded towards zero.
fn seconds_of(duration: &Duration) -> i128 {
    duration.seconds.total_nanos() / NANOS_PER_SECOND
}

fn integer(call: &Call<'_>, part: impl Fn(&Duration) -> i128) -> Result<Values> {
    call.value(0)
        .and_then(as_duration)
        .map_or_else(empty, |duration| {
            let part = i64::try_from(part(&duration));
            let part = part.map_err(|_| Error::new("FODT0002", "the duration is out of range"))?;
            value(Atomic::Integer(part))
        })
}

#[cfg(test)]
mod tests {
    use crate::functions::testing::{fails, gives};

    #[test]
    fn durations_have_their_parts() {
        gives(
            "years-from-duration",
            &["yearMonthDuration:P20Y15M"],
            "integer:21",
        );
        gives(
            "years-from-duration",
            &["yearMonthDuration:-P15M"],
            "integer:-1",
        );
        gives(
            "months-from-duration",
            &["yearMonthDuration:-P20Y18M"],
            "integer:-6",
        );
        gives(
            "days-from-duration",
            &["dayTimeDuration:P3DT55H"],
            "integer:5",
        );
        gives(
            "hours-from-duration",
            &["dayTimeDuration:P3DT12H32M12S"],
            "integer:12",
        );
        gives(
            "hours-from-duration",
            &["dayTimeDuration:-P3DT10H"],
            "integer:-10",
        );
        gives(
            "minutes-from-duration",
            &["duration:-P5DT12H30M"],
            "integer:-30",
        );
        gives(
            "seconds-from-duration",
            &["dayTimeDuration:P3DT10H12.5S"],
            "decimal:12.5",
        );
        gives(
            "seconds-from-duration",
            &["dayTimeDuration:-PT256S"],
            "decimal:-16",
        );
        gives(
            "days-from-duration",
            &["yearMonthDuration:P1Y"],
            "integer:0",
        );
        gives("days-from-duration", &["()"], "()");
        gives("years-from-duration", &["u:P1Y2D"], "integer:1");
        fails("days-from-duration", &["s:P1Y"], "XPTY0004");
    }
}
