//! Calls of functions in tests: arguments and results are written `type:text`.

use super::{Call, Environment, Values, convert, find};
use crate::atomic::{Atomic, AtomicType};
use crate::error::Result;

/// The values that a test writes: `integer:1, integer:2`; `u:` is untyped, `()` is none.
fn values(written: &str) -> Values {
    if written == "()" {
        return Values::new();
    }
    written.split(", ").map(atomic).collect()
}

/// The value that a test writes.
pub(crate) fn atomic(written: &str) -> Atomic {
    let (name, text) = written.split_once(':').unwrap();
    let kind = match name {
        "u" => AtomicType::UntypedAtomic,
        "s" => AtomicType::String,
        _ => AtomicType::from_name(name).unwrap(),
    };
    Atomic::parse(kind, text).unwrap()
}

pub(crate) fn call(name: &str, arguments: &[&str]) -> Result<Values> {
    let builtin = find(name, arguments.len()).unwrap();
    let now = Atomic::parse(AtomicType::DateTime, "2024-05-06T09:08:09.5+02:00")?;
    let Atomic::DateTime(now) = now else {
        unreachable!()
    };
    let convert = |(place, written): (usize, &&str)| {
        convert(values(written), builtin.parameter(place).unwrap())
    };
    let mut arguments: Vec<Values> = arguments
        .iter()
        .enumerate()
        .map(convert)
        .collect::<Result<_>>()?;
    let values = (builtin.call)(&mut Call {
        builtin,
        arguments: &mut arguments,
        environment: &Environment::new(now),
        meter: &mut |_| (),
    })?;
    // What a function returns fits what its table says.
    assert!(builtin.result.occurrence.allows(values.len()), "{name}");
    convert_unchanged(&values, builtin);
    Ok(values)
}

fn convert_unchanged(values: &Values, builtin: &super::Builtin) {
    let converted = convert(values.clone(), &builtin.result).unwrap();
    for (converted, value) in converted.iter().zip(values) {
        assert_eq!(converted.type_of(), value.type_of(), "{}", builtin.name);
    }
}

/// Check the result of a call.
#[track_caller]
pub(crate) fn gives(name: &str, arguments: &[&str], expected: &str) {
    let show = |value: &Atomic| format!("{}:{}", value.type_of().name(), value.to_text());
    let result = match call(name, arguments) {
        Ok(values) if values.is_empty() => "()".to_owned(),
        Ok(values) => values.iter().map(show).collect::<Vec<_>>().join(", "),
        Err(error) => error.to_string(),
    };
    assert_eq!(result, expected, "{name}{arguments:?}");
}

/// Check the result of a call that is one string.
#[track_caller]
pub(crate) fn says(name: &str, arguments: &[&str], expected: &str) {
    gives(name, arguments, &format!("string:{expected}"));
}

/// Check that a call fails, with the beginning of its message.
#[track_caller]
pub(crate) fn fails(name: &str, arguments: &[&str], expected: &str) {
    match call(name, arguments) {
        Ok(values) => panic!("{name}{arguments:?} gives {values:?}"),
        Err(error) => {
            assert!(
                error.to_string().starts_with(expected),
                "{name}{arguments:?}: {error}"
            );
        }
    }
}
