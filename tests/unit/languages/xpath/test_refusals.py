"""What is no query is refused by name, with exactly that part underlined."""

import pytest

from penstock.errors import QUERY_CODES, QueryError
from penstock.languages.xpath import xpath
from penstock.languages.xpath.frontend import SELECTED_MAX
from tests.unit.languages.xpath.lowered import refusal


@pytest.mark.parametrize(
    ("text", "code", "underlined"),
    [
        ("avg(//a) > 1", "PQ0208", "avg(//a)"),
        ("//a[max(b) = 1]", "PQ0208", "max(b)"),
        ("foo(1)", "PQ0112", "foo"),
        ("fn:count(//a)", "PQ0112", "fn:count"),
        ("//a[matches(b, 'c')]", "PQ0112", "matches"),
        ("contains('a')", "PQ0113", "contains('a')"),
        ("true(1)", "PQ0113", "true(1)"),
        ("count(1)", "PQ0114", "1"),
        ("name('a')", "PQ0114", "'a'"),
        ("'a'/b", "PQ0114", "'a'"),
        ("a | 1", "PQ0114", "1"),
        ("//a/..[foo()]", "PQ0103", "["),
        ("//a/parent::*[foo()]", "PQ0112", "foo"),
        ("count((1)[2])", "PQ0114", "1"),
        ("'a'[2]", "PQ0114", "'a'"),
        ("//a/namespace::p:x", "PQ0111", "p:x"),
        ("id()", "PQ0113", "id()"),
        ("lang()", "PQ0113", "lang()"),
        ("$v", "PQ0115", "$v"),
        ("//a[$v = 1]", "PQ0115", "$v"),
    ],
)
def test_a_refusal_underlines_the_construct(text: str, code: str, underlined: str) -> None:
    assert refusal(text) == (code, underlined)
    assert code in QUERY_CODES


def test_a_variable_must_be_atomic() -> None:
    assert refusal("//a[. = $v]", variables={"v": ["x"]}) == ("PQ0116", "$v")


def test_a_variable_is_no_node_set() -> None:
    assert refusal("$v/a", variables={"v": "x"}) == ("PQ0114", "$v")


def test_values_beside_a_value_are_refused() -> None:
    assert refusal("count(//a)", select={"b": "b"}) == ("PQ0120", "count(//a)")
    assert refusal("1 + 1", select={"b": "b"}) == ("PQ0120", "1 + 1")


@pytest.mark.parametrize(
    "select",
    [["b"], {"b": 1}, {1: "b"}, "b", {f"n{i}": "b" for i in range(SELECTED_MAX + 1)}],
)
def test_a_select_is_a_map_of_names_to_paths(select: object) -> None:
    assert refusal("//a", select=select) == ("PQ0121", "//a")


def test_many_values_may_be_beside_a_result() -> None:
    xpath("//a", select={f"n{i}": "b" for i in range(SELECTED_MAX)})


def test_a_context_and_a_selected_path_are_underlined_in_their_own_text() -> None:
    for options in ({"context": "'x'"}, {"select": {"name": ["'x'"]}}):
        with pytest.raises(QueryError) as caught:
            xpath("//a", **options)
        assert (caught.value.code, caught.value.text) == ("PQ0114", "'x'")


def test_an_unknown_dialect_is_refused() -> None:
    assert refusal("//a", dialect="xpath3") == ("PQ0117", "//a")


def test_predicates_of_a_path_that_never_matches_are_checked_too() -> None:
    assert refusal("/@a[foo()]") == ("PQ0112", "foo")
