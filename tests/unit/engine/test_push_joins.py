"""Documents that are pushed in are joined in the order of their ends."""

import pytest

import penstock
from penstock.errors import DocumentError
from penstock.results import Result
from tests.unit.joins.test_joiner import SAME, document, pairs, registry_of

LONELY = "S//a->x[k->y] NOT FOLLOWED BY{y = z, 10} S//b[k->z]"


def push(engine: penstock.Engine, name: str, time: float) -> list[Result]:
    given = document(name, time)
    with engine.open(given.id, given.stream, time) as opened:
        rows = opened.feed(str(given.data).encode())
    return rows + opened.results


def test_pushed_documents_give_the_rows_of_run() -> None:
    registry = registry_of(q=SAME)
    registry.add("keys", "//k")
    engine = penstock.Engine(registry)
    rows = push(engine, "a", 1) + push(engine, "b", 3)
    assert rows == list(engine.run([document("a", 1), document("b", 3)]))
    assert [row.subscription for row in rows] == ["keys", "keys", "q"]


def test_documents_that_are_open_at_once_join_in_the_order_of_their_ends() -> None:
    engine = penstock.Engine(registry_of(q=SAME))
    first = engine.open("a1", "S", 1)
    second = engine.open("b2", "S", 2)
    buffer = bytearray(b"<a><k>1</")
    first.feed(buffer)
    buffer[:] = b"<b><k>1</"
    second.feed(buffer)
    second.feed(b"k></b>")
    assert second.finish() == []
    first.feed(b"k></a>")
    assert pairs(first.finish()) == [("a1", "b2")]


def test_closing_the_engine_reports_what_still_waits() -> None:
    engine = penstock.Engine(registry_of(q=LONELY))
    assert push(engine, "a", 1) == []
    assert pairs(engine.close()) == [("a1",)]
    assert engine.close() == []


def test_closing_the_engine_ends_its_joins() -> None:
    engine = penstock.Engine(registry_of(q=SAME))
    push(engine, "a", 1)
    still_open = engine.open("a2", "S", 2)
    engine.close()
    still_open.feed(b"<a><k>1</k></a>")
    still_open.finish()
    assert push(engine, "b", 3) == []
    assert pairs(push(engine, "a", 2.5)) == [("a2.5", "b3")]


def test_a_heartbeat_reports_an_absence_whose_window_has_passed() -> None:
    engine = penstock.Engine(registry_of(q=LONELY), lateness=0)
    push(engine, "a", 1)
    assert engine.heartbeat("S", 11) == []
    assert pairs(engine.heartbeat("S", 11.5)) == [("a1",)]


def test_a_late_document_gives_an_error_row() -> None:
    registry = registry_of(q=SAME)
    registry.add("keys", "//k")
    engine = penstock.Engine(registry, lateness=5)
    push(engine, "b", 20)
    keys, late = push(engine, "a", 2)
    assert keys.subscription == "keys"
    assert late.error is not None
    assert (late.document, late.error.code) == ("a2", "PJ0001")


def test_a_malformed_document_joins_nothing_and_advances_event_time() -> None:
    engine = penstock.Engine(registry_of(q=LONELY), lateness=0)
    push(engine, "a", 1)
    with pytest.raises(DocumentError) as caught, engine.open("broken", "S", 20) as opened:
        opened.feed(b"<a><k>1</k>")
    assert pairs(list(caught.value.results)) == [("a1",)]
    assert engine.close() == []


def test_an_abandoned_document_is_not_joined() -> None:
    engine = penstock.Engine(registry_of(q=SAME))
    opened = engine.open("a1", "S", 1)
    opened.feed(b"<a><k>1</k></a>")
    with pytest.raises(ZeroDivisionError), opened:
        opened.feed(b" "[1 // 0 :])
    assert push(engine, "b", 2) == []


def test_a_subscription_does_not_see_documents_that_were_open_before() -> None:
    registry = registry_of(q=SAME)
    engine = penstock.Engine(registry)
    early = engine.open("a1", "S", 1)
    registry.add("later", penstock.xscl(SAME))
    push(engine, "z", 1.5)
    early.feed(b"<a><k>1</k></a>")
    early.finish()
    assert [row.subscription for row in push(engine, "b", 2)] == ["q"]
    push(engine, "a", 3)
    assert {row.subscription for row in push(engine, "b", 4)} == {"q", "later"}
