"""Loops over one stream: within one document, or over all with a bound."""

from __future__ import annotations

import pytest

import penstock
from penstock import Document, Engine, QueryError, Registry

WHERE = "where $a/k = $b/k return <m>{$a/@n}{$b/@m}</m>"
DOCUMENTS = [
    Document("<r><a n='1'><k>x</k></a><b m='1'><k>x</k></b></r>", stream="s", time=0),
    Document("<r><a n='2'><k>x</k></a><b m='2'><k>y</k></b></r>", stream="s", time=10),
    Document("<r><b m='3'><k>x</k></b></r>", stream="t", time=20),
]
ONE = ['<m n="1" m="1"/>']
ALL = ['<m n="1" m="1"/>', '<m n="2" m="1"/>']


def messages(text: str, **options: object) -> list[str]:
    registry = Registry()
    registry.add("q", penstock.xquery(text, **options))  # type: ignore[arg-type]
    return sorted(str(row.value) for row in Engine(registry).run(DOCUMENTS))


@pytest.mark.parametrize(
    "loops",
    [
        "for $a in doc('s')//a, $b in doc('s')//b ",
        "for $a in document('s')//a for $b in doc('s')//b ",
        "for $a in doc('s')//a return for $b in doc('s')//b ",
        "for $a in doc('s')//a, $b in //b ",
    ],
)
def test_loops_over_one_document_join_within_it(loops: str) -> None:
    assert messages(loops + WHERE) == ONE


def test_loops_from_the_root_join_within_each_document() -> None:
    assert messages("for $a in //a, $b in //b " + WHERE) == ONE


WHOLE = [
    "for $a in stream('s')//a, $b in stream('s')//b ",
    "for $a in collection('s')//a, $b in doc('s')//b ",
    "for $a in doc('s')//a return for $b in stream('s')//b ",
    "for $a in stream('s')//a, $b in //b ",
    "declare variable $s := stream('s'); for $a in $s//a, $b in $s//b ",
]


@pytest.mark.parametrize("loops", WHOLE)
def test_loops_over_all_documents_join_them_with_a_bound(loops: str) -> None:
    assert messages(loops + WHERE, within="INF") == ALL
    assert messages(loops + WHERE, within=10) == ALL
    assert messages(loops + WHERE, within=9) == ONE


@pytest.mark.parametrize("loops", WHOLE)
def test_loops_over_all_documents_need_a_bound(loops: str) -> None:
    with pytest.raises(QueryError, match="join all documents of `s`") as caught:
        Registry().add("q", penstock.xquery(loops + WHERE))
    assert caught.value.code == "PQ0539"
    assert "within='2 h'" in (caught.value.help or "")
    assert "doc('s')" in (caught.value.help or "")


def test_a_third_loop_over_another_stream_changes_nothing() -> None:
    third = "$c in stream('t')//b where $a/k = $b/k and $c/k = $a/k return <m>{$a/@n}{$b/@m}</m>"
    assert messages("for $a in doc('s')//a, $b in doc('s')//b, " + third) == ONE
    whole = "for $a in stream('s')//a, $b in stream('s')//b, " + third
    assert messages(whole, within="INF") == ALL
    with pytest.raises(QueryError, match="PQ0539"):
        messages(whole)


def test_loops_over_one_document_need_no_equality_beside_a_third() -> None:
    text = (
        "for $a in doc('s')//a, $b in doc('s')//b, $c in doc('t')//b where $c/k = $a/k "
        "return <m>{$a/@n}{$b/@m}</m>"
    )
    assert messages(text) == ['<m n="1" m="1"/>', '<m n="2" m="2"/>']


def test_one_loop_over_a_stream_reads_one_document_after_the_other() -> None:
    assert messages("for $a in stream('s')//a return <m>{$a/@n}</m>") == [
        '<m n="1"/>',
        '<m n="2"/>',
    ]


def test_one_document_is_read_as_all_streams() -> None:
    query = penstock.xquery("for $a in stream('s')//a, $b in stream('s')//b " + WHERE)
    found = penstock.evaluate(query, DOCUMENTS[0])
    assert [one.value for one in found] == ONE  # type: ignore[union-attr]


def test_explain_says_what_is_within_one_document() -> None:
    text = (
        "for $a in doc('s')//a, $b in doc('s')//b, $c in doc('t')//c where $a/k = $b/k "
        "and $a/k = $c/k return <m/>"
    )
    assert "$a and $b from one document" in penstock.explain(penstock.xquery(text))
