"""Atomic values: conversions, comparisons, functions."""

import math

import pytest

from penstock_testing.reference.functions import call
from penstock_testing.reference.values import Atomic, compare, to_boolean, to_number, to_string

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("text", "number"),
    [("1", 1), (" -1.50\n", -1.5), (".5", 0.5), ("5.", 5), ("007", 7), ("-0", 0)],
)
def test_numbers_are_read_by_the_number_grammar(text: str, number: float) -> None:
    assert to_number(text) == number


@pytest.mark.parametrize(
    "text", ["", " ", "+1", "1e3", "0x10", "1 2", "--1", "- 1", ".", "\xa01", "Infinity", "١"]
)
def test_whatever_else_is_no_number(text: str) -> None:
    assert math.isnan(to_number(text))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1e21, "1000000000000000000000"),
        (2.0**53, "9007199254740992"),
        (1e-7, "0.0000001"),
        (-2.5, "-2.5"),
        (NAN, "NaN"),
        (-INF, "-Infinity"),
        (True, "true"),
    ],
)
def test_numbers_are_written_without_exponent(value: Atomic, text: str) -> None:
    assert to_string(value) == text


@pytest.mark.parametrize(
    ("value", "truth"),
    [("", False), ("0", True), (0.0, False), (NAN, False), (-1.0, True), (False, False)],
)
def test_values_as_booleans(value: Atomic, truth: bool) -> None:
    assert to_boolean(value) is truth


@pytest.mark.parametrize(
    ("left", "sign", "right", "truth"),
    [
        ("1.0", "=", 1.0, True),
        ("1.0", "=", "1", False),
        ("x", "=", True, True),
        ("x", "!=", 1.0, True),
        (NAN, "=", NAN, False),
        (NAN, "!=", NAN, True),
        ("2", "<", "10", True),
        ("a", "<", "b", False),
        (True, ">=", "1", True),
    ],
)
def test_comparisons_convert_first(left: Atomic, sign: str, right: Atomic, truth: bool) -> None:
    assert compare(sign, left, right) is truth


@pytest.mark.parametrize(
    ("function", "arguments", "result"),
    [
        ("substring", ("12345", 2.0), "2345"),
        ("substring", ("12345", 1.5, 2.6), "234"),
        ("substring", ("12345", 0.0, 3.0), "12"),
        ("substring", ("12345", NAN, 3.0), ""),
        ("substring", ("12345", 1.0, NAN), ""),
        ("substring", ("12345", -42.0, INF), "12345"),
        ("substring", ("12345", -INF, INF), ""),
        ("substring", ("12345", -INF), "12345"),
        ("substring-before", ("1999/04", "/"), "1999"),
        ("substring-before", ("abc", ""), ""),
        ("substring-after", ("1999/04", "/"), "04"),
        ("substring-after", ("abc", ""), "abc"),
        ("substring-after", ("abc", "z"), ""),
        ("translate", ("bar", "abc", "AB"), "BAr"),
        ("translate", ("--aaa--", "abc-", "ABC"), "AAA"),
        ("translate", ("aa", "aa", "xy"), "xx"),
        ("normalize-space", (" a\t\n b\xa0 ",), "a b\xa0"),
        ("concat", ("a", "", "b"), "ab"),
        ("string-length", ("é😀",), 2.0),
        ("contains", ("abc", ""), True),
        ("starts-with", ("abc", "b"), False),
        ("round", (2.5,), 3.0),
        ("round", (-2.5,), -2.0),
        ("round", (0.49999999999999994,), 0.0),
        ("floor", (-1.5,), -2.0),
        ("ceiling", (1.2,), 2.0),
        ("mod", (5.0, -2.0), 1.0),
        ("mod", (-5.0, 2.0), -1.0),
        ("mod", (1.5, 0.5), 0.0),
        ("mod", (3.0, INF), 3.0),
        ("div", (1.0, 0.0), INF),
        ("div", (-1.0, 0.0), -INF),
        ("negate", (2.0,), -2.0),
    ],
)
def test_functions(function: str, arguments: tuple[Atomic, ...], result: Atomic) -> None:
    assert call(function, arguments) == result


@pytest.mark.parametrize(
    ("function", "arguments"),
    [("div", (0.0, 0.0)), ("mod", (1.0, 0.0)), ("mod", (INF, 2.0)), ("round", (NAN,))],
)
def test_arithmetic_that_has_no_number(function: str, arguments: tuple[Atomic, ...]) -> None:
    result = call(function, arguments)
    assert isinstance(result, float)
    assert math.isnan(result)


def test_rounding_to_zero_keeps_the_sign() -> None:
    result = call("round", (-0.2,))
    assert isinstance(result, float)
    assert math.copysign(1, result) == -1
