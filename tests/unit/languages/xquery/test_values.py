"""External variables: values from Python, as literals and as JSON."""

import json
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from penstock import Document
from penstock.languages.xquery import bind, xquery
from penstock.languages.xquery.values import documents_of
from penstock.twigs import sequences as q
from tests.unit.languages.xquery.asking import printed, rejected

ZONE = timezone(timedelta(hours=-5, minutes=-30))


def value_of(value: object) -> q.Item:
    query = xquery("$x", variables={"x": value})
    again = xquery(query.text, **json.loads(json.dumps(query.options)))
    assert again == query
    output = query.output
    assert isinstance(output, q.Sequences)
    return output.variables[0].value


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (5, "integer", "5"),
        (-(2**63), "integer", "-9223372036854775808"),
        (1.5, "double", "1.5"),
        (1e300, "double", "1.0E300"),
        (-0.0, "double", "-0"),
        (float("nan"), "double", "NaN"),
        (float("-inf"), "double", "-INF"),
        (Decimal("1.50"), "decimal", "1.5"),
        (Decimal("-1E+3"), "decimal", "-1000"),
        ("a'b", "string", "a'b"),
        (True, "boolean", "true"),
        (date(2024, 2, 29), "date", "2024-02-29"),
        (datetime(2024, 2, 29, 12, 30), "dateTime", "2024-02-29T12:30:00"),
        (datetime(2024, 2, 29, 12, 30, 1, 500000, ZONE), "dateTime", "2024-02-29T12:30:01.5-05:30"),
        (datetime(2024, 2, 29, tzinfo=UTC), "dateTime", "2024-02-29T00:00:00Z"),
        (time(1, 2, 3), "time", "01:02:03"),
        (
            timedelta(days=1, hours=2, seconds=3, microseconds=40),
            "dayTimeDuration",
            "P1DT2H3.00004S",
        ),
        (-timedelta(minutes=90), "dayTimeDuration", "-PT1H30M"),
        (timedelta(), "dayTimeDuration", "PT0S"),
        ({"xs:date": " 2024-02-29 "}, "date", "2024-02-29"),
        ({"xs:untypedAtomic": " 5 "}, "untypedAtomic", " 5 "),
        ({"xs:yearMonthDuration": "P1Y2M"}, "yearMonthDuration", "P1Y2M"),
        ({"xs:anyURI": "u:x"}, "anyURI", "u:x"),
        ({"xs:integer": "+07"}, "integer", "7"),
        ({"xs:float": "1.5"}, "float", "1.5"),
    ],
)
def test_a_python_value_is_a_literal_and_survives_json(value: object, kind: str, text: str) -> None:
    assert value_of(value) == q.Atomic(kind, text)


def test_a_list_is_a_sequence() -> None:
    assert value_of([1, "a", date(2024, 1, 1)]) == q.Sequence(
        (q.Atomic("integer", "1"), q.Atomic("string", "a"), q.Atomic("date", "2024-01-01"))
    )
    assert value_of(()) == q.Sequence(())


def test_a_document_is_a_stream_of_its_own() -> None:
    document = Document(b"<a/>")
    assert value_of(document) == q.Stream("$x")
    assert value_of({"stream": "orders"}) == q.Stream("orders")
    assert documents_of({"x": document, "y": 1}) == {"x": document}


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"x",
        object(),
        2**63,
        Decimal("NaN"),
        "\x00",
        "\ud800",
        [[1]],
        [None],
        {},
        {"xs:date": "2024-13-01"},
        {"xs:date": 1},
        {"xs:QName": "a"},
        {"xs:foo": "a"},
        {"xs:integer": "9" * 19},
        {"xs:dateTime": "2024-01-01T25:00:00"},
        {"xs:dateTime": "2024-01-01T12:00:00+15:00"},
        {"xs:dayTimeDuration": "PT"},
        {"xs:dayTimeDuration": "P1Y"},
        {"a": "b", "c": "d"},
    ],
)
def test_a_value_without_a_counterpart_is_rejected_where_it_is_used(value: Any) -> None:
    assert rejected("1 + $x", variables={"x": value}) == ("PQ0116", None, "$x")
    assert printed("1", variables={"x": value}) == "1"


def test_a_variable_may_get_its_value_later() -> None:
    assert printed("1 + $x") == "declare variable $x external; 1 + $x"
    declared = "declare variable $x as xs:integer external; $x"
    assert printed(declared) == declared
    assert bind(xquery("doc($x)"), {"x": "orders"}) == xquery("doc($x)", variables={"x": "orders"})


def test_a_document_stays_with_its_query() -> None:
    document = Document(b"<a/>")
    query = bind(xquery("$x/* + $y", variables={"x": document}), {"y": 1})
    assert query.documents == {"x": document}
    assert bind(query, {"x": 1}).documents == {}


def test_a_variable_without_a_value_is_rejected() -> None:
    assert rejected("1 + $x") == ("PQ0115", "XPST0008", "$x")
    assert rejected("declare variable $x as xs:integer external; $x")[:2] == ("PQ0115", "XPDY0002")


def test_a_declared_external_variable_keeps_its_type() -> None:
    text = "declare variable $x as xs:integer external; $x + $y"
    form = "declare variable $x as xs:integer := 1; declare variable $y := 2; $x + $y"
    assert printed(text, variables={"x": 1, "y": 2}) == form


def test_a_value_of_the_query_is_not_replaced_from_outside() -> None:
    assert printed("declare variable $x := 1; $x", variables={"x": 2}).endswith(":= 1; $x")
    assert printed("for $x in 1 return $x", variables={"x": 2}) == "for $x in 1 return $x"


@pytest.mark.parametrize("name", ["p:x", "{u}x"])
def test_a_variable_in_a_namespace_is_found_by_prefix_or_uri(name: str) -> None:
    text = "declare namespace p = 'u'; $p:x + $x"
    form = "declare variable $x := 1; declare variable $x_2 := 2; $x + $x_2"
    assert printed(text, variables={name: 1, "x": 2}) == form


def test_only_the_variables_that_are_used_are_kept() -> None:
    assert xquery("$x", variables={"x": 1, "y": 2}).options == {"variables": {"x": 1}}
