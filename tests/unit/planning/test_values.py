"""Atomic values by sections 3 and 4 of XPath 1.0."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.planning.values import boolean_of, call, compare, number_of, string_of
from penstock.twigs.slots import Atom
from penstock_testing.reference import values as reference
from penstock_testing.reference.functions import call as reference_call

ATOMS: st.SearchStrategy[Atom] = st.one_of(
    st.booleans(), st.floats(), st.text(max_size=4), st.sampled_from(["1", " -2.5 ", "1e3", "+1"])
)


def same(left: Atom, right: Atom) -> bool:
    """Compare with NaN equal to itself and -0 different from 0."""
    return type(left) is type(right) and repr(left) == repr(right)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1e21, "1000000000000000000000"),
        (1.5e-7, "0.00000015"),
        (-123.456, "-123.456"),
        (math.nan, "NaN"),
        (-math.inf, "-Infinity"),
        (True, "true"),
    ],
)
def test_numbers_are_written_without_exponent(value: Atom, text: str) -> None:
    assert string_of(value) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        (" -1.5\n", -1.5),
        (".5", 0.5),
        ("5.", 5),
        ("--1", None),
        ("1e3", None),
        ("", None),
    ],
)
def test_strings_are_numbers_only_as_xpath_writes_them(text: str, value: float | None) -> None:
    found = number_of(text)
    assert math.isnan(found) if value is None else found == value


@pytest.mark.parametrize(
    ("function", "arguments", "value"),
    [
        ("substring", ["12345", 1.5, 2.6], "234"),
        ("substring", ["12345", 0.0, 3.0], "12"),
        ("substring", ["12345", math.nan, 3.0], ""),
        ("substring", ["12345", -42.0, math.inf], "12345"),
        ("substring", ["12345", -math.inf, math.inf], ""),
        ("substring", ["12345", -math.inf], "12345"),
        ("substring-before", ["a-b-c", "-"], "a"),
        ("substring-before", ["abc", ""], ""),
        ("substring-after", ["a-b-c", "-"], "b-c"),
        ("substring-after", ["abc", "x"], ""),
        ("translate", ["bar", "abc", "AB"], "BAr"),
        ("translate", ["--aa--", "abc-", "ABC"], "AA"),
        ("translate", ["aa", "aa", "xy"], "xx"),
        ("normalize-space", ["  a \n b "], "a b"),
        ("round", [-0.5], -0.0),
        ("round", [2.5], 3.0),
        ("floor", [-0.1], -1.0),
        ("ceiling", [-0.1], -0.0),
        ("mod", [5.0, -2.0], 1.0),
        ("mod", [-5.0, 2.0], -1.0),
        ("div", [1.0, -0.0], -math.inf),
        ("string-length", ["a𐀀"], 2.0),
    ],
)
def test_functions_follow_the_specification(
    function: str, arguments: list[Any], value: Atom
) -> None:
    assert same(call(function, arguments), value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_written_number_reads_back_and_is_as_short_as_that_allows(number: float) -> None:
    text = string_of(number)
    assert number_of(text) == number
    assert not any(mark in text for mark in "eE+")
    assert not text.endswith(".0")


@given(ATOMS, ATOMS, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]))
def test_conversions_and_comparisons_agree_with_the_reference(
    left: Atom, right: Atom, sign: str
) -> None:
    assert compare(sign, left, right) == reference.compare(sign, left, right)
    assert same(number_of(left), reference.to_number(left))
    assert boolean_of(left) == reference.to_boolean(left)


@given(
    st.sampled_from(["substring", "+", "-", "*", "div", "mod", "floor", "ceiling", "round"]),
    st.text("ab𐀀 ", max_size=6),
    st.floats(),
    st.floats(),
)
def test_functions_agree_with_the_reference(
    function: str, text: str, left: float, right: float
) -> None:
    arguments: list[Atom] = [left, right]
    if function == "substring":
        arguments = [text, left, right]
    elif function in ("floor", "ceiling", "round"):
        arguments = [left]
    assert same(call(function, arguments), reference_call(function, arguments))
