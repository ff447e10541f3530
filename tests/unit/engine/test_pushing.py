"""Whole documents that are pushed, one by one and in bulk."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.errors import CancelledError, DocumentError
from penstock.limits import Limits
from penstock.results import Document, Heartbeat

MANY = b"<r>" + b"<a/>" * 5 + b"</r>"
PAIR = "S//a->x[k->y] JOIN{y = z, 10} S//b->w[k->z]"
LONELY = "S//a->x[k->y] NOT FOLLOWED BY{y = z, 10} S//b->w[k->z]"


def engine_of(limits: Limits | None = None, **queries: Any) -> penstock.Engine:
    registry = penstock.Registry()
    for name, query in queries.items():
        registry.add(name, query)
    return penstock.Engine(registry, limits)


def joined(name: str, time: float) -> Document:
    return Document(f"<{name}><k>1</k></{name}>".encode(), f"{name}{time:g}", "S", time)


def test_a_pushed_document_gives_the_rows_of_run() -> None:
    engine = engine_of(a="//a", n="count(//a)", m=penstock.xquery("<m>{//a}</m>"))
    given = Document(b"<r><a>1</a><a/></r>", id="d")
    assert engine.push(given) == list(engine.run(given))


def test_a_pushed_document_that_fails_gives_an_error_row() -> None:
    engine = engine_of(a="//a")
    assert [row.error and row.error.code for row in engine.push(b"<r><a/></s>")] == [None, "PD0007"]
    assert [row.value for row in engine.push(b"<r><a/></r>")] == ["<a/>"]


def test_documents_without_an_id_are_numbered() -> None:
    engine = engine_of(a="//a")
    assert [row.document for _ in range(3) for row in engine.push(b"<a/>")] == ["0", "1", "2"]


@pytest.mark.parametrize("way", ["push", "push_many", "open"])
def test_the_errors_of_a_subscription_belong_to_its_document(way: str) -> None:
    engine = engine_of(Limits(results_max=2), a="//a", b="//b")
    errors: list[Any] = []
    if way == "open":
        with engine.open("d") as document:
            errors = [row for row in document.feed(MANY) if row.error]
        errors += [row for row in document.results if row.error]
        found = [(row.subscription, row.error.code) for row in errors]
    elif way == "push":
        rows = [row for row in engine.push(Document(MANY, "d")) if row.error]
        found = [(row.subscription, row.error.code) for row in rows if row.error]
    else:
        many = engine.push_many([Document(MANY, "d"), b"<r><a/></r>"]).errors.to_pylist()
        found = [(row["subscription"], row["error"]["code"]) for row in many]
    assert found == [("a", "PL0016")]
    assert [row.error for row in engine.run(b"<r><a/></r>")] == [None]


@pytest.mark.parametrize("way", ["push", "open"])
def test_pushed_documents_suspend_subscriptions(way: str) -> None:
    engine = engine_of(Limits(results_max=2), a="//a", b="//r")
    for number in range(3):
        if way == "push":
            rows = engine.push(MANY)
        else:
            with engine.open() as document:
                rows = document.feed(MANY)
            rows += document.results
        codes = [row.error.code for row in rows if row.error]
        assert codes == (["PL0016", "PL0018"] if number == 2 else ["PL0016"])
    assert [*engine.suspended()] == ["a"]
    assert [row.subscription for row in engine.push(b"<r><a/></r>")] == ["b"]
    engine.resume("a")
    assert len(engine.push(b"<r><a/></r>")) == 2


def test_pushed_documents_join_those_before() -> None:
    engine = engine_of(pair=penstock.xscl(PAIR), lonely=penstock.xscl(LONELY))
    assert engine.push(joined("a", 1)) == []
    with engine.open("b2", "S", 2) as document:
        document.feed(b"<b><k>1</k></b>")
    assert [row.documents for row in document.results] == [("a1", "b2")]
    assert [row.documents for row in engine.push(joined("b", 3))] == [("a1", "b3")]
    assert len(engine.push(joined("a", 4))) == 2
    assert [row.documents for row in engine.close()] == [("a4",)]


def test_a_heartbeat_lets_absences_go() -> None:
    registry = penstock.Registry()
    registry.add("lonely", penstock.xscl(LONELY))
    engine = penstock.Engine(registry, lateness=0)
    assert engine.push(joined("a", 1)) == []
    assert [row.documents for row in engine.heartbeat("S", 12)] == [("a1",)]
    with pytest.raises(DocumentError):
        engine.heartbeat("S", float("nan"))


def test_joined_rows_stand_beside_matches() -> None:
    engine = engine_of(pair=penstock.xscl(PAIR), keys="//k")
    one = engine.push_many([joined("a", 1), joined("b", 2)])
    assert one.subscriptions().to_pylist() == ["keys", "keys"]
    assert one.joined.column("documents").to_pylist() == [["a1", "b2"]]
    assert len(engine.push_many([]).documents) == 0
    assert len(engine.push_many([joined("b", 3)]).joined) == 1


def test_matches_of_several_portions_are_one() -> None:
    queries = {f"q{number}": f"//item[price = {number}]/name" for number in range(70)}
    engine = engine_of(**queries, a="//a", broken="//b[c]")
    wide = b"<r>" + b"<a/>" * 90_000 + b"</r>"  # too many rows to be read at once
    small = b"<r><item><price>7</price><name>n</name></item></r>"
    documents = [
        Document(data, str(n)) for n, data in enumerate([small, wide, small, b"<r>", wide])
    ]
    one = engine.push_many(documents)
    ids = one.documents.column("document").to_pylist()
    values = one.fragments.column("value").to_pylist()
    found: dict[tuple[str, str], int] = {}
    for name, entry in zip(one.subscriptions().to_pylist(), one.entries.to_pylist(), strict=True):
        key = (name, ids[entry["document"]])
        found[key] = found.get(key, 0) + len(entry["fragments"])
        expected = "<a/>" if name == "a" else "<name>n</name>"
        assert {values[at] for at in entry["fragments"]} == {expected}
    assert found == {("q7", "0"): 1, ("q7", "2"): 1, ("a", "1"): 90_000, ("a", "4"): 90_000}
    assert [row["document"] for row in one.errors.to_pylist()] == ["3"]


def test_changes_are_taken_between_pushed_documents() -> None:
    engine = engine_of(a="//a")
    assert len(engine.push(b"<r><a/><b/></r>")) == 1
    engine.registry.add("b", "//b")
    assert len(engine.push(b"<r><a/><b/></r>")) == 2


def test_several_threads_push_at_once() -> None:
    engine = engine_of(pair=penstock.xscl(PAIR), a="//a")
    documents = [joined("ab"[number % 2], number / 100) for number in range(200)]
    with ThreadPoolExecutor(4) as threads:
        rows = [row for found in threads.map(engine.push, documents) for row in found]
    assert sum(row.subscription == "a" for row in rows) == 100
    assert sum(row.subscription == "pair" for row in rows) == 100 * 100


def test_pushing_leaves_the_event_loop_free() -> None:
    engine = engine_of(a="//a")

    async def main() -> list[list[str | None]]:
        found = await asyncio.gather(*(engine.apush(f"<a>{n}</a>") for n in range(3)))
        return [[row.value for row in rows] for rows in found]

    assert asyncio.run(main()) == [["<a>0</a>"], ["<a>1</a>"], ["<a>2</a>"]]


def test_schemas_hold_for_pushed_documents(tmp_path: Path) -> None:
    file = tmp_path / "r.dtd"
    file.write_text("<!ELEMENT r (a*)><!ELEMENT a (#PCDATA)>")
    registry = penstock.Registry()
    registry.add("a", "//a")
    schema = penstock.schema(file, mode="verify")
    engine = penstock.Engine(registry, schemas={"default": schema})
    for data in (b"<r><a>1</a></r>", b"<r><b><a>2</a></b></r>", b"<r><a>3</a></r>"):
        assert [row.value for row in engine.push(data)] == [
            row.value for row in penstock.Engine(registry).run(data)
        ]


def test_marks_say_where_documents_end() -> None:
    engine = engine_of(a="//a", lonely=penstock.xscl(LONELY))
    same = [Document(data, "same") for data in (b"<a/>", b"<b/>", b"<a>", b"<a/>")]
    rows = list(engine.run(same, ends=True))
    assert [(row.kind, row.ordinal) for row in rows] == [
        ("element", 0),
        ("end", 0),
        ("end", 1),
        ("error", 0),
        ("end", 2),
        ("element", 0),
        ("end", 3),
    ]
    assert [len(rows) for rows in engine.steps(same, ends=True)][:2] == [2, 1]
    streams = {"S": [b"<a/>", b"<b/>"], "T": [b"<a/>"]}
    ends = [row for row in engine.run(streams, ends=True) if row.kind == "end"]
    assert sorted(row.ordinal for row in ends) == [0, 1, 2]


def test_the_end_of_a_document_comes_behind_all_its_rows() -> None:
    engine = engine_of(pair=penstock.xscl(PAIR))
    documents = [joined("a", 1), *(joined("b", number) for number in range(2, 5))]
    rows = list(engine.run(documents, ends=True))
    assert [row.kind for row in rows] == ["end", "event", "end", "event", "end", "event", "end"]


def test_a_run_that_is_halted_reports_no_absence_that_is_not_due() -> None:
    engine = engine_of(lonely=penstock.xscl(LONELY))

    def source(is_halted: bool) -> Iterator[Document | Heartbeat]:
        yield joined("a", 1)
        if is_halted:
            assert engine.halt() is not None
        yield joined("a", 2)

    assert len(list(engine.run(source(is_halted=False)))) == 2
    assert list(engine.run(source(is_halted=True))) == []


def test_a_halted_run_reads_no_further_under_schemas(tmp_path: Path) -> None:
    file = tmp_path / "r.dtd"
    file.write_text("<!ELEMENT r (a*)><!ELEMENT a (#PCDATA)>")
    registry = penstock.Registry()
    registry.add("a", "//a")
    engine = penstock.Engine(registry, schemas={"S": penstock.schema(file, mode="verify")})
    given: list[int] = []

    def source() -> Iterator[Document]:
        for number in range(20):
            given.append(number)
            if number == 3:
                engine.halt()
            yield Document(b"<r><a/></r>", stream="ST"[number % 2])

    assert len(list(engine.run(source()))) == 3
    assert len(given) <= 5


@pytest.mark.parametrize("way", ["halt", "cancel"])
def test_a_run_that_waits_for_its_sources_is_woken(way: str) -> None:
    engine = engine_of(a="//a")
    rows = engine.run({"S": waiting(engine, way), "T": [b"<a/>"]})
    if way == "halt":
        assert len(list(rows)) <= 2
    else:
        with pytest.raises(CancelledError):
            list(rows)


def waiting(engine: penstock.Engine, way: str) -> Iterator[bytes]:
    yield b"<a/>"
    getattr(engine, way)()
    # Whatever comes now comes too late; the thread that reads it is left alone.
    yield b"<a/>"


def test_what_joins_need_is_known() -> None:
    assert engine_of(a="//a").needs_from() is None
    engine = engine_of(pair=penstock.xscl(PAIR))
    engine.push(joined("a", 100))
    needed = engine.needs_from()
    assert needed is not None
    assert needed.year == 1  # nothing is ever late without a lateness
    registry = penstock.Registry()
    registry.add("pair", penstock.xscl(PAIR))
    engine = penstock.Engine(registry, lateness=5)
    engine.push(joined("a", 100))
    needed = engine.needs_from()
    assert needed is not None
    assert needed.timestamp() == pytest.approx(100 - 5 - 10, abs=0.001)
