"""What every event of a document decides about a query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from penstock.twigs import Aggregate, Fragments, Query, Value
from penstock.twigs.expressions import Atom, Nodes, Selection
from penstock_testing.kleene.expressions import ExpressionKnowledge
from penstock_testing.kleene.lifetimes import Lifetimes
from penstock_testing.kleene.truth import Truth
from penstock_testing.kleene.twigs import TwigKnowledge, spines_of
from penstock_testing.tree import Node, Tree


@dataclass(frozen=True, slots=True)
class Step:
    """What an event brings: results decided by it, and candidates that must be held after it."""

    decided: frozenset[Node]
    needed: frozenset[Node]


def steps(query: Query, tree: Tree, *, is_order_late: bool = False) -> list[Step]:
    """Return for every event of the tree what it decides and what is needed after it.

    ``is_order_late`` is explained at :class:`ExpressionKnowledge`.
    """
    return list(steps_at(query, tree, range(len(tree.events)), is_order_late=is_order_late))


def steps_at(
    query: Query, tree: Tree, events: Iterable[int], *, is_order_late: bool = False
) -> Iterator[Step]:
    """Yield for some events, in order, what is decided since the last one and what is needed.

    Every event is worked out on its own, so a few events of a large document cost little.
    """
    lifetimes = Lifetimes(tree)
    truths_now = _results(query, tree, lifetimes, is_order_late)
    known: set[Node] = set()
    for event in events:
        lifetimes.event = event
        truths = truths_now()
        decided = frozenset(n for n, truth in truths.items() if truth and n not in known)
        known |= decided
        yield Step(decided, frozenset(n for n, truth in truths.items() if truth is None))


def earliest(query: Query, tree: Tree) -> dict[Node, int]:
    """Return for every result the index of the first event that decides it."""
    decided = (step.decided for step in steps(query, tree))
    return {node: event for event, nodes in enumerate(decided) for node in nodes}


def needed(query: Query, tree: Tree) -> list[frozenset[Node]]:
    """Return for every event the nodes that are no results yet and may still become some."""
    return [step.needed for step in steps(query, tree)]


def known_at(query: Query, tree: Tree, *, is_order_late: bool = False) -> int:
    """Return the index of the first event after which the value of a query is known.

    An aggregate is known at the end of the document: until then a node may come.
    ``is_order_late`` is explained at :class:`ExpressionKnowledge`.
    """
    lifetimes = Lifetimes(tree)
    is_known = _value(query, tree, lifetimes, is_order_late)
    for event in range(len(tree.events)):
        lifetimes.event = event
        if is_known():
            return event
    raise AssertionError("everything is known at the end of the document")


def _results(
    query: Query, tree: Tree, lifetimes: Lifetimes, is_order_late: bool
) -> Callable[[], dict[Node, Truth]]:
    """Say how to find the nodes that are results or may become some."""
    match query.output:
        case Fragments(variable):
            spines = spines_of(query, variable)
            twigs = TwigKnowledge(query, tree, lifetimes)
            return lambda: twigs.ends(spines)
        case Selection(expression):
            knowledge = ExpressionKnowledge(query, tree, lifetimes, is_order_late)
            return lambda: knowledge.members_at_root(cast("Nodes", expression))
    raise TypeError(f"{type(query.output).__name__} selects no nodes")


def _value(
    query: Query, tree: Tree, lifetimes: Lifetimes, is_order_late: bool
) -> Callable[[], bool]:
    """Say how to find whether the value of a query is known."""
    match query.output:
        case Aggregate() | Selection(aggregate=str()):
            return lambda: lifetimes.is_closed(tree.root)
        case Value(atom):
            twigs = TwigKnowledge(query, tree, lifetimes)
            return lambda: twigs.value(atom, tree.root) is not None
        case Selection(expression):
            knowledge = ExpressionKnowledge(query, tree, lifetimes, is_order_late)
            return lambda: knowledge.is_known_at_root(cast("Atom", expression))
    raise TypeError(f"{type(query.output).__name__} has no value")
