"""The reference evaluator of XQuery, where Saxon and the corpus do not look."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from penstock.languages.xquery import functions, xquery
from penstock_testing.sequences import (
    DynamicError,
    Row,
    evaluate_sequences,
    python_value,
    rows_of,
    serialise,
)
from penstock_testing.sequences.describing import canonical
from penstock_testing.sequences.functions import FUNCTIONS
from penstock_testing.sequences.items import Atom
from penstock_testing.tree import parse

BESIDE = ("position", "last", "doc", "document", "stream", "collection")
"""Functions that the front end makes something else of."""


def values(text: str) -> list[object]:
    items = evaluate_sequences(xquery(text), None)
    assert all(isinstance(item, Atom) for item in items)
    return [python_value(item) for item in items if isinstance(item, Atom)]


def test_every_function_of_the_language_is_there_with_its_arities() -> None:
    for name, arities in functions.FUNCTIONS.items():
        if name in BESIDE:
            continue
        for arity in (min(arities), min(max(arities), 5)):
            assert FUNCTIONS[name].least <= arity <= FUNCTIONS[name].most, name


def test_values_of_python() -> None:
    assert values("1, 1.5, 1e0, 'a', true()") == [1, Decimal("1.5"), 1.0, "a", True]
    assert values("xs:date('2024-05-01'), xs:dayTimeDuration('PT1.5S')") == [
        date(2024, 5, 1),
        timedelta(seconds=1.5),
    ]
    assert values("xs:dateTime('2024-05-01T10:00:00.25Z')") == [
        datetime(2024, 5, 1, 10, 0, 0, 250_000, UTC)
    ]
    assert values("xs:time('10:00:00'), xs:date('2024-05-01Z')") == ["10:00:00", "2024-05-01Z"]


def test_without_a_document_there_is_no_context_item() -> None:
    with pytest.raises(DynamicError) as error:
        evaluate_sequences(xquery("//a"), None)
    assert error.value.code == "XPDY0002"


def test_a_stream_is_the_document_unless_another_one_is_given() -> None:
    query = xquery("string(doc('x')/*), string(stream('y')/*)")
    tree, other = parse("<a>1</a>"), parse("<a>2</a>")
    found = evaluate_sequences(query, tree, documents={"y": other})
    assert serialise(found) == "1 2"


def test_nodes_of_several_documents_come_one_document_after_the_other() -> None:
    query = xquery("for $n in (stream('y')//b | //b) return string($n)")
    tree, other = parse("<a><b>1</b></a>"), parse("<a><b>2</b></a>")
    found = evaluate_sequences(query, tree, documents={"y": other})
    assert serialise(found) == "1 2"


def test_a_variable_without_a_use_is_not_evaluated() -> None:
    assert values("declare variable $x := error(); 1") == [1]


def test_endless_recursion_ends() -> None:
    text = "declare function local:f($n) { local:f($n + 1) }; local:f(0)"
    with pytest.raises(DynamicError, match="nest deeper"):
        evaluate_sequences(xquery(text), None)


def test_rows_say_where_nodes_of_the_document_lie() -> None:
    rows = rows_of(xquery("//b, <c/>, 1"), parse("<a><b/></a>"))
    assert rows == [
        Row("element", "b", "<b/>", (3, 7)),
        Row("element", "c", "<c/>"),
        Row("number", "{http://www.w3.org/2001/XMLSchema}integer", "1"),
    ]


def test_an_attribute_alone_is_no_xml() -> None:
    with pytest.raises(DynamicError) as error:
        serialise(evaluate_sequences(xquery("//@x"), parse("<a x='1'/>")))
    assert error.value.code == "SENR0001"


def test_white_space_in_attributes_survives() -> None:
    found = serialise(
        evaluate_sequences(xquery("<a b='{//@x}'/>"), parse("<a x='&#9;&#10;&#13;'/>"))
    )
    assert found == '<a b="&#x9;&#xA;&#xD;"/>'


def test_canonical_xml_ignores_prefixes_and_the_order_of_attributes() -> None:
    one = "<p:a xmlns:p='u' xmlns:unused='v' c='2' b='1'/>"
    assert canonical(one) == canonical("<a xmlns='u' b='1' c='2'></a>")
    assert canonical(one) != canonical("<a b='1' c='2'/>")


def test_numbers_are_compared_in_as_many_digits_as_engines_share() -> None:
    assert canonical("<a>0.3333333333333333333333333333</a>") == canonical(
        "<a>0.333333333333333333</a>"
    )
    assert canonical("<a>0.33333333333</a>") != canonical("<a>0.33333333334</a>")
