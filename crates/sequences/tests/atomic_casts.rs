//! Casts from one type to another, and effective boolean values.

mod common;

use common::{atomic, kind, show};
use penstock_sequences::atomic::{Atomic, AtomicType, truth};

#[track_caller]
fn check(written: &str, target: &str, expected: &str) {
    let result = atomic(written).cast(kind(target));
    assert_eq!(atomic(written).is_castable(kind(target)), result.is_ok());
    assert_eq!(show(result), expected, "{written} as {target}");
}

#[test]
fn numbers_are_cut_off_and_checked() {
    for (written, target, expected) in [
        ("double:-1.9", "integer", "integer:-1"),
        ("decimal:99.99", "integer", "integer:99"),
        ("double:1e3", "decimal", "decimal:1000"),
        (
            "double:0.1",
            "decimal",
            "decimal:0.1000000000000000055511151231",
        ),
        ("double:NaN", "integer", "FOCA0002"),
        ("float:INF", "decimal", "FOCA0002"),
        ("double:9223372036854775808", "integer", "FOCA0003"),
        (
            "double:-9223372036854775808",
            "integer",
            "integer:-9223372036854775808",
        ),
        ("decimal:9223372036854775808", "integer", "FOCA0003"),
        ("double:1e29", "decimal", "FOCA0001"),
        (
            "double:7.9e28",
            "decimal",
            "decimal:78999999999999996926548246528",
        ),
        ("double:1e-40", "decimal", "decimal:0"),
        ("double:0.1", "float", "float:0.1"),
        ("float:0.1", "double", "double:0.10000000149011612"),
        ("double:1e300", "float", "float:INF"),
        ("decimal:0.1", "double", "double:0.1"),
        (
            "decimal:9007199254740993",
            "double",
            "double:9.007199254740992E15",
        ),
        (
            "decimal:0.1234567890123456789012345678",
            "double",
            "double:0.12345678901234568",
        ),
        ("integer:16777217", "float", "float:1.6777216E7"),
    ] {
        check(written, target, expected);
    }
}

#[test]
fn truth_values_are_numbers_and_back() {
    check("boolean:true", "integer", "integer:1");
    check("boolean:true", "double", "double:1");
    check("boolean:false", "decimal", "decimal:0");
    check("double:NaN", "boolean", "boolean:false");
    check("decimal:0.0", "boolean", "boolean:false");
    check("float:-0", "boolean", "boolean:false");
    check("integer:-3", "boolean", "boolean:true");
    check("s:1", "boolean", "boolean:true");
    check("s:2", "boolean", "FORG0001");
}

#[test]
fn text_is_cast_to_everything_but_names() {
    check("u: 12 ", "integer", "integer:12");
    check("s:12.5", "integer", "FORG0001");
    check("u:2024-01-01", "date", "date:2024-01-01");
    check("s:a", "QName", "XPTY0004");
    check("s:a", "anyURI", "anyURI:a");
    check("double:1e6", "s", "string:1.0E6");
    check("double:1e6", "u", "untypedAtomic:1.0E6");
    check("QName:{urn:x}p:n", "s", "string:p:n");
}

#[test]
fn dates_and_durations_are_cast_within_their_kinds() {
    check("dateTime:2024-01-02T03:04:05Z", "date", "date:2024-01-02Z");
    check("dateTime:2024-01-02T03:04:05Z", "time", "time:03:04:05Z");
    check(
        "date:2024-01-02+01:00",
        "dateTime",
        "dateTime:2024-01-02T00:00:00+01:00",
    );
    check("date:2024-01-02", "time", "XPTY0004");
    check("time:00:00:00", "dateTime", "XPTY0004");
    check(
        "duration:P1Y2DT3H",
        "dayTimeDuration",
        "dayTimeDuration:P2DT3H",
    );
    check(
        "duration:P1Y2DT3H",
        "yearMonthDuration",
        "yearMonthDuration:P1Y",
    );
    check(
        "dayTimeDuration:P2D",
        "yearMonthDuration",
        "yearMonthDuration:P0M",
    );
    check("yearMonthDuration:P1M", "duration", "duration:P1M");
    check("duration:P1Y", "integer", "XPTY0004");
}

#[test]
fn other_casts_do_not_exist() {
    for (written, target) in [
        ("integer:1", "date"),
        ("integer:1", "anyURI"),
        ("boolean:true", "date"),
        ("date:2024-01-01", "integer"),
        ("date:2024-01-01", "boolean"),
        ("anyURI:1", "integer"),
        ("QName:n", "anyURI"),
        ("double:1", "dayTimeDuration"),
    ] {
        check(written, target, "XPTY0004");
    }
}

#[test]
fn every_value_is_cast_to_its_own_type_and_to_text() {
    for written in [
        "integer:1",
        "decimal:1.5",
        "date:2024-01-01",
        "QName:n",
        "duration:P1Y",
    ] {
        let value = atomic(written);
        assert_eq!(show(value.cast(value.type_of())), written);
        assert!(value.is_castable(AtomicType::String));
        assert!(value.is_castable(AtomicType::UntypedAtomic));
    }
}

#[test]
fn values_are_true_or_false_or_neither() {
    for (written, expected) in [
        ("boolean:false", false),
        ("s:", false),
        ("s:false", true),
        ("u:0", true),
        ("anyURI:", false),
        ("integer:0", false),
        ("decimal:0.0", false),
        ("decimal:0.1", true),
        ("double:NaN", false),
        ("float:-0", false),
        ("double:-INF", true),
    ] {
        assert_eq!(truth(&atomic(written)), Ok(expected), "{written}");
    }
    for written in [
        "date:2024-01-01",
        "time:00:00:00",
        "duration:P1Y",
        "QName:n",
    ] {
        assert_eq!(
            truth(&atomic(written)).unwrap_err().code,
            "FORG0006",
            "{written}"
        );
    }
}

#[test]
fn a_value_is_small() {
    assert!(size_of::<Atomic>() <= 24);
}
