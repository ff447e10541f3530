//! Functions of parts of text.

use super::{
    BOOLEAN, Builtin, Call, DOUBLE, Parameter, STRING, Values, numbers, one, optional, string,
    value,
};
use crate::atomic::Atomic;
use crate::error::Result;

/// A text, a part of it, and a collation.
const PARAMETERS: &[Parameter] = &[optional(STRING), optional(STRING), one(STRING)];

pub(super) static BUILTINS: &[Builtin] = &[
    Builtin::new(
        "substring",
        &[optional(STRING), one(DOUBLE), one(DOUBLE)],
        one(STRING),
        substring,
    )
    .requires(2),
    Builtin::new("contains", PARAMETERS, one(BOOLEAN), |call| {
        test(call, |text, part| text.contains(part))
    })
    .requires(2),
    Builtin::new("starts-with", PARAMETERS, one(BOOLEAN), |call| {
        test(call, |text, part| text.starts_with(part))
    })
    .requires(2),
    Builtin::new("ends-with", PARAMETERS, one(BOOLEAN), |call| {
        test(call, |text, part| text.ends_with(part))
    })
    .requires(2),
    Builtin::new("substring-before", PARAMETERS, one(STRING), |call| {
        take(call, |text, part| {
            text.split_once(part).map(|(before, _)| before)
        })
    })
    .requires(2),
    Builtin::new("substring-after", PARAMETERS, one(STRING), |call| {
        take(call, |text, part| {
            text.split_once(part).map(|(_, after)| after)
        })
    })
    .requires(2),
];

fn test(call: &Call<'_>, holds: fn(&str, &str) -> bool) -> Result<Values> {
    call.check_collation(2)?;
    value(Atomic::Boolean(holds(call.text(0), call.text(1))))
}

fn take(call: &Call<'_>, part: for<'a> fn(&'a str, &str) -> Option<&'a str>) -> Result<Values> {
    call.check_collation(2)?;
    string(part(call.text(0), call.text(1)).unwrap_or(""))
}

/// The characters at the places from `start` on, `length` of them; places are rounded.
fn substring(call: &mut Call<'_>) -> Result<Values> {
    let number = |place| match call.value(place) {
        Some(Atomic::Double(number)) => Some(numbers::round(*number)),
        _ => None,
    };
    let first = number(1).unwrap_or(f64::NAN);
    let end = number(2).map_or(f64::INFINITY, |length| first + length);
    // NaN compares with nothing, so it selects nothing.
    let characters = call.text(0).chars().zip(1_u64..);
    let characters = characters
        .skip_while(|(_, place)| (*place as f64) < first)
        .take_while(|(_, place)| *place as f64 >= first && (*place as f64) < end);
    string(
        characters
            .map(|(character, _)| character)
            .collect::<String>(),
    )
}

#[cfg(test)]
mod tests {
    use crate::functions::testing::{fails, gives, says};

    #[test]
    fn places_are_rounded_and_may_lie_outside() {
        for (start, length, expected) in [
            ("double:1.5", "double:2.6", "234"),
            ("integer:0", "integer:3", "12"),
            ("integer:5", "integer:-3", ""),
            ("integer:-3", "integer:5", "1"),
            ("double:NaN", "integer:3", ""),
            ("integer:1", "double:NaN", ""),
            ("integer:-42", "double:INF", "12345"),
            ("double:-INF", "double:INF", ""),
            ("double:INF", "double:INF", ""),
        ] {
            says("substring", &["s:12345", start, length], expected);
        }
        says("substring", &["s:12345", "double:-INF"], "12345");
        says(
            "substring",
            &["s:abcd𐀁efgh", "integer:5", "integer:2"],
            "𐀁e",
        );
        says("substring", &["()", "integer:1"], "");
        says("substring", &["u:12345", "u:4"], "45");
        fails("substring", &["s:12345", "s:4"], "XPTY0004");
    }

    #[test]
    fn parts_are_found() {
        gives("contains", &["s:tattoo", "s:ttt"], "boolean:false");
        gives("contains", &["()", "()"], "boolean:true");
        gives("starts-with", &["s:tattoo", "u:tat"], "boolean:true");
        gives("ends-with", &["s:tattoo", "s:too"], "boolean:true");
        says("substring-before", &["s:tattoo", "s:attoo"], "t");
        says("substring-before", &["s:tattoo", "s:"], "");
        says("substring-after", &["s:tattoo", "s:tat"], "too");
        says("substring-after", &["s:tattoo", "()"], "tattoo");
        says("substring-after", &["s:tattoo", "s:x"], "");
        fails("contains", &["s:a", "s:a", "s:urn:other"], "FOCH0002");
        fails("contains", &["integer:1", "s:a"], "XPTY0004");
    }
}
