"""A user's program that touches the whole public interface; mypy --strict reads it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import penstock
from penstock import (
    Document,
    Engine,
    Heartbeat,
    JoinOptions,
    Limits,
    Matches,
    Query,
    Registry,
    Result,
    Results,
    Verdict,
    errors,
)
from penstock.sources.records import documents, records
from penstock.sources.times import TimePath


def subscribe(registry: Registry) -> None:
    """Add, replace, look up and remove subscriptions."""
    query: Query = penstock.xpath("//p:a", namespaces={"p": ["urn:a", "urn:b"]})
    registry.add("a", query, mode="filter", owner="ann", delivery={"to": "mail"})
    registry.add("b", "//b[. = $x]", namespaces={"": "urn:b"}, variables={"x": "1"})
    registry.add("j", penstock.xscl("s//x->x JOIN{x = y, 1 h} t//y->y"))
    registry.replace("b", "//b", select={"id": "@id", "all": ["c"], "number": "count(c)"})
    text: str = registry["b"].text
    assert text in registry["b"].text
    registry.remove("j")
    version: int = registry.version
    assert version


def tabulate(folder: Path) -> int:
    """Make a table of records."""
    rows: Query = penstock.table(
        "//a", {"id": ("@id", "integer"), "b": ("b", [{"c": "@c"}])}, on_error="quarantine"
    )
    registry = Registry()
    registry.add("rows", rows)
    engine = Engine(registry)
    count: int = engine.table(folder / "a.xml", name="rows").num_rows
    for batch in engine.table_batches(folder / "a.xml"):
        count += batch.num_rows
    return count


def ask(folder: Path) -> list[str]:
    """Evaluate one expression, and explain it."""
    answer = penstock.evaluate(
        "//title", folder / "a.xml", select={"id": "../@id"}, limits=Limits(depth_max=100)
    )
    if isinstance(answer, Results):
        first: Result = answer[0]
        return [row.value or "" for row in answer] + [
            first.xml,
            str(first.jsonml),
            str(first.plain),
        ]
    verdict: Verdict = penstock.verdict(penstock.xpath("//title"))
    return [str(answer), penstock.explain(penstock.xpath("//a")), str(verdict.suits_endless)]


def run(registry: Registry, folder: Path) -> Iterator[str]:
    """Run an engine in every way."""
    joins = JoinOptions(state_bytes_max=1 << 20)
    engine = Engine(registry, Limits(), lateness=60.0, trust=False, joins=joins, suspend_after=None)
    moment = datetime(2024, 5, 1, tzinfo=UTC)
    source: list[Document | Heartbeat] = [
        Document(b"<a/>", id="1", stream="s", time=moment),
        Heartbeat("s", moment),
    ]
    for row in engine.run(source, order="document"):
        if row.error is not None:
            yield f"{row.document}: {row.error.code} at byte {row.error.byte}"
        else:
            yield f"{row.subscription} {row.kind} {row.start} {row.bindings}"
    matches: Matches
    for matches in engine.matches(documents(folder)):
        yield repr(matches)
    for row in engine.run(records(folder, "//book")):
        yield row.as_json()
    for row in engine.run(TimePath("/a/@at").timed(["<a at='2024-05-01'/>"])):
        yield str(row.event_time)
    with engine.open(id="live", live=True) as document:
        yield from (row.value or "" for row in document.feed(b"<a/>"))
    yield f"{engine.statistics().top(3)} {engine.suspended()} {engine.explain()}"
    engine.cancel()


async def run_asynchronously(engine: Engine) -> int:
    """Run an engine on documents that arrive."""

    async def source() -> AsyncIterator[str]:
        yield "<a/>"

    return len([row async for row in engine.arun(source())])


def main(folder: Path) -> int:
    """Do everything."""
    registry = Registry()
    try:
        subscribe(registry)
        durable = Registry.open(folder / "registry", create=True, flush=False)
        report = durable.load(folder / "rules.csv", replace=True)
        print(report.added, ask(folder), list(run(registry, folder)))
        return asyncio.run(run_asynchronously(Engine(durable)))
    except penstock.QueryError as error:
        print(error.code, error.span, error.help)
    except penstock.DocumentError as error:
        print(error.code, error.byte, error.line, error.path)
    except (errors.RegistryError, errors.LimitError, penstock.PenstockError) as error:
        print(error.code, penstock.__version__)
    return 1
