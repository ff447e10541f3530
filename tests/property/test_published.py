"""Streams that XSCL publishes are streams like others, whoever reads them and however.

The oracle runs in two steps: joins alone give the published events, which become documents; then
all other subscriptions read these documents beside those that were there from the start.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random
from types import SimpleNamespace

import pytest

import penstock
from penstock import Document, Engine, Registry, Result

ABSENT = "SELECT <gone key='{x}'/> FROM S//a->x NOT FOLLOWED BY{x = y, 4} S//b->y PUBLISH alone"
JOINS = {
    "pairs": "SELECT <pair key='{x}'>{x}</pair> FROM S//a->x JOIN{x = y, 6} T//b->y PUBLISH pairs",
    "next": "SELECT x, y FROM S//b->x FOLLOWED BY{x = y, 5} S//a->y PUBLISH pairs",
    "of": "SELECT <late>{k}</late> FROM pairs//pair/@key->k JOIN{k=z,9} T//a->z PUBLISH late",
    "alone": ABSENT,
    "again": "SELECT <pair key='{k}'/> FROM alone//gone/@key->k JOIN{k=y,20} T//c->y PUBLISH last",
    "plain": "S//a->x JOIN{x = y, 3} T//c->y",
}
PATHS = ["//pair/@key", "//*[. = 2]", "count(//a)", "/event/b", "//late", "//gone[@key > 1]", "//c"]
MESSAGES = [
    "for $p in doc('pairs')//pair return <m>{$p/@key}</m>",
    "for $p in stream('alone')//gone where $p/@key != '3' return <m>{$p}</m>",
    "<n>{count(//pair), //late}</n>",
    "for $a in doc('S')//a return <s>{$a}</s>",
]
STREAMED = [
    "for $p in stream('pairs')//pair, $c in stream('S')//c where $p/@key = $c return <j>{$p}</j>",
    "for $c in stream('T')//c, $g in stream('alone')//gone where $g/@key = $c return <g>{$c}</g>",
    "for $p in stream('pairs')//pair, $l in stream('late')//late where $p/@key = $l return $l",
    "for $e in stream('pairs')/event/a, $g in stream('last')//pair where $g/@key = $e return "
    "(string($e), count($g))",
]
TABLE = {"key": "@key", "doubled": ("2 * @key", "double")}
FILTERED = {"kind": "match", "value": "", "start": None}
Row = tuple[object, ...]


def subscribe(
    random: Random, registry: Registry, windows: Sequence[str | None] = (None, "5", "12")
) -> None:
    """Add what reads rows, messages and bindings; some of it reads what is published."""
    for number, text in enumerate(PATHS):
        if random.random() < 0.6:
            registry.add(f"path{number}", text, random.choice(["query", "query", "filter"]))
    for number, text in enumerate(MESSAGES):
        if random.random() < 0.6:
            registry.add(f"message{number}", penstock.xquery(text, untyped="false"))
    for number, text in enumerate(STREAMED):
        if random.random() < 0.6:
            within = random.choice(windows)
            registry.add(f"streams{number}", penstock.xquery(text, within=within))
    registry.add("table", penstock.table("//pair | //gone", TABLE))


def subscribe_joins(random: Random, registry: Registry) -> None:
    for name, text in JOINS.items():
        if random.random() < 0.7:
            registry.add(name, penstock.xscl(text))


def write_documents(random: Random) -> list[Document]:
    """Return documents in the order of their times, of which some are equal."""
    time, documents = 0, []
    for number in range(random.randint(1, 14)):
        time += random.choice([0, 1, 1, 2, 3, 7])
        elements = [
            f"<{name}>{random.randint(1, 3)}</{name}>"
            for name in random.choices("abc", k=random.randint(1, 3))
        ]
        xml = f"<r>{''.join(elements)}</r>"
        documents.append(Document(xml, str(number), random.choice("ST"), time))
    return documents


def published_by(rows: Sequence[Result]) -> Iterator[Document]:
    """Yield the documents that the rows of joins become."""
    for row in rows:
        _, is_published, stream = JOINS[row.subscription].partition(" PUBLISH ")
        if is_published:
            assert row.documents is not None
            ranges = ",".join(map(str, (row.bindings or {}).values()))
            name = f"{row.subscription}({'+'.join(row.documents)}: {ranges})"
            yield Document(row.value or "", name, stream, row.event_time)


def described(rows: Sequence[Result | SimpleNamespace]) -> Counter[Row]:
    return Counter(
        (
            one.subscription,
            one.stream,
            tuple(one.documents or (one.document,)),
            one.kind,
            one.value,
            one.start,
            one.event_time,
            one.error is None,
        )
        for one in rows
    )


def pushed(engine: Engine, documents: Sequence[Document]) -> list[Result]:
    rows = []
    for one in documents:
        document = engine.open(one.id, one.stream, one.time)
        rows += document.feed(str(one.data).encode())
        rows += document.finish()
    return rows + engine.close()


def pushed_whole(engine: Engine, documents: Sequence[Document]) -> list[Result]:
    rows = []
    for one in documents:
        rows += engine.push(one)
        # Time stands still, so nothing is left that may come.
        assert one.time is None or engine.heartbeat(one.stream, one.time) == []
    return rows + engine.close()


def in_bulk(engine: Engine, documents: Sequence[Document]) -> list[Result | SimpleNamespace]:
    rows: list[Result | SimpleNamespace] = []
    for first in range(0, len(documents), 3):
        found = engine.push_many(documents[first : first + 3])
        fragments, names = found.fragments.to_pylist(), found.subscriptions().to_pylist()
        origins = found.documents.to_pylist()
        for name, entry in zip(names, found.entries.to_pylist(), strict=True):
            origin = {**origins[entry["document"]], "subscription": name, "documents": None}
            # A filter has nothing but its name.
            found_here = [fragments[place] for place in entry["fragments"] or ()] or [FILTERED]
            rows += [SimpleNamespace(**one | origin, error=None) for one in found_here]
        rows += [SimpleNamespace(**row) for row in found.joined.to_pylist()]
    return rows + engine.close()


def in_batches(engine: Engine, documents: Sequence[Document]) -> list[SimpleNamespace]:
    batches = engine.batches(documents)
    return [SimpleNamespace(**row) for batch in batches for row in batch.to_pylist()]


def awaited(engine: Engine, documents: Sequence[Document]) -> list[Result]:
    async def collect() -> list[Result]:
        return [row async for row in engine.arun(documents)]

    return asyncio.run(collect())


WAYS: dict[str, Callable[[Engine, Sequence[Document]], Sequence[Result | SimpleNamespace]]] = {
    "run": lambda engine, documents: [*engine.run(documents)],
    "ordered": lambda engine, documents: [*engine.run(documents, order="document")],
    "steps": lambda engine, documents: [row for rows in engine.steps(documents) for row in rows],
    "batches": in_batches,
    "open": pushed,
    "push": pushed_whole,
    "push_many": in_bulk,
    "arun": awaited,
}


def check(seed: int) -> int:
    """Compare all ways in with the oracle; return how many rows come from published events."""
    random = Random(seed)
    joins, readers, both = Registry(), Registry(), Registry()
    subscribe_joins(random, joins)
    subscribe(random, readers)
    mixed = [*joins, *readers]
    random.shuffle(mixed)
    for one in mixed:
        both.add(one.name, one.query, one.mode)
    documents = write_documents(random)
    joined = [*Engine(joins).run(documents)]
    published = [*published_by(joined)]
    alone = described([*Engine(readers).run(documents)])
    expected = described([*Engine(readers).run([*documents, *published])])
    for lateness in (None, random.choice([0, 2, 30])):
        for way, read in WAYS.items():
            found = described(read(Engine(both, lateness=lateness), documents))
            assert found == described(joined) + expected, (seed, way, lateness)
    columns = Engine(both).table(documents, "table").column("key").to_pylist()
    wanted = Engine(readers).table([*documents, *published], "table").column("key").to_pylist()
    assert Counter(columns) == Counter(wanted), seed
    return (expected - alone).total()


def check_halt(seed: int) -> int:
    """Halt an engine and let another one go on; return how many documents that one leaves out."""
    random = Random(seed)
    registry = Registry()
    subscribe_joins(random, registry)
    subscribe(random, registry, ["1", "5"])
    documents: list[Document] = []
    for _ in range(8):
        start = documents[-1].time if documents else 0
        documents += [replace(one, time=start + one.time) for one in write_documents(random)]
    place, lateness = random.randrange(len(documents)), random.choice([0, 2])
    halted, whole = Engine(registry, lateness=lateness), Engine(registry, lateness=lateness)
    for one in documents[:place]:
        halted.push(one)
        whole.push(one)
    needed = halted.halt()
    first = -math.inf if needed is None else needed.timestamp()
    kept = [number for number, one in enumerate(documents) if number >= place or one.time >= first]
    again = Engine(registry, lateness=lateness)
    for number in kept:
        rows = again.push(documents[number])
        if number >= place:
            assert described(rows) == described(whole.push(documents[number])), (seed, number)
    assert described(again.close()) == described(whole.close()), seed
    return len(documents) - len(kept)


@pytest.mark.filterwarnings("ignore::penstock.PenstockWarning")
def test_published_streams_go_on_after_a_halt() -> None:
    left_out = [check_halt(seed) for seed in range(60)]
    assert sum(map(bool, left_out)) > 15, "many draws leave documents out"


@pytest.mark.filterwarnings("ignore::penstock.PenstockWarning")
def test_published_streams_are_streams_like_others() -> None:
    rows = [check(seed) for seed in range(60)]
    assert sum(map(bool, rows)) > 30, "most draws read what is published"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::penstock.PenstockWarning")
def test_published_streams_are_streams_like_others_at_length() -> None:
    for seed in range(1000, 3000):
        check(seed)
