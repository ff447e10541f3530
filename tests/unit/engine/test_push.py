"""Documents pushed in piece by piece."""

import pickle

import pytest

import penstock
from penstock.errors import DocumentError
from tests.unit.engine.test_engine import QUERIES, SHELF, registry_of


def test_a_result_comes_with_the_piece_that_completes_it() -> None:
    document = penstock.Engine(registry_of({"b": "//b", "n": "count(//b)"})).open(id="d")
    assert document.feed(b"<a><b>") == []
    assert [row.value for row in document.feed(b"1</b><b/")] == ["<b>1</b>"]
    assert [row.value for row in document.feed(b"></a>")] == ["<b/>"]
    assert [(row.document, row.value) for row in document.finish()] == [("d", "2")]
    assert document.is_closed


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 1000])
def test_pieces_of_any_size_give_the_same_rows(size: int) -> None:
    engine = penstock.Engine(registry_of(QUERIES))
    data = SHELF.encode()
    document = engine.open(id="0")
    rows = []
    for start in range(0, len(data), size):
        rows += document.feed(data[start : start + size])
    assert rows + document.finish() == list(engine.run(SHELF))


def test_several_documents_are_open_at_once() -> None:
    engine = penstock.Engine(registry_of(QUERIES))
    expected = [row.as_dict() | {"document": ""} for row in engine.run(SHELF)]
    data = SHELF.encode()
    documents = [engine.open() for _ in range(5)]
    rows: list[list[penstock.Result]] = [[] for _ in documents]
    for start in range(0, len(data), 10):
        for document, found in zip(documents, rows, strict=True):
            found += document.feed(data[start : start + 10])
    for document, found in zip(documents, rows, strict=True):
        found += document.finish()
    assert all([row.as_dict() | {"document": ""} for row in found] == expected for found in rows)
    assert len({found[0].document for found in rows}) == 5


def test_sessions_are_used_again_and_start_anew() -> None:
    engine = penstock.Engine(registry_of({"b": "//b"}))
    for _ in range(3):
        with pytest.raises(DocumentError), engine.open() as document:
            document.feed(b"<a><b></a>")
        with engine.open() as document:
            assert [row.ordinal for row in document.feed(b"<a><b/><b/></a>")] == [0, 1]


def test_leaving_the_block_finishes_the_document() -> None:
    with penstock.Engine(registry_of({"n": "count(//b)"})).open() as document:
        document.feed(b"<a><b/></a>")
    assert [row.value for row in document.results] == ["1"]
    with pytest.raises(ValueError, match="closed"):
        document.feed(b"<a/>")


def test_leaving_the_block_with_an_incomplete_document_is_an_error() -> None:
    engine = penstock.Engine(registry_of({"b": "//b"}))
    with pytest.raises(DocumentError) as caught, engine.open() as document:
        document.feed(b"<a>")
    assert caught.value.code == "PD0026"


def test_leaving_the_block_by_an_exception_abandons_the_document() -> None:
    engine = penstock.Engine(registry_of({"b": "//b"}))
    with pytest.raises(ZeroDivisionError), engine.open() as document:
        document.feed(b"<a>"[1 // 0 :])
    assert document.is_closed


def test_an_error_carries_what_its_call_decided() -> None:
    document = penstock.Engine(registry_of({"b": "//b"})).open()
    with pytest.raises(DocumentError) as caught:
        document.feed(b"<a><b>1</b></c>")
    assert [row.value for row in caught.value.results] == ["<b>1</b>"]
    copy = pickle.loads(pickle.dumps(caught.value))
    assert copy.results == caught.value.results
    assert document.is_closed


def test_a_large_element_is_streamed_out_before_it_is_complete() -> None:
    engine = penstock.Engine(registry_of({"b": "//b"}))
    document = engine.open(parts=True)
    rows = document.feed(b'<a xmlns:p="urn:p"><b>one ')
    rows += document.feed(b"two ")
    assert [row.end for row in rows] == [None, None]
    rows += document.feed(b"three</b></a>")
    rows += document.finish()
    assert len({row.id for row in rows}) == 1
    assert "".join(row.value or "" for row in rows) == "<b>one two three</b>"
    assert "".join(row.xml for row in rows) == '<b xmlns:p="urn:p">one two three</b>'
    assert [row.end for row in rows][-1] == 39
    assert [row.end for row in rows][:-1] == [None] * (len(rows) - 1)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_pieces_of_a_result_expand_entities_outside_of_sections_only(size: int) -> None:
    declared = b"<!DOCTYPE a [<!ENTITY e 'E'><!ENTITY f 'x<b/>y'>]>"
    data = declared + b"<a><b>&e;<![CDATA[&e; ]&e;]]>&e;&f;<!-- &e; --></b></a>"
    document = penstock.Engine(registry_of({"b": "/a/b"})).open(parts=True)
    rows = []
    for start in range(0, len(data), size):
        rows += document.feed(data[start : start + size])
    rows += document.finish()
    assert "".join(row.xml for row in rows) == ("<b>E<![CDATA[&e; ]&e;]]>Ex<b/>y<!-- &e; --></b>")


def test_an_encoding_can_be_given() -> None:
    engine = penstock.Engine(registry_of({"b": "string(//b)"}))
    with engine.open(encoding="ISO-8859-1") as document:
        rows = document.feed("<b>é</b>".encode("latin-1"))
    assert [row.value for row in rows] == ["é"]


def test_an_unknown_encoding_is_an_error() -> None:
    with pytest.raises(DocumentError):
        penstock.Engine(registry_of({"b": "//b"})).open(encoding="klingon")


def test_an_open_document_keeps_its_subscriptions() -> None:
    registry = registry_of({"b": "//b"})
    engine = penstock.Engine(registry)
    with engine.open() as old:
        registry.replace("b", "//c")
        assert [row.name for row in old.feed(b"<a><b/><c/></a>")] == ["b"]
    with engine.open() as new:
        assert [row.name for row in new.feed(b"<a><b/><c/></a>")] == ["c"]
