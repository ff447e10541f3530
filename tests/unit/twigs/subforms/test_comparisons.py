"""Comparisons by section 3.4 of XPath 1.0, moved to the node whose value they need."""

import pytest

from tests.unit.languages.xpath.lowered import condition, has_no_twig, value


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        ("a = 'x'", "child::a[string(.) = 'x']"),
        ("a/b != 'x'", "child::a[child::b[string(.) != 'x']]"),
        ("a = 1", "child::a[number(string(.)) = 1]"),
        ("a < 'x'", "child::a[number(string(.)) < number('x')]"),
        (". = 'x'", "string(.) = 'x'"),
        ("@a >= 2", "attribute::a[number(string(.)) >= 2]"),
        ("text() = 'x'", "child::text()[string(.) = 'x']"),
        ("self::y = 'x'", "self::y[string(.) = 'x']"),
        ("(a | @b) = 'x'", "child::a[string(.) = 'x'] or attribute::b[string(.) = 'x']"),
        ("a[b = 1] = 'x'", "child::a[child::b[number(string(.)) = 1]][string(.) = 'x']"),
        ("a = concat('x', 'y')", "child::a[string(.) = concat('x', 'y')]"),
        ("a = 1 + 1", "child::a[number(string(.)) = (1 + 1)]"),
        ("@b/c = 'x'", "false()"),
    ],
)
def test_a_node_set_compares_if_some_node_does(predicate: str, expected: str) -> None:
    assert condition(predicate) == expected


@pytest.mark.parametrize(
    ("predicate", "same"),
    [
        ("'x' = a", "a = 'x'"),
        ("1 < a", "a > 1"),
        ("1 <= a", "a >= 1"),
        ("1 > a", "a < 1"),
        ("1 >= a", "a <= 1"),
        ("'x' = concat(a, 'b')", "concat(a, 'b') = 'x'"),
        ("3 < string-length(a)", "string-length(a) > 3"),
    ],
)
def test_what_varies_stands_on_the_left(predicate: str, same: str) -> None:
    assert condition(predicate) == condition(same)


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        ("a = true()", "child::a"),
        ("a != true()", "not(child::a)"),
        ("false() = a", "not(child::a)"),
        ("a = not(b)", "child::a and not(child::b) or not(child::a) and child::b"),
        ("a < true()", "not(child::a)"),
        ("a >= true()", "child::a"),
        ("a = not('x')", "child::a and not(boolean('x')) or not(child::a) and boolean('x')"),
        ("true() > a", "not(child::a)"),
        ("a <= (b = 1)", "not(child::a) or child::b[number(string(.)) = 1]"),
    ],
)
def test_a_comparison_with_a_boolean_is_one_of_truths(predicate: str, expected: str) -> None:
    assert condition(predicate) == expected


def test_a_truth_and_a_number_compare_as_numbers() -> None:
    assert condition("(a = 'x') < 1") == "number(boolean(child::a[string(.) = 'x'])) < 1"


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (". = concat(@a, 'x')", "string(.) = concat(string(attribute::a), 'x')"),
        ("@a = string(b)", "attribute::a and string(attribute::a) = string(child::b)"),
        (
            "@a != @b",
            "attribute::a and attribute::b and string(attribute::a) != string(attribute::b)",
        ),
        (
            "@a < @b",
            "attribute::a and attribute::b and "
            "number(string(attribute::a)) < number(string(attribute::b))",
        ),
        ("self::y = name()", "self::y and string(.) = name(.)"),
        (". = .", "string(.) = string(.)"),
        (". > @a", "attribute::a and number(string(.)) > number(string(attribute::a))"),
        (
            "string-length(a) > @b",
            "attribute::b and number(string(attribute::b)) < string-length(string(child::a))",
        ),
    ],
)
def test_sides_of_at_most_one_node_compare_by_value(predicate: str, expected: str) -> None:
    assert condition(predicate) == expected


@pytest.mark.parametrize(
    "text",
    [
        "//x[a = b]",
        "//x[a = string(b)]",
        "//x[@* = name()]",
        "//x[p:*/@a = .]",
        "//a = //b",
        "//x[@a = /r/@b]",
        "//x[concat(/r, a) = 'x']",
    ],
)
def test_two_sides_that_vary_have_no_twig(text: str) -> None:
    assert has_no_twig(text, namespaces={"p": "urn:p"})


def test_the_document_element_is_one_node() -> None:
    assert value("/a/@b = /a/@c") == (
        "child::a[attribute::b] and child::a[attribute::c] and "
        "string(child::a/attribute::b) = string(child::a/attribute::c)"
    )
