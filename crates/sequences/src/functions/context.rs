//! Functions of the evaluation itself: the time, constants, and errors.

use super::{
    ANY, BOOLEAN, Builtin, CODEPOINT_COLLATION, Call, DATE, DATE_TIME, DAY_TIME, QNAME, STRING,
    TIME, Values, many, one, optional, string, value,
};
use crate::atomic::{Atomic, Seconds};
use crate::error::{Error, Result};

pub(super) static BUILTINS: &[Builtin] = &[
    Builtin::new("current-dateTime", &[], one(DATE_TIME), |call| {
        value(Atomic::DateTime(call.environment.now))
    }),
    Builtin::new("current-date", &[], one(DATE), |call| {
        value(Atomic::Date(call.environment.now.date()))
    }),
    Builtin::new("current-time", &[], one(TIME), |call| {
        value(Atomic::Time(call.environment.now.time()))
    }),
    Builtin::new("implicit-timezone", &[], one(DAY_TIME), |_| {
        value(Atomic::DayTimeDuration(Seconds::default()))
    }),
    Builtin::new("default-collation", &[], one(STRING), |_| {
        string(CODEPOINT_COLLATION)
    }),
    Builtin::new("true", &[], one(BOOLEAN), |_| value(Atomic::Boolean(true))),
    Builtin::new("false", &[], one(BOOLEAN), |_| {
        value(Atomic::Boolean(false))
    }),
    Builtin::new("error", &[one(QNAME)], many(ANY), error).requires(0),
    Builtin::new(
        "error",
        &[optional(QNAME), one(STRING), many(ANY)],
        many(ANY),
        error,
    )
    .requires(2),
];

/// Errors have codes that the program knows, so one with a code of the query's own names it in its
/// reason.
fn error(call: &mut Call<'_>) -> Result<Values> {
    let mut reason = match call.optional_text(1) {
        Some(description) => description.to_owned(),
        None => "the query raised an error".to_owned(),
    };
    if let Some(Atomic::QName(name)) = call.value(0) {
        let written = Atomic::QName(name.clone()).to_text();
        reason = format!("{written}: {reason}");
    }
    Err(Error::new("FOER0000", reason))
}

#[cfg(test)]
mod tests {
    use crate::functions::testing::{fails, gives};

    #[test]
    fn the_time_is_that_of_the_environment() {
        gives("current-dateTime", &[], "dateTime:2024-05-06T07:08:09.5Z");
        gives("current-date", &[], "date:2024-05-06Z");
        gives("current-time", &[], "time:07:08:09.5Z");
        gives("implicit-timezone", &[], "dayTimeDuration:PT0S");
    }

    #[test]
    fn errors_are_raised() {
        fails("error", &[], "FOER0000");
        fails(
            "error",
            &["QName:{urn:x}a:b", "string:no"],
            "FOER0000: a:b: no",
        );
        fails("error", &["()", "s:no"], "FOER0000: no");
        fails("error", &["()"], "XPTY0004");
    }
}
