"""Every engine that evaluates XSCL over documents of streams, behind one signature.

An answer is a list of outcomes; their order does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from penstock.languages.xscl import xscl
from penstock.results import Document
from penstock.testing.reference import Arrival, Outcome, run
from penstock.testing.reference.streams import Evaluate, by_brute_force, by_rows
from penstock.testing.tree import parse

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


JOIN_ENGINES: dict[str, Ask] = {
    "oracle": ask_reference(by_brute_force),
    "rows": ask_reference(by_rows),
}
