"""Predicates become conditions at their node."""

import pytest

from tests.unit.languages.xpath.lowered import condition, value


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        ("a", "child::a"),
        ("@a", "attribute::a"),
        ("a/b", "child::a[child::b]"),
        ("a[b]/c", "child::a[child::b][child::c]"),
        (".", "true()"),
        ("self::y", "self::y"),
        ("a | b", "child::a or child::b"),
        ("a and b and c", "child::a and child::b and child::c"),
        ("a and (b or c)", "child::a and (child::b or child::c)"),
        ("not(a)", "not(child::a)"),
        ("boolean(a)", "child::a"),
        ("not(not(a))", "not(not(child::a))"),
        ("true()", "true()"),
        ("false() or a", "child::a"),
        ("contains(a, 'b')", "boolean(contains(string(child::a), 'b'))"),
        ("'text'", "boolean('text')"),
        ("string(a)", "boolean(string(child::a))"),
        ("text()/a", "false()"),
        (".//a", "descendant::a"),
    ],
)
def test_a_predicate_is_a_condition(predicate: str, expected: str) -> None:
    assert condition(predicate) == expected


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        ("/a", "at-root(child::a)"),
        ("/a/b = 1", "at-root(child::a[child::b[number(string(.)) = 1]])"),
        ("/", "at-root(true())"),
        ("//a[@b]", "at-root(descendant::a[attribute::b])"),
        ("contains(/a, 'x')", "at-root(boolean(contains(string(child::a), 'x')))"),
        ("string(/a) = name(/*)", "at-root(string(child::a) = name(child::*))"),
    ],
)
def test_an_absolute_path_is_a_condition_at_the_document_node(
    predicate: str, expected: str
) -> None:
    assert condition(predicate) == expected


def test_at_the_document_node_absolute_paths_are_relative() -> None:
    assert value("/a and b") == "child::a and child::b"
    assert value("not(/a = 1)") == "not(child::a[number(string(.)) = 1])"


def test_several_predicates_are_one_conjunction() -> None:
    assert condition("a][b][c = 'x'") == "child::a and child::b and child::c[string(.) = 'x']"
