"""Values that variables of XQuery get from outside, where a query is evaluated or registered."""

import pickle

import pytest

import penstock
from penstock import Document, QueryError, Registry, evaluate, xquery

PAIRS = "for $a in //b, $o in $other//i where $a/@n = $o/@n return string($a)"
GIVEN = "<a><b n='1'>x</b><b n='2'>y</b></a>"
OTHER = Document("<l><i n='2'/></l>")


def test_a_variable_may_have_its_value_from_evaluate_alone() -> None:
    query = xquery("declare variable $x as xs:integer external; $x + $y")
    assert evaluate(query, None, variables={"x": 1, "y": 2}) == [3]
    assert evaluate(query, None, variables={"x": 2, "y": 2}) == [4]


def test_a_stream_may_be_named_by_a_variable_that_comes_later() -> None:
    query = xquery("count(doc($name)//b), count($name)")
    assert evaluate(query, GIVEN, variables={"name": "orders"}) == [2, 1]


@pytest.mark.parametrize(
    ("text", "xquery_code", "start"),
    [("1 + $x", "XPST0008", 4), ("declare variable $x external; $y", "XPDY0002", 17)],
)
def test_a_variable_without_a_value_is_an_error_at_evaluation_and_registration(
    text: str, xquery_code: str, start: int
) -> None:
    query = xquery(text)
    for ask in (lambda: evaluate(query, GIVEN), lambda: Registry().add("name", query)):
        with pytest.raises(QueryError) as caught:
            ask()
        assert (caught.value.code, caught.value.xquery_code) == ("PQ0115", xquery_code)
        assert caught.value.span == (start, start + 2)


def test_a_query_without_values_can_be_explained() -> None:
    query = xquery("for $b in //b where $b/@n = $x return $b")
    assert "declare variable $x external;" in str(penstock.explain(query))
    assert penstock.verdict(query).suits_endless


def test_a_document_may_come_with_the_query_or_with_evaluate() -> None:
    assert evaluate(xquery(PAIRS), GIVEN, variables={"other": OTHER}) == ["y"]
    query = xquery(PAIRS, variables={"other": OTHER})
    assert evaluate(query, GIVEN) == ["y"]
    assert evaluate(pickle.loads(pickle.dumps(query)), GIVEN) == ["y"]
    first = Document("<l><i n='1'/></l>")
    assert evaluate(query, GIVEN, variables={"other": first}) == ["x"]


def test_a_document_that_nobody_reads_need_not_be_there() -> None:
    assert evaluate(xquery("1 + 1", variables={"other": OTHER}), None) == [2]
