"""Every engine that evaluates XSCL over documents of streams, behind one signature.

An answer is a list of outcomes; their order does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import penstock
from penstock.joins import JoinOptions
from penstock.languages.xscl import xscl
from penstock.results import Document, Result
from penstock_testing.reference import Arrival, Outcome, run
from penstock_testing.reference.streams import Evaluate, by_brute_force, by_rows
from penstock_testing.tree import parse

Ask = Callable[[Mapping[str, str], Sequence[Document]], list[Outcome]]


def arrivals_of(documents: Sequence[Document]) -> list[Arrival]:
    """Return documents as trees."""
    made = []
    for document in documents:
        assert isinstance(document.data, bytes)
        assert isinstance(document.time, float)
        arrival = Arrival(str(document.id), parse(document.data), document.time, document.stream)
        made.append(arrival)
    return made


def ask_reference(evaluate: Evaluate) -> Ask:
    """Return an engine over trees in memory."""

    def ask(queries: Mapping[str, str], documents: Sequence[Document]) -> list[Outcome]:
        compiled = {name: xscl(text) for name, text in queries.items()}
        return run(compiled, arrivals_of(documents), evaluate)

    return ask


def ask_engine(options: JoinOptions) -> Ask:
    """Return the engine in this process."""

    def ask(queries: Mapping[str, str], documents: Sequence[Document]) -> list[Outcome]:
        registry = penstock.Registry()
        names = {name or "only": name for name in queries}
        for subscription, name in names.items():
            registry.add(subscription, xscl(queries[name]))
        rows = penstock.Engine(registry, joins=options).run(documents)
        return [_outcome(row, names[str(row.subscription)]) for row in rows]

    return ask


def _outcome(row: Result, name: str) -> Outcome:
    assert row.event_time is not None
    assert row.documents is not None
    ranges = [_range(place) for place in (row.bindings or {}).values()]
    if row.start is not None and row.end is not None:
        ranges = [(row.document, row.start, row.end)]
    time = row.event_time.timestamp()
    return Outcome(name, row.documents, time, tuple(ranges), str(row.value))


def _range(written: str) -> tuple[str, int, int]:
    """Return the document and the bytes of `document[start-end]`."""
    document, _, span = written.rpartition("[")
    start, _, end = span.rstrip("]").partition("-")
    return document, int(start), int(end)


JOIN_ENGINES: dict[str, Ask] = {
    "oracle": ask_reference(by_brute_force),
    "rows": ask_reference(by_rows),
    "engine": ask_engine(JoinOptions()),
    "engine, spilling": ask_engine(JoinOptions(state_bytes_max=1)),
}
