"""Published streams: time that passes before they come, sources of the same name, limits."""

from __future__ import annotations

from pathlib import Path

import pytest

import penstock
from penstock import Document, Engine, Limits, Registry
from penstock.schemas import Mode

PAIRS = "SELECT <pair key='{x}'/> FROM S//a->x FOLLOWED BY{x = y, 10} S//b->y PUBLISH pairs"
GONE = "SELECT <gone key='{x}'/> FROM S//a->x NOT FOLLOWED BY{x = y, 4} S//b->y PUBLISH gone"
JOINED = (
    "for $p in stream('pairs')//pair, $c in stream('S')//c where $p/@key = $c "
    "return <j>{$p/@key}</j>"
)
LEFT = (
    "for $g in stream('gone')//gone, $c in stream('S')//c where $g/@key = $c "
    "return <g>{$g/@key}</g>"
)


def registry_of(**queries: penstock.Query | str) -> Registry:
    registry = Registry()
    for name, query in queries.items():
        registry.add(name, query)
    return registry


def at(time: float, *elements: str) -> Document:
    xml = "".join(f"<{one[0]}>{one[1:]}</{one[0]}>" for one in elements)
    return Document(f"<r>{xml}</r>", stream="S", time=time)


def values(engine: Engine, name: str, source: object) -> list[str | None]:
    rows = engine.run(source)  # type: ignore[arg-type]
    return [row.value for row in rows if row.subscription == name]


def test_bindings_wait_for_what_is_published_late() -> None:
    registry = registry_of(gone=penstock.xscl(GONE), left=penstock.xquery(LEFT, within="5"))
    documents = [at(7, "c1"), at(10, "a1"), at(14, "x"), at(15, "x")]
    assert values(Engine(registry, lateness=0), "left", documents) == ['<g key="1"/>']


def test_what_is_published_late_is_not_late() -> None:
    registry = registry_of(gone=penstock.xscl(GONE), left=penstock.xquery(LEFT, within="50"))
    documents = [at(7, "c1"), at(10, "a1"), at(40, "x")]
    rows = [*Engine(registry, lateness=0).run(documents)]
    assert [row.value for row in rows] == ['<gone key="1"/>', '<g key="1"/>']


def test_a_source_may_have_the_name_of_a_published_stream() -> None:
    registry = registry_of(pairs=penstock.xscl(PAIRS), joined=penstock.xquery(JOINED))
    documents = [at(0, "c1", "c2"), at(1, "a1"), at(2, "b1")]
    sources = {"pairs": ["<pair key='2'/>"], "S": documents}
    found = values(Engine(registry), "joined", sources)
    assert sorted(map(str, found)) == ['<j key="1"/>', '<j key="2"/>']


def test_a_heartbeat_publishes() -> None:
    registry = registry_of(gone=penstock.xscl(GONE), path="//gone/@key")
    engine = Engine(registry, lateness=0)
    with engine.open(stream="S", time=10) as document:
        document.feed(b"<r><a>1</a></r>")
    rows = engine.heartbeat("S", 15)
    assert [(row.subscription, row.value) for row in rows] == [
        ("gone", '<gone key="1"/>'),
        ("path", "1"),
    ]
    assert engine.close() == []


def test_a_push_reads_what_it_publishes() -> None:
    registry = registry_of(pairs=penstock.xscl(PAIRS), path="//pair/@key")
    engine = Engine(registry)
    assert engine.push(at(0, "a1")) == []
    rows = engine.push(at(1, "b1"))
    assert [(row.subscription, row.stream) for row in rows] == [("pairs", "S"), ("path", "pairs")]
    found = engine.push_many([at(2, "a2"), at(3, "b2")])
    assert found.joined.column("subscription").to_pylist() == ["pairs"]
    assert found.documents.column("stream").to_pylist() == ["S", "S", "pairs"]
    assert found.fragments.column("value").to_pylist() == ["2"]


def test_the_end_publishes() -> None:
    registry = registry_of(gone=penstock.xscl(GONE), path="//gone/@key")
    engine = Engine(registry)
    assert engine.push(at(10, "a1")) == []
    assert [row.subscription for row in engine.close()] == ["gone", "path"]


def test_what_is_halted_publishes_nothing() -> None:
    registry = registry_of(
        gone=penstock.xscl(GONE), left=penstock.xquery(LEFT, within="5"), path="//gone/@key"
    )
    engine = Engine(registry, lateness=0)
    assert engine.push(at(7, "c1")) == []
    assert engine.push(at(10, "a1")) == []
    needed = engine.halt()
    assert needed is not None
    assert engine.close() == []
    again = Engine(registry, lateness=0)
    documents = {time: at(time, one) for time, one in ((7, "c1"), (10, "a1"), (15, "x"))}
    read = [one for time, one in documents.items() if time >= needed.timestamp()]
    rows = [row for one in read for row in again.push(one)]
    assert [row.subscription for row in rows] == ["gone", "left", "path"]


