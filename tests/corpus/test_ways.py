"""Every case of the corpus, through every way in that can serve it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

import pytest

import penstock
from penstock.errors import PenstockError
from penstock.limits import Limits
from penstock.results import Document
from penstock.spark import worker
from tests.corpus import test_corpus, test_joins, test_streams, test_xquery
from tests.property.ways import IN_BULK, WAYS, Place, in_bulk

DRAWS = 2_000
"""So many pairs of a case and a way in are tried by default; the slow set tries all."""
_JOINED = {"matches", "worker"}
"""The ways in that join nothing."""


@dataclass(frozen=True)
class Case:
    """A case of any language."""

    name: str
    place: Callable[[], Place]
    documents: Sequence[Any]
    refused: frozenset[str] = frozenset()


def subscribed(queries: dict[str, Any], limits: Limits, **options: Any) -> Place:
    """Return an engine for queries."""
    registry = penstock.Registry()
    for name, query in queries.items():
        registry.add(name, query)
    return Place(registry, limits, **options)


def xpath_cases() -> Iterator[Case]:
    for case in test_corpus.CASES:
        names = ("namespaces", "context", "variables", "select")
        options = {name: case[name] for name in names if name in case}
        try:
            query = penstock.xpath(case["query"], **options)
        except PenstockError:
            continue
        document = Document(case["document"].encode(), id="d")
        yield Case(case["name"], partial(subscribed, {"q": query}, Limits()), [document])


def xquery_cases() -> Iterator[Case]:
    for case in test_xquery.CASES:
        names = ("untyped", "empty", "namespaces", "variables")
        options = {name: case[name] for name in names if name in case}
        try:
            query = penstock.xquery(case["query"], **options)
            place = partial(subscribed, {"q": query}, Limits())
            place()
        except PenstockError:
            continue
        document = Document(case.get("document", "<r/>").encode(), id="d")
        yield Case(case["name"], place, [document])


def join_cases() -> Iterator[Case]:
    for case in test_joins.CASES:
        queries = {
            name or "q": penstock.xscl(text) for name, text in test_joins.queries_of(case).items()
        }
        place = partial(subscribed, queries, Limits())
        yield Case(case["name"], place, test_joins.documents_of(case), frozenset(_JOINED))


def stream_cases() -> Iterator[Case]:
    for case in test_streams.CASES:
        limits = Limits(**{key: case[key] for key in case if key.endswith("_max")})
        texts = case.get("queries", {"only": case.get("query")})
        queries = {name: penstock.xscl(text) for name, text in texts.items()}
        place = partial(subscribed, queries, limits, lateness=case.get("lateness"))
        # What is read side by side, or in bulk, has no heartbeats between documents.
        refused = {*_JOINED, "streams", "push_many"}
        arrived = [one for _, one in test_streams.arrivals_of(case)]
        yield Case(case["name"], place, arrived, frozenset(refused))


def pairs() -> list[tuple[Case, str]]:
    """Return every case with every way in that can serve it."""
    cases = [*xpath_cases(), *xquery_cases(), *join_cases(), *stream_cases()]
    found = [(case, way) for case in cases for way in WAYS if way not in case.refused]
    return [pair for pair in found if pair[1] != "run"]


def served(case: Case, way: str) -> bool:
    """Return whether sources side by side give the documents in an order that counts."""
    return way != "streams" or len({one.stream for one in case.documents}) == 1


def check(case: Case, way: str) -> None:
    expected = WAYS["run"](case.place(), case.documents)
    if way in IN_BULK:
        expected = in_bulk(expected)
    assert WAYS[way](case.place(), case.documents) == expected, (case.name, way)


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Case, str]]:
    monkeypatch.setattr(worker, "_idle", type(worker._idle)())
    return [pair for pair in pairs() if served(*pair)]


@pytest.mark.filterwarnings("ignore")
def test_cases_give_the_same_through_other_ways_in(chosen: list[tuple[Case, str]]) -> None:
    for case, way in Random(1).sample(chosen, min(DRAWS, len(chosen))):
        check(case, way)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_all_cases_give_the_same_through_all_other_ways_in(
    chosen: list[tuple[Case, str]],
) -> None:
    for case, way in chosen:
        check(case, way)
