"""Compiled queries by the definitions of their types: stage 1 and stage 2 as relations.

``witnesses`` is what a document must deliver, ``evaluate_rows`` what the rows of a query make of
it. Slow like the oracle, and independent of it: the two share the parser and nothing of a join.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from penstock.planning.templates import (
    LEFT,
    LOWER,
    TOP,
    UPPER,
    JoinQuery,
    Place,
    Row,
    Term,
    Variable,
    WitnessTree,
)
from penstock.twigs import Block, JoinKind, TwigNode
from penstock.twigs.blanks import Atom
from penstock_testing.reference.expressions import Scope
from penstock_testing.reference.joins import Arrival
from penstock_testing.reference.values import compare
from penstock_testing.reference.witnesses import matches_of, tuples
from penstock_testing.tree import Node

MICROSECONDS = 1_000_000
Pair = tuple[Variable, Variable]
Bound = tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Witness:
    """What stage 1 delivers of one document, or what a partial match is.

    ``nodes`` are the nodes of the variables that carry values, or stand alone in their tree.
    """

    documents: tuple[str, ...]
    time: float
    edges: dict[Pair, set[tuple[Node, Node]]] = field(default_factory=dict)
    nodes: dict[Variable, set[Node]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Kept:
    """What goes on from a row: the nodes at its kept places, and their documents."""

    documents: tuple[str, ...]
    time: float
    nodes: Bound


def witness_of(tree: WitnessTree, arrival: Arrival) -> Witness:
    """Return the relations that a tree asks of one document."""
    found = Witness((arrival.id,), arrival.time)
    for edge in tree.edges:
        pairs = _matched(arrival, edge.alternatives, edge.constants)
        found.edges[edge.upper, edge.lower] = {(one[UPPER], one[LOWER]) for one in pairs}
    for place, variable in enumerate(tree.variables):
        if place in tree.valued or len(tree.variables) == 1:
            nodes = _matched(arrival, variable.alternatives, variable.constants)
            found.nodes[variable] = {one[LOWER] for one in nodes}
    return found


def evaluate_rows(query: JoinQuery, arrivals: Sequence[Arrival]) -> set[Kept]:
    """Return what goes on from the last row of a query."""
    if query.alone is not None:
        alone = query.alone
        return {
            Kept(witness.documents, witness.time, tuple(nodes[p.place] for p in alone.kept))
            for witness in _witnesses(alone.tree, arrivals)
            for nodes in _embeddings(alone.tree, witness)
            if all(_holds(term, (nodes, ())) for term in alone.terms)
        }
    left = _witnesses(query.rows[0].left, arrivals)
    kept: set[Kept] = set()
    for row in query.rows:
        kept = set(_evaluate(row, left, _witnesses(row.right, arrivals)))
        left = [_partial(row, one) for one in kept]
    return kept


def _witnesses(tree: WitnessTree, arrivals: Iterable[Arrival]) -> list[Witness]:
    return [witness_of(tree, one) for one in arrivals if tree.stream in (None, one.stream)]


def _matched(
    arrival: Arrival, alternatives: tuple[TwigNode, ...], constants: tuple[Atom, ...]
) -> Iterator[dict[str, Node]]:
    scope = Scope(arrival.tree.root, constants)
    for match in matches_of(Block(alternatives), scope):
        yield from tuples(match)


def _evaluate(row: Row, lefts: list[Witness], rights: list[Witness]) -> Iterator[Kept]:
    is_absence = row.kind is JoinKind.NOT_FOLLOWED_BY
    for left in lefts:
        unmatched = {nodes for nodes in _embeddings(row.left, left) if _own(row, nodes, LEFT)}
        for right in rights:
            if right.documents[0] in left.documents or not _in_window(row, left, right):
                continue
            for bound in _bindings(row, left, right):
                if is_absence:
                    unmatched.discard(bound[LEFT])
                else:
                    documents = left.documents + right.documents
                    time = max(left.time, right.time)
                    yield Kept(documents, time, _at(row.kept, bound))
        if is_absence:
            for nodes in unmatched:
                yield Kept(left.documents, left.time, _at(row.kept, (nodes, ())))


def _bindings(row: Row, left: Witness, right: Witness) -> Iterator[tuple[Bound, Bound]]:
    """Yield the bindings of both trees."""
    rights = list(_embeddings(row.right, right))
    for left_nodes in _embeddings(row.left, left):
        for right_nodes in rights:
            bound = left_nodes, right_nodes
            is_joined = all(
                left_nodes[one].string_value() == right_nodes[other].string_value()
                for one, other in row.joins
            )
            if is_joined and all(_holds(term, bound) for term in row.terms):
                yield bound


def _embeddings(tree: WitnessTree, witness: Witness) -> Iterator[Bound]:
    """Yield a node for each variable, so that all edges hold."""
    variables, parents = tree.variables, tree.parents

    def extend(bound: Bound) -> Iterator[Bound]:
        place = len(bound)
        if place == len(variables):
            yield bound
            return
        parent = parents[place]
        if parent == TOP:
            candidates = _tops(variables, parents, witness)
        else:
            pairs = witness.edges[variables[parent], variables[place]]
            candidates = {lower for upper, lower in pairs if upper is bound[parent]}
        for node in candidates:
            yield from extend((*bound, node))

    return extend(())


def _tops(variables: Sequence[Variable], parents: Sequence[int], witness: Witness) -> set[Node]:
    if len(variables) == 1:
        return witness.nodes[variables[0]]
    child = parents.index(0)
    return {upper for upper, _ in witness.edges[variables[0], variables[child]]}


def _own(row: Row, nodes: Bound, side: int) -> bool:
    terms = [term for term in row.terms if term.left.side == term.right.side == side]
    return all(_holds(term, (nodes, nodes)) for term in terms)


def _holds(term: Term, bound: tuple[Bound, Bound]) -> bool:
    one, other = (bound[place.side][place.place] for place in (term.left, term.right))
    return compare(term.operator, one.string_value(), other.string_value())


def _at(places: tuple[Place, ...], bound: tuple[Bound, Bound]) -> Bound:
    return tuple(bound[side][place] for side, place in places)


def _in_window(row: Row, left: Witness, right: Witness) -> bool:
    apart = round(right.time * MICROSECONDS) - round(left.time * MICROSECONDS)
    window = float("inf") if row.window_us is None else row.window_us
    return abs(apart) <= window if row.kind is JoinKind.JOIN else 0 < apart <= window


def _partial(row: Row, kept: Kept) -> Witness:
    """Return a partial match as the next row reads it; any node can stand for the match."""
    match, *variables = (
        Variable(row.output, str(number) if number else "match")
        for number in range(len(kept.nodes) + 1)
    )
    witness = Witness(kept.documents, kept.time)
    for variable, node in zip(variables, kept.nodes, strict=True):
        witness.edges[match, variable] = {(kept.nodes[0], node)}
        witness.nodes[variable] = {node}
    return witness
