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
    rows = engine.advance(penstock.Heartbeat("S", 15))
    assert [(row.subscription, row.value) for row in rows] == [
        ("gone", '<gone key="1"/>'),
        ("path", "1"),
    ]
    assert engine.close() == []


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
