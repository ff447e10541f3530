//! Arithmetic of numbers, dates and durations.

mod common;

use common::{atomic, show};
use penstock_sequences::atomic::{Operator, arithmetic, negate, plus};

/// Check `left operator right = result`, all written in one line.
#[track_caller]
fn check(left: &str, operator: &str, right: &str, expected: &str) {
    let known = Operator::from_symbol(operator).expect(operator);
    assert_eq!(known.symbol(), operator);
    let result = arithmetic(known, &atomic(left), &atomic(right));
    assert_eq!(show(result), expected, "{left} {operator} {right}");
}

#[test]
fn numbers_are_promoted() {
    check("integer:1", "+", "integer:2", "integer:3");
    check("integer:1", "+", "decimal:2.0", "decimal:3");
    check("decimal:0.1", "+", "decimal:0.2", "decimal:0.3");
    check("decimal:0.1", "+", "float:0.2", "float:0.3");
    check(
        "double:0.1",
        "+",
        "decimal:0.2",
        "double:0.30000000000000004",
    );
    check("float:0.1", "*", "double:1", "double:0.10000000149011612");
    check("u: 2 ", "*", "integer:3", "double:6");
    check("integer:3", "-", "u:x", "FORG0001");
    check("integer:3", "-", "s:1", "XPTY0004");
    check("boolean:true", "+", "integer:1", "XPTY0004");
}

#[test]
fn integers_are_divided_exactly() {
    check("integer:5", "div", "integer:2", "decimal:2.5");
    check("integer:6", "div", "integer:2", "decimal:3");
    check(
        "integer:1",
        "div",
        "integer:3",
        "decimal:0.3333333333333333333333333333",
    );
    check("integer:3", "idiv", "integer:-2", "integer:-1");
    check("decimal:9.0", "idiv", "integer:3", "integer:3");
    check("integer:3", "idiv", "decimal:1.1", "integer:2");
    check("double:-7.5", "idiv", "integer:2", "integer:-3");
    check("integer:-7", "mod", "integer:2", "integer:-1");
    check("integer:7", "mod", "integer:-2", "integer:1");
    check(
        "decimal:-1.0",
        "mod",
        "decimal:-9223372036854775808.0",
        "decimal:-1",
    );
    check("decimal:4.5", "mod", "decimal:1.2", "decimal:0.9");
    check("double:1.23e2", "mod", "double:0.6e1", "double:3");
    check("integer:3", "mod", "double:INF", "double:3");
    check("float:INF", "mod", "integer:3", "float:NaN");
}

#[test]
fn a_division_by_zero_is_an_error_except_for_doubles() {
    for operator in ["div", "idiv", "mod"] {
        check("integer:1", operator, "integer:0", "FOAR0001");
        check("integer:1", operator, "decimal:-0.0", "FOAR0001");
    }
    check("integer:1", "div", "double:0", "double:INF");
    check("integer:1", "div", "double:-0", "double:-INF");
    check("double:0", "div", "double:0", "double:NaN");
    check("integer:1", "mod", "double:0", "double:NaN");
    check("double:INF", "idiv", "double:0", "FOAR0001");
    check("integer:1", "idiv", "double:NaN", "FOAR0002");
    check("double:INF", "idiv", "integer:1", "FOAR0002");
    check("integer:1", "idiv", "double:INF", "integer:0");
}

#[test]
fn results_out_of_range_are_errors() {
    let (least, most) = (
        "integer:-9223372036854775808",
        "integer:9223372036854775807",
    );
    check(most, "+", "integer:1", "FOAR0002");
    check(least, "-", "integer:1", "FOAR0002");
    check(most, "*", "integer:2", "FOAR0002");
    check(least, "idiv", "integer:-1", "FOAR0002");
    check(least, "mod", "integer:-1", "integer:0");
    check(least, "div", "integer:-1", "decimal:9223372036854775808");
    check(
        "decimal:79228162514264337593543950335",
        "+",
        "integer:1",
        "FOAR0002",
    );
    check(
        "decimal:79228162514264337593543950335",
        "idiv",
        "decimal:0.001",
        "FOAR0002",
    );
    check("double:1e300", "*", "double:1e300", "double:INF");
    check("double:1e300", "idiv", "double:1", "FOAR0002");
    assert_eq!(show(negate(&atomic(least))), "FOAR0002");
}

#[test]
fn signs_need_numbers() {
    assert_eq!(show(negate(&atomic("double:0"))), "double:-0");
    assert_eq!(show(negate(&atomic("decimal:1.5"))), "decimal:-1.5");
    assert_eq!(show(negate(&atomic("u:2"))), "double:-2");
    assert_eq!(show(plus(&atomic("u:2"))), "double:2");
    assert_eq!(show(plus(&atomic("integer:2"))), "integer:2");
    for wrong in ["s:1", "boolean:true", "dayTimeDuration:PT1S"] {
        assert_eq!(show(negate(&atomic(wrong))), "XPTY0004");
        assert_eq!(show(plus(&atomic(wrong))), "XPTY0004");
    }
    assert_eq!(show(plus(&atomic("u:x"))), "FORG0001");
}

