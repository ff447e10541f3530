"""Strings and numbers: every conversion is written out."""

import pytest

from tests.unit.languages.xpath.lowered import expression


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("concat(.., 1, true())", "concat(string(parent::node()), string(1), string(true()))"),
        ("string(../a)", "string(parent::node()/child::a)"),
        ("string()", "string(.)"),
        ("number()", "number(string(.))"),
        ("number(../a) + '1'", "(number(string(parent::node()/child::a)) + number('1'))"),
        ("normalize-space()", "normalize-space(string(.))"),
        ("string-length()", "string-length(string(.))"),
        ("substring(.., 2)", "substring(string(parent::node()), 2)"),
        ("name()", "name(.)"),
        ("local-name(..)", "local-name(parent::node())"),
        ("namespace-uri(a | b)", "namespace-uri(child::a | child::b)"),
        ("-count(a)", "negate(count(child::a))"),
        ("sum(a) div 2 mod 3", "((sum(child::a) div 2) mod 3)"),
        ("floor(.)", "floor(number(string(.)))"),
    ],
)
def test_a_value_is_converted_to_what_is_asked_for(text: str, expected: str) -> None:
    # The comparison with a count keeps every one of them from being a twig.
    assert expression(f"//x[count(*) = {text}]") == (
        f"/descendant::x[count(child::*) = {to_number(text, expected)}]"
    )


def to_number(text: str, expected: str) -> str:
    """Return an expected value as a comparison with a number has it."""
    is_number = text.startswith(("number", "string-length", "-", "sum", "floor"))
    return expected if is_number else f"number({expected})"


@pytest.mark.parametrize("text", ["position()", "last()", "position() + 0", "string(last())"])
def test_outside_of_predicates_there_is_one_node(text: str) -> None:
    assert "1" in expression(text)


def test_a_position_belongs_to_the_nearest_predicate() -> None:
    found = expression("/a[count(b[position() = 2]) = position()]")
    assert found == "/child::a[count(child::b[position() = 2]) = position()]"
