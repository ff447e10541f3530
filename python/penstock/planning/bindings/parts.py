"""What a query over several streams consists of: sides, what joins them, and its message."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock.twigs.nodetests import Axis, NodeKind, NodeTest

STREAMS_MAX = 8
"""So many loops over streams can be joined."""

KEYS_MAX = 64
"""So many different values may a binding join by."""

FRAGMENT, OWNER, TUPLE, TUPLES = "f", "a", "t", "ts"
"""Elements of the document that tuples are evaluated in; ``side_name`` names those of sides. The
owner has the attribute that a loop binds."""

_TUPLE = "#tuple"
"""A variable that no query can have."""


def side_name(side: int) -> str:
    """Return the name of the element around the fragment of a side."""
    return f"p{side}"


class Key(NamedTuple):
    """What a binding is joined by: an expression over its variable, compared as text or number."""

    source: Any
    is_number: bool


class Edge(NamedTuple):
    """A value of one side equals one of another: sides, and their keys, by number.

    The number behind the last key stands for the document that the binding is from.
    """

    left: tuple[int, int]
    right: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Side:
    """A ``for`` over a stream: its loop, the conditions about it alone, what it is joined by.

    ``bound`` is what the loop binds: elements, attributes or text.
    """

    loop: q.For
    stream: str
    bound: NodeKind
    conditions: tuple[Any, ...]
    keys: tuple[Key, ...]

    def loop_in_tuple(self, number: int) -> q.For:
        """Return the loop over the node in a tuple, where it is the side of that number."""
        outer = _child(_child(q.Variable(_TUPLE), side_name(number)), FRAGMENT)
        if self.bound is NodeKind.ATTRIBUTE:
            node = x.Step(_child(outer, OWNER), Axis.ATTRIBUTE, NodeTest(self.bound))
        else:
            node = x.Step(outer, Axis.CHILD, NodeTest(self.bound))
        return q.For(self.loop.variable, node)


@dataclass(frozen=True, slots=True)
class BindingJoin:
    """A query over several streams in three stages."""

    sides: tuple[Side, ...]
    edges: tuple[Edge, ...]
    clauses: tuple[Any, ...]
    """Clauses of the message: further loops and variables, then conditions between sides."""
    result: Any

    def message(self) -> q.Flwor:
        """Return the query that makes messages of a document of tuples."""
        tuples = q.For(_TUPLE, _child(_child(x.Root(), TUPLES), TUPLE))
        loops = [side.loop_in_tuple(number) for number, side in enumerate(self.sides)]
        return q.Flwor((tuples, *loops, *self.clauses), self.result)


def conjuncts(test: Any) -> Iterator[Any]:
    """Yield the conditions all of which a condition asks for."""
    if isinstance(test, x.And):
        for part in test.parts:
            yield from conjuncts(part)
    else:
        yield test


def _child(base: Any, name: str) -> x.Step:
    return x.Step(base, Axis.CHILD, NodeTest(NodeKind.ELEMENT, name, ("",)))
