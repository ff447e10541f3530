//! Comparisons, the order of sorted values, and keys.

mod common;

use std::cmp::Ordering;

use common::{atomic, show};
use penstock_sequences::atomic::{
    Atomic, Comparison, Untyped, compare_general, compare_values, key, order_keys, unify,
};
use penstock_sequences::error::Result;

const ALL: [&str; 6] = ["eq", "ne", "lt", "le", "gt", "ge"];

/// All value comparisons that hold, or the code of an error.
fn relations(left: &str, right: &str) -> String {
    let holds = |symbol: &&&str| {
        let comparison = Comparison::from_symbol(symbol).expect(symbol);
        compare_values(comparison, &atomic(left), &atomic(right)).unwrap_or(false)
    };
    let error = compare_values(Comparison::Less, &atomic(left), &atomic(right)).err();
    let mut shown: Vec<&str> = ALL.iter().filter(holds).copied().collect();
    shown.extend(error.map(|error| error.code));
    shown.join(" ")
}

#[track_caller]
fn check(left: &str, right: &str, expected: &str) {
    assert_eq!(relations(left, right), expected, "{left} with {right}");
}

#[test]
fn values_are_compared_within_their_kind() {
    for (less, greater) in [
        ("integer:1", "double:1.5"),
        ("decimal:0.1", "float:0.2"),
        ("double:-INF", "integer:-9223372036854775808"),
        ("s:a", "u:b"),
        ("s:B", "anyURI:a"),
        ("s:\u{FFFD}", "s:\u{10000}"),
        ("s:", "s:a"),
        ("boolean:false", "boolean:true"),
        ("date:2024-01-01", "date:2024-01-02"),
        ("date:2024-01-01+01:00", "date:2024-01-01"),
        ("time:23:00:00+01:00", "time:23:00:00Z"),
        (
            "dateTime:2024-01-01T00:00:00+01:00",
            "dateTime:2024-01-01T00:00:00Z",
        ),
        ("dayTimeDuration:-PT1S", "dayTimeDuration:PT0S"),
        ("yearMonthDuration:P11M", "yearMonthDuration:P1Y"),
    ] {
        check(less, greater, "ne lt le");
        check(greater, less, "ne gt ge");
        check(less, less, "eq le ge");
    }
}

#[test]
fn equal_values_of_different_types_are_equal() {
    check("integer:1", "decimal:1.00", "eq le ge");
    check("decimal:0.1", "double:0.1", "eq le ge");
    check("decimal:0.1", "float:0.1", "eq le ge");
    check("float:0.1", "double:0.1", "ne gt ge");
    check("double:0", "double:-0", "eq le ge");
    check("u:1", "s:1", "eq le ge");
    check(
        "dateTime:2024-01-01T12:00:00",
        "dateTime:2024-01-01T13:00:00+01:00",
        "eq le ge",
    );
    check("time:24:00:00", "time:00:00:00Z", "eq le ge");
}

#[test]
fn nan_is_unequal_to_itself() {
    check("double:NaN", "double:NaN", "ne");
    check("integer:1", "float:NaN", "ne");
}

#[test]
fn names_and_durations_are_equal_or_not() {
    check("QName:{urn:x}a:n", "QName:{urn:x}b:n", "eq XPTY0004");
    check("QName:{urn:x}n", "QName:n", "ne XPTY0004");
    check("duration:P1Y", "yearMonthDuration:P12M", "eq XPTY0004");
    check(
        "dayTimeDuration:PT0S",
        "yearMonthDuration:P0M",
        "eq XPTY0004",
    );
    check(
        "dayTimeDuration:PT1S",
        "yearMonthDuration:P1M",
        "ne XPTY0004",
    );
}

#[test]
fn other_types_are_not_compared() {
    for (left, right) in [
        ("integer:1", "s:1"),
        ("u:1", "integer:1"),
        ("boolean:true", "integer:1"),
        ("date:2024-01-01", "dateTime:2024-01-01T00:00:00"),
        ("s:2024-01-01", "date:2024-01-01"),
        ("QName:n", "s:n"),
    ] {
        check(left, right, "XPTY0004");
        check(right, left, "XPTY0004");
    }
}

fn general(left: &str, symbol: &str, right: &str, untyped: Untyped) -> String {
    let comparison = Comparison::from_symbol(symbol).expect(symbol);
    let show =
        |result: Result<bool>| result.map_or_else(|error| error.code.into(), |t| t.to_string());
    let result = show(compare_general(
        comparison,
        &atomic(left),
        &atomic(right),
        untyped,
    ));
    let mirrored = comparison.mirrored();
    let other = show(compare_general(
        mirrored,
        &atomic(right),
        &atomic(left),
        untyped,
    ));
    assert_eq!(result, other, "{left} {symbol} {right} and its mirror");
    result
}

