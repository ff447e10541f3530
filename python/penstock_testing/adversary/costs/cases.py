"""What is run: subscriptions, documents, and the way in which the engine reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from penstock.languages.xpath import xpath
from penstock.languages.xquery import xquery
from penstock.languages.xscl import xscl
from penstock.registry import MemoryRegistry
from penstock.twigs import Query

Way = Literal["run", "ordered", "parts", "push", "pushed parts", "live", "batches", "bundle"]
WAYS: tuple[Way, ...] = (
    *("run", "ordered", "parts", "push", "pushed parts", "live", "batches", "bundle"),
)
Question = tuple[str, Literal["query", "filter"]]
"""A query and its mode. One that begins with SELECT is XSCL, and its stream is `default`; with
``for`` or ``declare``, XQuery."""


@dataclass(frozen=True, slots=True)
class Case:
    """Subscriptions and documents of one generator.

    ``good`` is a small document with the same names. ``fillers`` are further subscriptions that
    cost little.
    """

    kind: str
    questions: tuple[Question, ...]
    documents: tuple[bytes, ...]
    good: bytes
    way: Way
    fillers: tuple[Question, ...] = ()

    def registry(self) -> MemoryRegistry:
        """Return a registry of all subscriptions: ``q0``, ``q1`` … and the fillers behind them."""
        registry = MemoryRegistry()
        for number, (query, mode) in enumerate((*self.questions, *self.fillers)):
            registry.add(f"q{number}", parsed(query), mode)
        return registry

    def registry_of(self, number: int) -> MemoryRegistry:
        """Return a registry of one of the questions alone, by the same name."""
        query, mode = self.questions[number]
        registry = MemoryRegistry()
        registry.add(f"q{number}", parsed(query), mode)
        return registry

    def describe(self) -> str:
        """Return the case in a few lines."""
        shown = self.questions[:4]
        lines = [
            f"{self.kind}, {self.way}, {len(self.documents)} documents of "
            f"{max(map(len, self.documents)):,} bytes, "
            f"{len(self.questions) + len(self.fillers):,} subscriptions",
            *(f"  {mode} {query}" for query, mode in shown),
            f"  {self.documents[0][:200].decode(errors='replace')}…",
        ]
        return "\n".join(lines)


def parsed(query: str) -> Query:
    """Return a query of a case."""
    if query.startswith(("for ", "declare ")):
        return xquery(query)
    return xscl(query) if query.startswith("SELECT") else xpath(query)