#[test]
fn durations_move_dates_and_times() {
    check(
        "date:2024-01-31",
        "+",
        "yearMonthDuration:P1M",
        "date:2024-02-29",
    );
    check(
        "yearMonthDuration:P1Y",
        "+",
        "date:2024-02-29Z",
        "date:2025-02-28Z",
    );
    check(
        "date:2024-03-01",
        "-",
        "dayTimeDuration:PT1S",
        "date:2024-02-29",
    );
    check(
        "date:2024-03-01",
        "+",
        "dayTimeDuration:PT23H",
        "date:2024-03-01",
    );
    check(
        "time:23:30:00+01:00",
        "+",
        "dayTimeDuration:P3DT1H",
        "time:00:30:00+01:00",
    );
    check(
        "time:00:30:00",
        "-",
        "dayTimeDuration:PT1H",
        "time:23:30:00",
    );
    let moment = "dateTime:2000-10-30T11:12:00";
    check(
        moment,
        "+",
        "dayTimeDuration:P3DT1H15M",
        "dateTime:2000-11-02T12:27:00",
    );
    check(
        moment,
        "-",
        "yearMonthDuration:P1Y2M",
        "dateTime:1999-08-30T11:12:00",
    );
    check("time:00:00:00", "+", "yearMonthDuration:P1M", "XPTY0004");
    check("dayTimeDuration:PT1S", "-", "date:2024-01-01", "XPTY0004");
    check("date:2024-01-01", "+", "duration:P1D", "XPTY0004");
    check("date:2024-01-01", "+", "integer:1", "XPTY0004");
    check(
        "date:999999999-12-31",
        "+",
        "dayTimeDuration:P1D",
        "FODT0001",
    );
}

#[test]
fn differences_are_durations() {
    check(
        "date:2000-10-30",
        "-",
        "date:1999-11-28",
        "dayTimeDuration:P337D",
    );
    check(
        "date:2000-10-30+05:00",
        "-",
        "date:2000-10-30Z",
        "dayTimeDuration:-PT5H",
    );
    check(
        "time:11:00:00-05:00",
        "-",
        "time:21:30:00+05:30",
        "dayTimeDuration:PT0S",
    );
    check(
        "dateTime:2000-10-30T06:12:00-05:00",
        "-",
        "dateTime:1999-11-28T09:00:00Z",
        "dayTimeDuration:P337DT2H12M",
    );
    check(
        "date:2000-10-30",
        "-",
        "dateTime:1999-11-28T09:00:00Z",
        "XPTY0004",
    );
    check("date:2000-10-30", "+", "date:2000-10-30", "XPTY0004");
}

#[test]
fn durations_are_added_and_multiplied() {
    check(
        "yearMonthDuration:P2Y11M",
        "+",
        "yearMonthDuration:P3Y3M",
        "yearMonthDuration:P6Y2M",
    );
    check(
        "dayTimeDuration:P1D",
        "-",
        "dayTimeDuration:PT25H",
        "dayTimeDuration:-PT1H",
    );
    check(
        "dayTimeDuration:P1D",
        "+",
        "yearMonthDuration:P1M",
        "XPTY0004",
    );
    check(
        "yearMonthDuration:P2Y11M",
        "*",
        "decimal:2.3",
        "yearMonthDuration:P6Y9M",
    );
    check(
        "double:0.5",
        "*",
        "yearMonthDuration:-P1M",
        "yearMonthDuration:P0M",
    );
    check(
        "dayTimeDuration:PT2H10M",
        "*",
        "decimal:2.1",
        "dayTimeDuration:PT4H33M",
    );
}

#[test]
fn durations_are_divided() {
    check(
        "dayTimeDuration:P10DT5H30M",
        "div",
        "u:3",
        "dayTimeDuration:P3DT9H50M",
    );
    check(
        "yearMonthDuration:P2Y11M",
        "div",
        "decimal:1.5",
        "yearMonthDuration:P1Y11M",
    );
    check(
        "yearMonthDuration:P3Y4M",
        "div",
        "yearMonthDuration:-P1Y4M",
        "decimal:-2.5",
    );
    check(
        "dayTimeDuration:P1DT1H",
        "div",
        "dayTimeDuration:PT1H",
        "decimal:25",
    );
    check(
        "dayTimeDuration:P1D",
        "div",
        "double:INF",
        "dayTimeDuration:PT0S",
    );
    check(
        "dayTimeDuration:P1D",
        "div",
        "float:3e38",
        "dayTimeDuration:PT0S",
    );
    check(
        "yearMonthDuration:P0M",
        "*",
        "double:1e300",
        "yearMonthDuration:P0M",
    );
    check(
        "dayTimeDuration:P1D",
        "*",
        "double:1e-300",
        "dayTimeDuration:PT0S",
    );
    check("integer:2", "div", "dayTimeDuration:P1D", "XPTY0004");
    check("duration:P1D", "*", "integer:2", "XPTY0004");
    check(
        "dayTimeDuration:P1D",
        "idiv",
        "dayTimeDuration:P1D",
        "XPTY0004",
    );
}

#[test]
fn durations_have_bounds() {
    check("dayTimeDuration:P1D", "div", "integer:0", "FODT0002");
    check("dayTimeDuration:P1D", "div", "double:-0", "FODT0002");
    check(
        "dayTimeDuration:P1D",
        "div",
        "dayTimeDuration:PT0S",
        "FOAR0001",
    );
    check("dayTimeDuration:P1D", "*", "double:NaN", "FOCA0005");
    check("yearMonthDuration:P1Y", "div", "double:NaN", "FOCA0005");
    check("dayTimeDuration:P1D", "*", "double:INF", "FODT0002");
    check("dayTimeDuration:P1D", "*", "double:1e300", "FODT0002");
    check(
        "yearMonthDuration:P1Y",
        "*",
        "integer:9223372036854775807",
        "FODT0002",
    );
    check(
        "yearMonthDuration:P1Y",
        "*",
        "decimal:6602346876188694799461995861",
        "FODT0002",
    );
    let most = "yearMonthDuration:P9223372036854775807M";
    check(most, "+", "yearMonthDuration:P1M", "FODT0002");
    check(
        "date:2024-01-01",
        "-",
        "yearMonthDuration:-P9223372036854775808M",
        "FODT0002",
    );
    check("date:2024-01-01", "+", most, "FODT0001");
}
