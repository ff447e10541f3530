"""Queries over streams of documents, many of which can share one stream on Spark."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from pathlib import Path
from random import Random
from typing import Any

import penstock
from penstock.errors import QueryError, RegistryError
from penstock.results import Document, Result
from penstock_testing.generate import random_stream, random_subscriptions
from penstock_testing.reference import run
from tests.join_engines import arrivals_of

LATENESS = 1e10
END = 1e11
"""A time after all windows, and after all documents by more than ``LATENESS``."""
_CORPUS = Path(__file__).resolve().parents[4] / "corpus" / "joins"
_NEVER = re.compile(r"NOT FOLLOWED BY\{[^}]*INF\s*\}")
_STREAM = re.compile(r"PUBLISH (\w+)")

COMPARED = (
    "subscription stream document documents ordinal kind name value start end event_time bindings"
).split()


@dataclass(frozen=True, slots=True)
class Case:
    """Subscriptions by name, and documents in order of arrival."""

    queries: Mapping[str, str]
    documents: Sequence[Document]

    @property
    def ends(self) -> bool:
        """Whether all absences have an end; others are told at the end of a source only."""
        return not any(_NEVER.search(text) for text in self.queries.values())

    def apart(self, number: int) -> Case:
        """Return the case with streams, names and documents that no other case has."""
        texts = " ".join(self.queries.values())
        streams = {one.stream for one in self.documents} | set(_STREAM.findall(texts))
        streams |= {"S", "T", "P"}
        pattern = re.compile(rf"(?<![\w'@/$.-])({'|'.join(streams)})(?=//|->|/|\[|\s|$)")
        return Case(
            {
                f"c{number} {name}": pattern.sub(rf"\g<1>{number}", text)
                for name, text in self.queries.items()
            },
            [
                replace(one, id=f"{number}:{one.id}", stream=f"{one.stream}{number}")
                for one in self.documents
            ],
        )


def registry_of(queries: Mapping[str, str]) -> penstock.Registry:
    """Return a registry of queries.

    Raises:
        QueryError: One is none.
        RegistryError: They read what they publish.
    """
    registry = penstock.Registry()
    for name, text in queries.items():
        registry.add(name, penstock.xscl(text))
    return registry


def corpus_cases() -> list[Case]:
    """Return the cases of the corpus that end."""
    found = []
    for path in sorted(_CORPUS.glob("*.toml")):
        for case in tomllib.loads(path.read_text("utf-8"))["case"]:
            documents = []
            for line in case["documents"]:
                name, stream, seconds, xml = line.split(" ", 3)
                documents.append(Document(xml.encode(), name, stream, float(seconds)))
            queries = case["queries"] if "queries" in case else {"only": case["query"]}
            found.append(Case(queries, documents))
    assert len(found) > 70
    return [case for case in found if case.ends]


def random_case(random: Random) -> Case | None:
    """Return a random case in a random order of arrival, or None if it is none."""
    case = Case(random_subscriptions(random, random.randint(1, 4)), random_stream(random))
    random.shuffle(case.documents)  # type: ignore[arg-type]
    try:
        registry_of(case.queries)
    except (QueryError, RegistryError):
        return None
    return case if case.ends else None


def expected(case: Case) -> list[tuple[Any, ...]]:
    """Return what the engine in this process finds, in the order of ``COMPARED``."""
    return identities(penstock.Engine(registry_of(case.queries)).run(case.documents))


def outcomes(case: Case) -> list[tuple[Any, ...]]:
    """Return what the oracle finds: subscription, documents, time and value."""
    queries = {name: penstock.xscl(text) for name, text in case.queries.items()}
    found = run(queries, arrivals_of(case.documents))
    return sorted((one.subscription, one.documents, one.time, one.value) for one in found)


def projected(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return what of identities an oracle knows."""
    places = [COMPARED.index(name) for name in ("subscription", "documents", "event_time", "value")]
    found = ([row[place] for place in places] for row in rows)
    return sorted(
        (name, documents, time.replace(tzinfo=UTC).timestamp(), value)
        for name, documents, time, value in found
    )


def identities(rows: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return what rows say, in an order of its own; rows are results or have columns."""
    return sorted((_identity(row) for row in rows), key=repr)


def _identity(row: Any) -> tuple[Any, ...]:
    read = getattr if isinstance(row, Result) else (lambda row, name: row[name])
    values = {name: read(row, name) for name in COMPARED}
    values["documents"] = tuple(values["documents"] or ())
    values["bindings"] = tuple(sorted(dict(values["bindings"] or ()).items()))
    # Spark hands out times of the session's zone without saying so, and the tests' is UTC.
    values["event_time"] = values["event_time"].replace(tzinfo=None)
    return tuple(values.values())


def the_end(number: str = "end") -> Document:
    """Return a document of no stream that anybody reads, after everything else."""
    return Document(b"<end/>", number, "the end", END)


def split_at_random(random: Random, documents: Sequence[Document]) -> list[list[Document]]:
    """Return documents in batches of random sizes, in order."""
    batches: list[list[Document]] = [[]]
    for document in documents:
        if batches[-1] and random.random() < 0.4:
            batches.append([])
        batches[-1].append(document)
    return batches