def test_joins_of_what_is_published_need_the_documents_that_it_was_made_of() -> None:
    joined = penstock.xquery(JOINED, within="5")
    registry = registry_of(pairs=penstock.xscl(PAIRS), joined=joined)
    engine = Engine(registry, lateness=0)
    documents = {time: at(time, one) for time, one in ((100, "a1"), (110, "b1"), (113, "x"))}
    for one in documents.values():
        engine.push(one)
    needed = engine.halt()
    assert needed is not None
    again = Engine(registry, lateness=0)
    for time, one in documents.items():
        if time >= needed.timestamp():
            again.push(one)
    assert [row.value for row in again.push(at(115, "c1"))] == ['<j key="1"/>']


def test_rows_given_up_publish_nothing_later() -> None:
    registry = registry_of(pairs=penstock.xscl(PAIRS), path="//pair/@key")
    engine = Engine(registry)
    assert engine.push(at(0, "a1")) == []
    document = engine.open(stream="S", time=1)
    document.feed(b"<r><b>1</b></r>")
    batches = document.finish_in_batches()
    next(batches)
    batches.close()
    assert engine.push(at(2, "x")) == []


def test_ends_are_those_of_documents_that_were_given() -> None:
    registry = registry_of(pairs=penstock.xscl(PAIRS), path="//pair/@key")
    rows = [*Engine(registry).run([at(0, "a1"), at(1, "b1")], ends=True)]
    assert [(row.subscription, row.stream, row.kind) for row in rows] == [
        (None, "S", "end"),
        ("pairs", "S", "message"),
        ("path", "pairs", "attribute"),
        (None, "S", "end"),
    ]


def test_under_a_schema_time_and_the_end_publish_as_well(tmp_path: Path) -> None:
    (tmp_path / "item.dtd").write_text("<!ELEMENT item (#PCDATA)>")
    schema = penstock.schema(tmp_path / "item.dtd")
    registry = registry_of(gone=penstock.xscl(GONE), path="//gone/@key")
    engine = Engine(registry, lateness=0, schemas={"items": schema})
    assert engine.push(at(10, "a1")) == []
    assert [row.value for row in engine.heartbeat("S", 15)] == ['<gone key="1"/>', "1"]
    assert engine.push(at(20, "a2")) == []
    assert [row.value for row in engine.close()] == ['<gone key="2"/>', "2"]


def test_an_event_that_passes_a_limit_is_an_error_of_its_stream() -> None:
    registry = registry_of(pairs=penstock.xscl(PAIRS), many="//@* | //pair")
    rows = [*Engine(registry, Limits(results_max=1)).run([at(0, "a1"), at(1, "b1")])]
    errors = [(row.subscription, row.stream) for row in rows if row.error is not None]
    assert errors == [("many", "pairs")]


def test_a_change_takes_effect_with_the_next_event() -> None:
    registry = registry_of(pairs=penstock.xscl(PAIRS))
    found = []
    rows = Engine(registry).run([at(0, "a1", "a2"), at(1, "b1"), at(2, "b2")])
    for row in rows:
        found.append((row.subscription, row.value))
        if len(found) == 1:
            registry.add("path", "//pair/@key")
    assert ("path", "2") in found


def test_a_run_that_is_left_early_leaves_no_event_behind() -> None:
    registry = registry_of(pairs=penstock.xscl(PAIRS), path="//pair/@key")
    engine = Engine(registry)
    document = engine.open(stream="S", time=0)
    document.feed(b"<r><a>1</a></r>")
    document.finish()
    second = engine.open(stream="S", time=1)
    second.feed(b"<r><b>1</b></r>")
    rows = second.finish_in_batches()
    assert [row.subscription for row in next(rows)] == ["pairs"]
    rows.close()  # type: ignore[attr-defined]
    third = engine.open(stream="S", time=2)
    third.feed(b"<r/>")
    assert third.finish() == []


@pytest.mark.parametrize("mode", ["trust", "verify"])
def test_engines_with_schemas_read_what_is_published(mode: Mode, tmp_path: Path) -> None:
    path = tmp_path / "r.dtd"
    path.write_text("<!ELEMENT r (a|b)*><!ELEMENT a (#PCDATA)><!ELEMENT b (#PCDATA)>")
    schema = penstock.schema(path, mode=mode)
    registry = registry_of(pairs=penstock.xscl(PAIRS), path="//pair/@key")
    engine = Engine(registry, schemas={"S": schema})
    assert values(engine, "path", [at(0, "a1"), at(1, "b1")]) == ["1"]
