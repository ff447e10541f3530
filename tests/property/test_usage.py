"""Statistics count every row of every kind of subscription, whichever way documents come in."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import penstock
from penstock import Document, Engine, Registry
from penstock.twigs import Query

SEEDS = 40
JOINED = "for $a in stream('S')//a, $b in stream('T')//b where $a = $b return "
KINDS: dict[str, Query | str] = {
    "path": "//a",
    "expression": "//a[2]",
    "value": "count(//b)",
    "message": penstock.xquery("<m>{for $b in //b return $b}</m>"),
    "loop": penstock.xquery("for $b in //b return <m>{$b}</m>"),
    "table": penstock.table("//a", {"value": "."}),
    "block": penstock.xscl("S//a->x"),
    "pair": penstock.xscl("S//a->x FOLLOWED BY{x = y, 10} T//b->y"),
    "absence": penstock.xscl("S//a->x NOT FOLLOWED BY{x = y, 1} T//b->y"),
    "publisher": penstock.xscl("SELECT x FROM S//a->x JOIN{x = y, 5} T//b->y PUBLISH P"),
    "outline": penstock.xquery(JOINED + "<m>{$a}{$b}</m>", within="2 h"),
    "evaluated": penstock.xquery(JOINED + "<m n='{count(($a, $b))}'/>", within="2 h"),
}


def documents(draw: random.Random) -> Iterator[Document]:
    """Yield random documents of two streams, some of which are malformed."""
    for number in range(draw.randrange(1, 8)):
        parts = [
            f"<{name}>{draw.randrange(3)}</{name}>"
            for name in draw.choices("ab", k=draw.randrange(6))
        ]
        end = "</r>" if draw.random() < 0.9 else "</x>"
        content = f"<r>{''.join(parts)}{end}"
        yield Document(content, id=f"d{number}", stream=draw.choice("ST"), time=number)


def pushed(engine: Engine, given: list[Document]) -> Iterator[penstock.Result]:
    """Yield the rows of documents that are pushed in."""
    for one in given:
        document = engine.open(one.id, stream=one.stream, time=one.time)
        try:
            assert isinstance(one.data, str)
            yield from document.feed(one.data.encode())
            yield from document.finish()
        except penstock.DocumentError as error:
            yield from error.results
    yield from engine.close()


def counted(how: str, engine: Engine, given: list[Document]) -> Counter[str | None]:
    """Return how many rows each subscription has, without those of errors."""
    if how == "batches":
        rows = [
            (row["subscription"], row["kind"])
            for batch in engine.batches(given)
            for row in batch.select(["subscription", "kind"]).to_pylist()
        ]
    else:
        found = pushed(engine, given) if how == "open" else engine.run(given)
        rows = [(row.subscription, row.kind) for row in found]
    return Counter(name for name, kind in rows if kind != "error")


@pytest.mark.filterwarnings("ignore::penstock.PenstockWarning")
@pytest.mark.parametrize("how", ["run", "batches", "open"])
def test_matches_are_the_rows_of_all_kinds_of_subscriptions(how: str) -> None:
    seen: Counter[str | None] = Counter()
    for seed in range(SEEDS):
        draw = random.Random(seed)
        registry = Registry()
        for name in draw.sample([*KINDS], draw.randrange(1, len(KINDS))):
            registry.add(name, KINDS[name])
        engine = Engine(registry)
        rows = counted(how, engine, [*documents(draw)])
        rows += counted(how, engine, [*documents(draw)])
        statistics = engine.statistics()
        assert {one.name: statistics.of(one.name).matches for one in registry} == {
            one.name: rows[one.name] for one in registry
        }, seed
        for name in rows:
            used = statistics.of(str(name))
            assert used.last_match is not None
            assert used.cost_share > 0
        assert sum(one.cost_share for one in statistics.top(100)) == pytest.approx(1 if rows else 0)
        seen += rows
    assert seen.keys() == KINDS.keys()


@pytest.mark.filterwarnings("ignore::penstock.PenstockWarning")
def test_a_document_that_is_read_again_without_its_schema_counts_once(tmp_path: Path) -> None:
    (tmp_path / "r.dtd").write_text(
        "<!ELEMENT r (s*)> <!ELEMENT s (a*, b*)> <!ELEMENT a (#PCDATA)> <!ELEMENT b (#PCDATA)>"
    )
    schema = penstock.schema(tmp_path / "r.dtd")
    registry = Registry()
    registry.add("a", "//s//a")
    registry.add("b", "//b")
    engine = Engine(registry, schemas={"default": schema})
    fitting, breaking = "<r><s><a/><b/></s></r>", "<r><x><s><a/></s></x><s><b/><a/></s></r>"
    rows = Counter(row.subscription for row in engine.run([fitting, breaking, fitting]))
    statistics = engine.statistics()
    assert {name: statistics.of(name).matches for name in "ab"} == rows == {"a": 4, "b": 3}
