"""A query over several streams as a join of documents, each of which is one binding.

Whoever keeps the state of joins between documents keeps that of bindings in the same way: a binding
is a small document of a stream of its own, with its fragment and the values that it joins by, and
the query is a chain of joins, one for each further side.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

from penstock.planning.bindings.parts import FRAGMENT
from penstock.planning.bindings.programs import BindingProgram
from penstock.planning.records import write_records
from penstock.planning.templates import compile_join
from penstock.twigs import (
    TRUE,
    Axis,
    Block,
    Branch,
    Event,
    Insert,
    Join,
    JoinKind,
    NodeKind,
    NodeTest,
    Query,
    TwigNode,
)

BINDING, KEY, DOCUMENT = "b", "k", "d"
"""Elements of the document of a binding: its root, the values of each key, and what tells the
document that it is from."""
_PREFIX = "\1"
"""Streams of documents have no such names."""


@dataclass(frozen=True, slots=True)
class BindingRecords:
    """A query over several streams, lowered.

    ``program`` requests records. ``streams`` are those of the bindings, by side; bindings that
    equal sides of two queries give are in one stream. ``order`` are the sides in the order in
    which they are joined; the selected nodes of a result are the fragments, by side.
    """

    program: bytes
    streams: tuple[str, ...]
    order: tuple[int, ...]

    @classmethod
    def of(cls, program: BindingProgram) -> BindingRecords:
        """Return a query over several streams, lowered."""
        streams = _streams(program)
        order = _order(program)
        select = tuple(map(_fragment, range(len(order))))
        within = program.within_us
        joins = [
            Join(
                JoinKind.JOIN,
                at,
                tuple(_equalities(program, order[:at], order[at])),
                None if within is None else within / 1_000_000,
            )
            for at in range(1, len(order))
        ]
        query = Query(
            tuple(_block(program, side, streams[side]) for side in order),
            Event(select, None, tuple(map(Insert, select))),
            joins=tuple(joins),
            language="xquery",
        )
        return cls(write_records(compile_join(query)), streams, order)


def _streams(program: BindingProgram) -> tuple[str, ...]:
    """Return the stream of each side; equal sides of one query have different ones.

    What two sides bind is joined even if it is one node, and no document joins itself.
    """
    found: list[str] = []
    for number, side in enumerate(program.sides):
        before = [one.program for one in program.sides[:number]].count(side.program)
        name = blake2b(side.program, digest_size=16).hexdigest()
        found.append(f"{_PREFIX}{name}.{before}")
    return tuple(found)


def _order(program: BindingProgram) -> tuple[int, ...]:
    """Return the sides so that an equality leads from each to one before it."""
    order = [0]
    while len(order) < len(program.sides):
        ends = [(edge.left[0], edge.right[0]) for edge in program.edges]
        ends += [(right, left) for left, right in ends]
        order.append(min(far for near, far in ends if near in order and far not in order))
    return tuple(order)


def _equalities(
    program: BindingProgram, before: Iterable[int], side: int
) -> Iterable[tuple[str, str]]:
    """Yield the pairs of variables by which a side joins those before it.

    Each equality has variables of its own: of two about one key, either is about any of its values.
    """
    known = set(before)
    for number, (left, right) in enumerate(program.edges):
        for near, far in ((left, right), (right, left)):
            if near[0] in known and far[0] == side:
                yield _value(number, near[0]), _value(number, far[0])


def _block(program: BindingProgram, side: int, stream: str) -> Block:
    children = [_element(FRAGMENT, _fragment(side))]
    for number, edge in enumerate(program.edges):
        keys = [key for own, key in edge if own == side]
        last = program.sides[side].key_count
        names = [DOCUMENT if key == last else f"{KEY}{key}" for key in keys]
        children += [_element(name, _value(number, side)) for name in names]
    root = _element(BINDING, f"b{side}", children)
    document = TwigNode(
        Axis.SELF, NodeTest(NodeKind.DOCUMENT, None, None), TRUE, None, (Branch(root, False),)
    )
    return Block((document,), stream, ())


def _element(name: str, variable: str, children: Iterable[TwigNode] = ()) -> TwigNode:
    test = NodeTest(NodeKind.ELEMENT, name, ("",))
    return TwigNode(
        Axis.CHILD, test, TRUE, variable, tuple(Branch(child, False) for child in children)
    )


def _fragment(side: int) -> str:
    return f"f{side}"


def _value(edge: int, side: int) -> str:
    return f"e{edge}s{side}"
