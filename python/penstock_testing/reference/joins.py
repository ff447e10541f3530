"""Joins by brute force: every combination of witnesses of every combination of documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from penstock.twigs import Block, Event, Join, JoinKind, Operand, PathTerm, Query
from penstock.twigs.expressions import variables_of
from penstock_testing.reference.expressions import Scope, reached, spine_of
from penstock_testing.reference.values import compare
from penstock_testing.reference.witnesses import matches_of, tuples
from penstock_testing.tree import Node, Tree


@dataclass(frozen=True, slots=True)
class Arrival:
    """A document of a stream, with its event time in seconds."""

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

    def __contains__(self, variable: str) -> bool:
        return any(variable == name for name, _ in self.bindings)


def join(query: Query, arrivals: Sequence[Arrival]) -> list[Joined]:
    """Return every way in which the blocks of a query meet, operators applied from the left."""
    parts = list(_bindings(query.blocks[0], query, arrivals))
    for operator in query.joins:
        right = list(_bindings(query.blocks[operator.right], query, arrivals))
        parts = [joined for left in parts for joined in _apply(query, operator, left, right)]
    return parts


def events(query: Query, arrivals: Sequence[Arrival]) -> list[tuple[Joined, tuple[Node, ...]]]:
    """Return one result for each distinct tuple of selected nodes of each set of documents."""
    output = query.output
    assert isinstance(output, Event)
    selected = output.select
    if not selected and not output.content:
        absent = {j.right for j in query.joins if j.kind is JoinKind.NOT_FOLLOWED_BY}
        present = [block for n, block in enumerate(query.blocks) if n not in absent]
        selected = tuple(next(variables_of(block.alternatives[0])) for block in present)
    found: dict[tuple[tuple[str, ...], tuple[Node, ...]], Joined] = {}
    for joined in join(query, arrivals):
        bindings = dict(joined.bindings)
        nodes = tuple(bindings[variable] for variable in selected)
        found.setdefault((joined.documents, nodes), joined)
    return [(joined, nodes) for (_, nodes), joined in found.items()]


def _bindings(block: Block, query: Query, arrivals: Sequence[Arrival]) -> Iterator[Joined]:
    for arrival in arrivals:
        if block.stream in (None, arrival.stream):
            for match in matches_of(block, Scope(arrival.tree.root, query.constants)):
                for bindings in tuples(match):
                    joined = Joined((arrival.id,), arrival.time, tuple(bindings.items()))
                    if all(_compares(joined, f.left, f.operator, f.right) for f in block.filters):
                        yield joined


def _apply(
    query: Query, operator: Join, left: Joined, rights: Sequence[Joined]
) -> Iterator[Joined]:
    own = [t for t in operator.terms if t.left.variable in left and t.right.variable in left]
    if not all(_holds(term, left, query) for term in own):
        return
    across = [term for term in operator.terms if term not in own]
    partners = [
        right
        for right in rights
        if _may_meet(operator, left, right)
        and _agrees(operator, _both(left, right))
        and all(_holds(term, _both(left, right), query) for term in across)
    ]
    if operator.kind is JoinKind.NOT_FOLLOWED_BY:
        if not partners:
            yield left
        return
    for right in partners:
        yield _both(left, right)


def _both(left: Joined, right: Joined) -> Joined:
    documents = left.documents + right.documents
    return Joined(documents, max(left.time, right.time), left.bindings + right.bindings)


def _may_meet(operator: Join, left: Joined, right: Joined) -> bool:
    """Whether the documents differ and their times fit, counted in whole microseconds."""
    if operator.kind is JoinKind.MEET:
        return True
    if right.documents[0] in left.documents:
        return False
    apart = _microseconds(right.time) - _microseconds(left.time)
    seconds = operator.window_seconds
    window = float("inf") if seconds is None else _microseconds(seconds)
    return abs(apart) <= window if operator.kind is JoinKind.JOIN else 0 < apart <= window


def _microseconds(seconds: float) -> int:
    return round(seconds * 1_000_000)


def _agrees(operator: Join, both: Joined) -> bool:
    return all(_compares(both, one, "=", other) for one, other in operator.equalities) and all(
        _compares(both, part.left, part.operator, part.right) for part in operator.inequalities
    )


def _compares(joined: Joined, left: str, operator: str, right: str) -> bool:
    return compare(operator, joined[left].string_value(), joined[right].string_value())


def _holds(term: PathTerm, joined: Joined, query: Query) -> bool:
    """Whether a comparison of paths holds for some of their nodes."""
    return any(
        compare(term.operator, one.string_value(), other.string_value())
        for one in _nodes(term.left, joined, query)
        for other in _nodes(term.right, joined, query)
    )


def _nodes(operand: Operand, joined: Joined, query: Query) -> list[Node]:
    node = joined[operand.variable]
    if operand.path is None:
        return [node]
    root = node
    while root.parent is not None:
        root = root.parent
    return reached(spine_of(operand.path), node, Scope(root, query.constants))
