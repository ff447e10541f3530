"""Why a server hits or misses: what covers its queries, in which order, and how often."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from penstock.errors import DocumentError
from penstock.routing.configuration import Configuration
from penstock.routing.covering import UNKNOWN, Nodes
from penstock.routing.formulas import Check
from penstock.routing.headers import stamp
from penstock.routing.server import Router

Cover = Literal["covered", "partly covered", "uncovered"]


@dataclass(frozen=True)
class ExplainedQuery:
    """A query: what the configuration covers of it, and what is tried, in order."""

    name: str
    text: str
    cover: Cover
    steps: tuple[str, ...]
    decided: float
    """The estimated probability that a header decides it."""


@dataclass(frozen=True)
class ExplainedServer:
    """A server: its queries and the share of documents that it is expected to hit.

    ``is_measured``: over sample documents; otherwise estimated, with queries independent.
    """

    name: str
    queries: tuple[ExplainedQuery, ...]
    hit_rate: float
    is_measured: bool

    def __str__(self) -> str:
        how = "of the samples" if self.is_measured else "of documents, by estimate"
        lines = [f"server {self.name}: hits {self.hit_rate:.0%} {how}"]
        for query in self.queries:
            lines.append(f"  {query.name}: {query.cover}")
            if query.text != query.name:
                lines.append(f"    {query.text}")
            lines += [f"    {step}" for step in query.steps]
        return "\n".join(lines)


def explain(
    router: Router, configuration: Configuration, samples: Sequence[bytes] = ()
) -> list[ExplainedServer]:
    """Return why each server of a router hits or misses with headers of a configuration.

    Samples that are not well-formed are left out.
    """
    table = router.table(configuration)
    rates = _measured(router, configuration, samples) if samples else {}
    explained = []
    for (name, queries), nodes in zip(router.servers.items(), table.queries, strict=True):
        found = tuple(
            ExplainedQuery(
                query.name,
                query.text,
                _cover(table.nodes, node),
                tuple(_steps(table.nodes, node, "")),
                table.nodes.estimate(node).decided,
            )
            for query, node in zip(queries, nodes, strict=True)
        )
        estimated = 1.0
        for one in found:
            estimated *= one.decided
        rate = rates.get(name, estimated)
        explained.append(ExplainedServer(name, found, rate, name in rates))
    return explained


def _measured(
    router: Router, configuration: Configuration, samples: Sequence[bytes]
) -> dict[str, float]:
    hits = dict.fromkeys(router.servers, 0)
    count = 0
    for document in samples:
        try:
            decisions = router.decide(stamp(document, configuration), document)
        except DocumentError:
            continue
        count += 1
        for name, decision in decisions.items():
            hits[name] += decision.is_hit
    return {name: hit / count for name, hit in hits.items()} if count else {}


def _cover(nodes: Nodes, node: int) -> Cover:
    leaves = list(_leaves(nodes, node))
    known = [_is_known(nodes, leaf) for leaf in leaves]
    if all(known):
        return "covered"
    helps = any(known) or any(nodes.listed[leaf][0] in ("part", "beyond") for leaf in leaves)
    return "partly covered" if helps else "uncovered"


def _leaves(nodes: Nodes, node: int) -> Iterator[int]:
    kind, numbers = nodes.listed[node]
    if kind in ("and", "or", "not"):
        for part in numbers:
            yield from _leaves(nodes, part)
    else:
        yield node


def _is_known(nodes: Nodes, node: int) -> bool:
    kind, numbers = nodes.listed[node]
    match kind:
        case "constant":
            return numbers[0] != UNKNOWN
        case "part":
            return numbers[1] < len(nodes.facts)
        case _:
            return True


def _steps(nodes: Nodes, node: int, indent: str) -> Iterator[str]:
    kind, numbers = nodes.listed[node]
    if kind in ("and", "or", "not"):
        word = {"and": "all of", "or": "one of", "not": "not"}[kind]
        yield f"{indent}{word}"
        for part in numbers:
            yield from _steps(nodes, part, indent + "  ")
        return
    yield indent + _leaf_text(nodes, kind, numbers)


def _leaf_text(nodes: Nodes, kind: str, numbers: list[int]) -> str:
    if kind == "constant":
        return ("false", "true", "not covered: the document is parsed")[numbers[0]]
    path = nodes.configuration.views[numbers[0]].path
    match kind:
        case "exists":
            return f"{path} has a node"
        case "beyond":
            return f"{path} has no node; otherwise not covered"
        case "passes":
            return f"{path} {check_text(nodes.test(numbers[1]))}"
        case _ if numbers[1] < len(nodes.facts):
            return f"{path} is parsed for {nodes.facts[numbers[1]].formula.path}"
        case _:
            return f"{path} has no node; otherwise not covered"


def check_text(test: Check) -> str:
    """Return a test as text."""
    constant = f"date({test.constant!r})" if test.is_date else repr(test.constant)
    return f"{test.operator} {constant}"
