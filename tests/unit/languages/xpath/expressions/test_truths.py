"""Truth values: comparisons by section 3.4 of XPath 1.0, connectives and calls."""

import pytest

from tests.unit.languages.xpath.lowered import expression


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        ("a = ..", "child::a = parent::node()"),
        ("a < ..", "child::a < parent::node()"),
        (".. = 'x'", "parent::node() = 'x'"),
        ("'x' != ..", "parent::node() != 'x'"),
        ("1 < ..", "parent::node() > 1"),
        (".. >= 'x'", "parent::node() >= number('x')"),
        (".. = 1", "parent::node() = 1"),
        (".. = true()", "boolean(parent::node()) = true()"),
        ("(1 < 2) = ..", "(1 < 2) = boolean(parent::node())"),
        (".. < true()", "number(boolean(parent::node())) < number(true())"),
        ("count(..) = 1", "count(parent::node()) = 1"),
        ("count(..) = '1'", "count(parent::node()) = number('1')"),
        ("count(..) = true()", "boolean(count(parent::node())) = true()"),
        ("string(..) = 'x'", "string(parent::node()) = 'x'"),
        ("string(..) < 'x'", "number(string(parent::node())) < number('x')"),
        ("name(..) != string(.)", "name(parent::node()) != string(.)"),
    ],
)
def test_a_comparison_converts_both_sides(predicate: str, expected: str) -> None:
    # What twigs could say as well is tried beside something that they cannot.
    assert expression(f"/x[id('i')][{predicate}]") == f"/child::x[id('i')][{expected}]"


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        ("../a and b", "parent::node()/child::a and child::b"),
        ("(.. or b) and c", "(parent::node() or child::b) and child::c"),
        ("not(..)", "not(parent::node())"),
        ("boolean(..)", "parent::node()"),
        ("true() and ..", "true() and parent::node()"),
        ("contains(.., 'x')", "boolean(contains(string(parent::node()), 'x'))"),
        ("starts-with(name(..), 'x')", "boolean(starts-with(name(parent::node()), 'x'))"),
        ("'x' and ..", "boolean('x') and parent::node()"),
        ("$yes and ..", "true() and parent::node()"),
    ],
)
def test_truths_are_explicit(predicate: str, expected: str) -> None:
    found = expression(f"/x[{predicate}]", variables={"yes": True})
    assert found == f"/child::x[{expected}]"
