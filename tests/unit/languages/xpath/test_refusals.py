"""What is not evaluated is refused by name, with exactly that part underlined."""

import pytest

from penstock.errors import QUERY_CODES
from tests.unit.languages.xpath.lowered import refusal


@pytest.mark.parametrize(
    ("text", "code", "underlined"),
    [
        ("//a/..", "PQ0201", ".."),
        ("//a/parent::b[c]", "PQ0201", "parent::b"),
        ("//a[ancestor::b]", "PQ0201", "ancestor::b"),
        ("//a/ancestor-or-self::*", "PQ0201", "ancestor-or-self::*"),
        ("//a/following::b", "PQ0202", "following::b"),
        ("//a/preceding::b", "PQ0202", "preceding::b"),
        ("//a[following-sibling::b = 1]", "PQ0202", "following-sibling::b"),
        ("//a/preceding-sibling::text()", "PQ0202", "preceding-sibling::text()"),
        ("//a/namespace::*", "PQ0203", "namespace::*"),
        ("//a[id('x')]", "PQ0204", "id('x')"),
        ("id('x')/a", "PQ0204", "id('x')"),
        ("//a[3]", "PQ0205", "3"),
        ("//a[b][string-length(c)]", "PQ0205", "string-length(c)"),
        ("//a[-1]", "PQ0205", "-1"),
        ("(//a)[1]", "PQ0205", "1"),
        ("//a[position() = 1]", "PQ0206", "position()"),
        ("//a[last()]", "PQ0206", "last()"),
        ("//a[position() mod 2]", "PQ0206", "position()"),
        ("last()", "PQ0206", "last()"),
        ("//a[lang('en')]", "PQ0207", "lang('en')"),
        ("//a[count(b) > 1]", "PQ0208", "count(b)"),
        ("sum(//a) + 1", "PQ0208", "sum(//a)"),
        ("avg(//a) > 1", "PQ0208", "avg(//a)"),
        ("foo(1)", "PQ0112", "foo"),
        ("fn:count(//a)", "PQ0112", "fn:count"),
        ("//a[matches(b, 'c')]", "PQ0112", "matches"),
        ("contains('a')", "PQ0113", "contains('a')"),
        ("true(1)", "PQ0113", "true(1)"),
        ("count(1)", "PQ0114", "1"),
        ("name('a')", "PQ0114", "'a'"),
        ("'a'/b", "PQ0114", "'a'"),
        ("a | 1", "PQ0114", "1"),
        ("$v", "PQ0115", "$v"),
        ("//a[$v = 1]", "PQ0115", "$v"),
    ],
)
def test_a_refusal_underlines_the_construct(text: str, code: str, underlined: str) -> None:
    assert refusal(text) == (code, underlined)
    assert code in QUERY_CODES


def test_a_numeric_variable_in_a_predicate_is_a_position() -> None:
    assert refusal("//a[$n]", variables={"n": 2}) == ("PQ0205", "$n")


def test_a_variable_must_be_atomic() -> None:
    assert refusal("//a[. = $v]", variables={"v": ["x"]}) == ("PQ0116", "$v")


def test_a_variable_is_no_node_set() -> None:
    assert refusal("$v/a", variables={"v": "x"}) == ("PQ0114", "$v")


def test_select_and_context_are_refused_by_name() -> None:
    assert refusal("//a", select={"b": "b"}) == ("PQ0213", "//a")
    assert refusal("a", context="/r") == ("PQ0214", "a")


def test_an_unknown_dialect_is_refused() -> None:
    assert refusal("//a", dialect="xpath3") == ("PQ0117", "//a")


def test_predicates_of_a_path_that_never_matches_are_checked_too() -> None:
    assert refusal("/@a[id('x')]") == ("PQ0204", "id('x')")
