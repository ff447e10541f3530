"""However a document ends, the next one finds nothing of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import penstock
from penstock.errors import DocumentError
from penstock.kernel import Plan, Session
from penstock.planning.programs import compile_program
from penstock.routing import Configuration, Server, Stamper
from penstock.sources import Input

QUERIES: dict[str, Any] = {
    "items": penstock.xquery("<m>{for $v in //a return $v}</m>"),
    "rows": penstock.xquery("for $v in //a return $v"),
    "count": "count(//a)",
    "sum": penstock.xquery("sum(//a[. castable as xs:double])"),
    "least": penstock.xquery("<m>{min(//a)}</m>"),
    "paths": "//r[c]/a",
}


class Broken(Input):
    """A document that cannot be read to its end."""

    def pieces(self) -> Iterator[bytes]:
        yield b"<r><a>SECRET</a><a>2</a>"
        raise DocumentError("PS0002", "the file ends early", 0, 0, "")

    def original(self) -> bytes | None:
        return None


def good_rows(rows: Any) -> list[Any]:
    return [(row.subscription, row.kind, row.value) for row in rows if row.document == "good"]


@pytest.mark.parametrize("name", QUERIES)
def test_a_read_that_fails_leaks_nothing_into_the_next_document(name: str) -> None:
    registry = penstock.Registry()
    registry.add("q", QUERIES[name])
    good = penstock.Document(b"<r><c/></r>", id="good")
    expected = good_rows(penstock.Engine(registry).run(good))
    engine = penstock.Engine(registry)
    assert good_rows(engine.run([Broken("bad", "default", None), good])) == expected
    assert good_rows(engine.run(good)) == expected


def test_routing_forgets_a_malformed_document() -> None:
    server = Server({"q": "/r/a"})
    with pytest.raises(DocumentError):
        server.decide(None, b"<r><a></r>")
    assert server.decide(None, b"<r><b/></r>").matches == ()
    assert server.decide(None, b"<r><a/></r>").matches == ("q",)


def test_a_stamper_forgets_a_malformed_document() -> None:
    configuration = Configuration(["/r/a"])
    fresh = Stamper(configuration).stamp(b"<r><b/></r>")
    stamper = Stamper(configuration)
    with pytest.raises(DocumentError):
        stamper.stamp(b"<r><a></r>")
    assert stamper.stamp(b"<r><b/></r>") == fresh


def session_of(query: Any) -> Session:
    return Session(Plan.build([compile_program(query)]))


@pytest.mark.parametrize("name", ["items", "sum", "least"])
def test_a_session_drops_a_document_that_neither_ended_nor_failed(name: str) -> None:
    found = []
    for is_left_open in (True, False):
        session = session_of(QUERIES[name])
        if is_left_open:
            session.begin()
            session.feed(b"<r><a>7</a>")
        session.read([(b"<r><c/></r>", None, "default")], 1)
        found.append(session.take().rows()[0])
    assert found[0] == found[1]


def test_clearing_a_session_drops_what_waits() -> None:
    session = session_of(penstock.xpath("//a"))
    session.begin()
    session.feed(b"<r><a/><a/>")
    assert session.row_count() == 2
    session.clear()
    assert session.row_count() == 0
    session.read_whole(b"<r><a/></r>")
    assert len(session.take().rows()[0]) == 1


def test_abandoning_keeps_what_was_decided() -> None:
    session = session_of(penstock.xpath("//a"))
    session.begin()
    session.feed(b"<r><a/><a>")
    session.abandon()
    assert len(session.take().rows()[0]) == 1
