"""Joins by brute force: every combination of witnesses of every combination of documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from penstock.testing.reference.conditions import Scope
from penstock.testing.reference.values import compare
from penstock.testing.reference.witnesses import matches_of, tuples
from penstock.testing.tree import Node, Tree
from penstock.twigs import Block, Event, Join, JoinKind, Query
from penstock.twigs.patterns import variables_of


@dataclass(frozen=True, slots=True)
class Arrival:
    """A document of a stream, with its event time."""

    id: str
    tree: Tree
    time: float
    stream: str = "default"


@dataclass(frozen=True, slots=True)
class Joined:
    """Bindings of the variables of several blocks; the event time is that of the latest part."""

    documents: tuple[str, ...]
    time: float
    bindings: tuple[tuple[str, Node], ...]

    def __getitem__(self, variable: str) -> Node:
        return dict(self.bindings)[variable]


def join(query: Query, arrivals: Sequence[Arrival]) -> list[Joined]:
    """Return every way in which the blocks of a query meet, operators applied from the left."""
    parts = list(_bindings(query.blocks[0], query, arrivals))
    for operator in query.joins:
        right = list(_bindings(query.blocks[operator.right], query, arrivals))
        parts = [joined for left in parts for joined in _apply(operator, left, right)]
    return parts


def events(query: Query, arrivals: Sequence[Arrival]) -> list[tuple[Joined, tuple[Node, ...]]]:
    """Return one result per distinct tuple of selected bindings: the nodes under its new root."""
    assert isinstance(query.output, Event)
    selected = query.output.select or tuple(
        next(variables_of(block.alternatives[0])) for block in query.blocks
    )
    found: dict[tuple[Node, ...], Joined] = {}
    for joined in join(query, arrivals):
        bindings = dict(joined.bindings)
        nodes = tuple(bindings[variable] for variable in selected if variable in bindings)
        found.setdefault(nodes, joined)
    return [(joined, nodes) for nodes, joined in found.items()]


def _bindings(block: Block, query: Query, arrivals: Sequence[Arrival]) -> Iterator[Joined]:
    for arrival in arrivals:
        if block.stream in (None, arrival.stream):
            for match in matches_of(block, Scope(arrival.tree.root, query.constants)):
                for bindings in tuples(match):
                    yield Joined((arrival.id,), arrival.time, tuple(bindings.items()))


def _apply(operator: Join, left: Joined, rights: Sequence[Joined]) -> Iterator[Joined]:
    partners = [right for right in rights if _meets(operator, left, right)]
    if operator.kind is JoinKind.NOT_FOLLOWED_BY:
        if not partners:
            yield left
        return
    for right in partners:
        yield Joined(
            left.documents + right.documents,
            max(left.time, right.time),
            left.bindings + right.bindings,
        )


def _meets(operator: Join, left: Joined, right: Joined) -> bool:
    if operator.kind is not JoinKind.MEET and right.documents[0] in left.documents:
        return False
    return _in_window(operator, right.time - left.time) and all(
        compare(sign, left[one].string_value(), right[other].string_value())
        for one, sign, other in (
            *((one, "=", other) for one, other in operator.equalities),
            *((i.left, i.operator, i.right) for i in operator.inequalities),
        )
    )


def _in_window(operator: Join, seconds: float) -> bool:
    limit = float("inf") if operator.window_seconds is None else operator.window_seconds
    match operator.kind:
        case JoinKind.JOIN:
            return abs(seconds) <= limit
        case JoinKind.FOLLOWED_BY | JoinKind.NOT_FOLLOWED_BY:
            return 0 < seconds <= limit
        case JoinKind.MEET:
            return True