#[test]
fn untyped_values_take_the_type_of_the_other_side() {
    for (left, symbol, right, expected) in [
        ("u:10", ">", "integer:9", "true"),
        ("u:10", ">", "u:9", "false"),
        ("u:10", ">", "s:9", "false"),
        ("u:1.0", "=", "integer:1", "true"),
        ("u:1.0", "=", "s:1", "false"),
        (
            "u:9007199254740993",
            "=",
            "integer:9007199254740992",
            "true",
        ),
        ("u:true", "=", "boolean:true", "true"),
        ("u:2024-01-02", ">", "date:2024-01-01", "true"),
        ("u:x", ">", "date:2024-01-01", "FORG0001"),
        ("u:x", "=", "integer:1", "FORG0001"),
        ("u:", "<", "double:1", "FORG0001"),
        ("s:x", "=", "integer:1", "XPTY0004"),
        ("u:NaN", "!=", "integer:1", "true"),
        ("u:n", "=", "QName:n", "XPTY0004"),
    ] {
        assert_eq!(
            general(left, symbol, right, Untyped::Error),
            expected,
            "{left} {symbol} {right}"
        );
    }
}

#[test]
fn text_that_is_no_number_may_compare_as_false() {
    for symbol in ["=", "!=", "<", "<=", ">", ">="] {
        assert_eq!(general("u:x", symbol, "integer:1", Untyped::False), "false");
        assert_eq!(
            general("u:x", symbol, "date:2024-01-01", Untyped::False),
            "FORG0001"
        );
        assert_eq!(
            general("s:x", symbol, "integer:1", Untyped::False),
            "XPTY0004"
        );
    }
    assert_eq!(general("u:2", ">", "integer:1", Untyped::False), "true");
}

fn column(written: &[&str]) -> Vec<Option<Atomic>> {
    written
        .iter()
        .map(|text| (*text != "()").then(|| atomic(text)))
        .collect()
}

#[test]
fn empty_keys_and_nan_have_their_places() {
    let mut keys = column(&["integer:1", "double:NaN", "()", "double:-INF"]);
    unify(&mut keys).unwrap();
    for (is_empty_greatest, expected) in [(false, [2, 1, 3, 0]), (true, [3, 0, 1, 2])] {
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by(|a, b| {
            order_keys(keys[*a].as_ref(), keys[*b].as_ref(), is_empty_greatest).unwrap()
        });
        assert_eq!(order, expected);
    }
    let nan = Some(atomic("double:NaN"));
    assert_eq!(
        order_keys(nan.as_ref(), nan.as_ref(), false),
        Ok(Ordering::Equal)
    );
}

#[test]
fn keys_of_one_order_get_one_type() {
    let unified = |written: &[&str]| {
        let mut keys = column(written);
        unify(&mut keys)
            .map(|()| {
                keys.into_iter()
                    .flatten()
                    .map(|key| show(Ok(key)))
                    .collect::<Vec<_>>()
            })
            .map_err(|error| error.code)
    };
    assert_eq!(
        unified(&["integer:1", "decimal:2.5"]).unwrap(),
        ["decimal:1", "decimal:2.5"]
    );
    assert_eq!(
        unified(&["integer:1", "()", "double:2"]).unwrap(),
        ["double:1", "double:2"]
    );
    assert_eq!(
        unified(&["u:1", "s:2", "anyURI:3"]).unwrap(),
        ["string:1", "string:2", "string:3"]
    );
    assert_eq!(unified(&["()"]).unwrap(), [""; 0]);
    for wrong in [
        &["u:1", "integer:1"][..],
        &["date:2024-01-01", "dateTime:2024-01-01T00:00:00"],
        &["QName:n"],
        &["duration:P1Y"],
        &["boolean:true", "integer:1"],
    ] {
        assert_eq!(unified(wrong), Err("XPTY0004"), "{wrong:?}");
    }
    assert_eq!(
        order_keys(Some(&atomic("s:1")), Some(&atomic("integer:1")), false)
            .unwrap_err()
            .code,
        "XPTY0004"
    );
}

#[test]
fn equal_values_have_equal_keys() {
    for equal in [
        &["integer:1", "decimal:1.0", "double:1", "float:1"][..],
        &["decimal:0.1", "double:0.1", "float:0.1"],
        &["double:0", "double:-0", "integer:0", "decimal:0.00"],
        &["double:NaN", "float:NaN"],
        &["double:INF", "float:INF"],
        &[
            "double:1e18",
            "decimal:1000000000000000000.0",
            "integer:1000000000000000000",
        ][1..],
        &["s:a", "u:a", "anyURI:a"],
        &["date:2024-01-01", "date:2024-01-01Z"],
        &["duration:P1Y", "yearMonthDuration:P12M"],
        &["QName:{urn:x}a:n", "QName:{urn:x}b:n"],
    ] {
        for written in equal {
            assert_eq!(key(&atomic(written)), key(&atomic(equal[0])), "{written}");
        }
    }
}

#[test]
fn different_values_have_different_keys() {
    let values = [
        "integer:1",
        "integer:2",
        "decimal:1.5",
        "s:1",
        "boolean:true",
        "double:NaN",
        "double:INF",
        "date:2024-01-01",
        "dateTime:2024-01-01T00:00:00",
        "time:00:00:00",
        "QName:n",
        "QName:{urn:x}n",
        "s:n",
        "dayTimeDuration:PT1S",
        "yearMonthDuration:P1M",
        "integer:9007199254740992",
        "integer:9007199254740993",
        "decimal:0.1",
        "decimal:0.1000000000000000000000000001",
    ];
    for (place, left) in values.iter().enumerate() {
        for right in &values[place + 1..] {
            assert_ne!(
                key(&atomic(left)),
                key(&atomic(right)),
                "{left} and {right}"
            );
        }
    }
}
