"""What is known of documents and servers: how often views have a node, how often servers hit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from penstock.routing.configuration import Configuration, View
from penstock.routing.evaluation import Evaluator
from penstock.routing.formulas import TRUE, Check, First, Some, checks_in, leaves
from penstock.routing.headers import Stamper, read
from penstock.routing.paths import Path
from penstock.routing.queries import Query, of_formula


@dataclass(frozen=True, slots=True)
class Share:
    """Of how many documents, as a share, a path has no node, one, or several; bytes of the one."""

    absent: float
    one: float
    multiple: float
    node_bytes: float = 0.0


Shares = Mapping[str, Share]
"""By text of the path."""


@dataclass
class Counts:
    """How many documents a server saw, and how many of them it had to parse."""

    documents: int = 0
    misses: int = 0

    @property
    def hits(self) -> int:
        """Documents that it did not parse."""
        return self.documents - self.misses


@dataclass
class Statistics:
    """What selection needs to know; every part may be empty, and is then assumed."""

    servers: dict[str, Counts] = field(default_factory=dict)
    shares: dict[str, Share] = field(default_factory=dict)
    document_bytes: float = 0.0
    """Bytes of a document, on average."""

    def add(self, other: Statistics) -> None:
        """Add the counts of another router; shares are replaced where the other knows them."""
        for name, counts in other.servers.items():
            own = self.servers.setdefault(name, Counts())
            own.documents += counts.documents
            own.misses += counts.misses
        self.shares.update(other.shares)
        self.document_bytes = other.document_bytes or self.document_bytes


def paths_of(queries: Iterable[Query]) -> list[Path]:
    """Return the distinct paths of queries, in order."""
    found: dict[bytes, Path] = {}
    for query in queries:
        for leaf in leaves(query.formula):
            if isinstance(leaf, Some | First):
                found.setdefault(leaf.path.key, leaf.path)
    return list(found.values())


def checks_of(queries: Iterable[Query]) -> list[tuple[Path, Check]]:
    """Return the distinct checks of queries, with their paths."""
    found: dict[tuple[Path, Check], None] = {}
    for query in queries:
        for leaf in leaves(query.formula):
            match leaf:
                case Some(path=path, where=where):
                    found.update(dict.fromkeys((path, check) for check in checks_in(where)))
                case First(path=path, test=check):
                    found[path, check] = None
                case _:
                    pass
    return list(found)


def measure_selectivities(
    documents: Sequence[bytes], queries: Iterable[Query]
) -> dict[tuple[str, Check], float]:
    """Return, for each check of queries, in which share of the sample documents with a node of its
    path some node passes. Paths that no sample has are left out.

    Raises:
        DocumentError: A document is not well-formed.
    """
    checks = checks_of(queries)
    asked = []
    for path, check in checks:
        for formula in (Some(path, TRUE), Some(path, check)):
            asked.append(of_formula("", path.text, formula, path.bindings))
    evaluator = Evaluator(asked)
    counts = [0] * len(asked)
    for document in documents:
        for place, holds in enumerate(evaluator.answer(document)[0]):
            counts[place] += holds
    there, passing = counts[::2], counts[1::2]
    return {
        (path.text, check): passed / count
        for (path, check), count, passed in zip(checks, there, passing, strict=True)
        if count
    }


def measure(documents: Sequence[bytes], paths: Sequence[Path]) -> Statistics:
    """Return how often paths, all of the same namespaces, have nodes in sample documents.

    Raises:
        DocumentError: A document is not well-formed.
    """
    if not documents or not paths:
        return Statistics()
    namespaces = paths[0].namespaces
    configuration = Configuration([View(path.text) for path in paths], namespaces=namespaces)
    stamper = Stamper(configuration)
    headers = [read(stamper.stamp(document)) for document in documents]
    usable = [header for header in headers if not header.is_recoded]
    shares = {}
    for place, path in enumerate(paths):
        entries = [header.entries[place] for header in usable]
        lengths = [(entry.end or 0) - (entry.start or 0) for entry in entries if entry.end]
        count = len(headers)
        absent = sum(entry.state == "absent" for entry in entries) / count
        one = len(lengths) / count
        mean = sum(lengths) / len(lengths) if lengths else 0.0
        shares[path.text] = Share(absent, one, 1 - absent - one, mean)
    return Statistics(shares=shares, document_bytes=sum(map(len, documents)) / len(documents))
