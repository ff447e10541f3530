"""XSCL by brute force, from the definitions: every combination of bindings of all documents.

Nothing is shared with the product, or with ``penstock_testing.reference``: no parser, no twig, no
normal form. An outcome depends on the documents that are not late, never on their order.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from penstock_testing.adversary.xscl.syntax import (
    Element,
    Insert,
    Operand,
    Operator,
    Path,
    Query,
    Term,
    inserted_in,
    variables_of,
)
from penstock_testing.adversary.xscl.trees import Node, Shape, follow, joined, reach, shape_of

_UNITS_US = {"us": 1, "ms": 1_000, "s": 1_000_000, "min": 60_000_000, "h": 3_600_000_000}
_NUMBER = re.compile(r"[ \t\r\n]*-?(\d+(\.\d*)?|\.\d+)[ \t\r\n]*")
_XMLNS = "xmlns"


@dataclass(frozen=True, eq=False, slots=True)
class Read:
    """A document that was read. ``step`` is the arrival with which it came."""

    id: str
    stream: str
    time_us: int
    root: Node
    step: int | None


@dataclass(frozen=True, slots=True)
class Binding:
    """Nodes for the variables of some blocks, and the documents that they are in.

    ``step`` is the arrival with which it is certain; None where the definitions leave it open.
    """

    parts: tuple[Read, ...]
    time_us: int
    nodes: Mapping[str, Node]
    step: int | None


@dataclass(frozen=True, slots=True)
class Event:
    """A result of a query: its documents, and what it is made of."""

    parts: tuple[Read, ...]
    time_us: int
    nodes: tuple[Node, ...]
    shape: Shape
    step: int | None

    @property
    def latest(self) -> Read:
        """The document with the latest event time; of several, the last in block order."""
        place = max(range(len(self.parts)), key=lambda at: (self.parts[at].time_us, at))
        return self.parts[place]


def evaluate(
    query: Query, documents: Sequence[Read], marks: Sequence[float], published: frozenset[str]
) -> list[Event]:
    """Return the results of a query over documents; ``marks`` are the watermarks by arrival.

    When absence of what is ``published`` is certain depends on the publishers, so it is left open.
    """
    lefts = _bindings(query, 0, documents)
    for number, operator in enumerate(query.operators, start=1):
        rights = _bindings(query, number, documents)
        is_open = operator.block.stream in published
        lefts = list(_apply(operator, lefts, rights, marks, is_open))
    selected = _selected(query)
    events: dict[object, Event] = {}
    for binding in lefts:
        nodes = tuple(binding.nodes[name] for name in selected)
        key = (tuple(map(id, binding.parts)), tuple(map(id, nodes)))
        before = events.get(key)
        shape = _shape(query, dict(zip(selected, nodes, strict=True)))
        event = Event(binding.parts, binding.time_us, nodes, shape, binding.step)
        if before is None or (before.step is not None and event.step is None):
            events[key] = event
    return list(events.values())


# Blocks


def _bindings(query: Query, number: int, documents: Sequence[Read]) -> list[Binding]:
    """Return the distinct bindings of a block in all documents of its stream."""
    block, end = query.blocks[number], _end(query, number)
    found = []
    for document in documents:
        if document.stream == block.stream:
            distinct: dict[tuple[int, ...], dict[str, Node]] = {}
            for nodes in _embeddings(document.root, block.path, end):
                if block.document is not None:
                    nodes[block.document] = document.root
                if not block.path:
                    nodes[end] = document.root
                distinct[tuple(id(nodes[name]) for name in sorted(nodes))] = nodes
            found += [
                Binding((document,), document.time_us, nodes, document.step)
                for nodes in distinct.values()
            ]
    return found


def _embeddings(node: Node, path: Path, end: str | None = None) -> Iterator[dict[str, Node]]:
    """Yield nodes for the variables of a path, for every way in which it can be followed.

    The last node is bound to ``end``, if that is given.
    """
    if not path:
        yield {}
        return
    step, rest = path[0], path[1:]
    names = {step.variable, None if rest else end} - {None}
    for reached in reach([node], step):
        own = {name: reached for name in names if name is not None}
        parts = [[*_embeddings(reached, branch)] for branch in step.branches]
        for chosen in product(*parts, [*_embeddings(reached, rest, end)]):
            nodes = dict(own)
            for one in chosen:
                nodes |= one
            yield nodes


def _end(query: Query, number: int) -> str:
    """Return the name of the end of a block's path, which nobody can write if it has none."""
    block = query.blocks[number]
    written = block.path[-1].variable if block.path else block.document
    return written or f"#{number}"


# Operators


def _apply(
    operator: Operator,
    lefts: Sequence[Binding],
    rights: Sequence[Binding],
    marks: Sequence[float],
    is_open: bool,
) -> Iterator[Binding]:
    here = set(variables_of(operator.block))
    own = [term for term in operator.terms if not here & _mentioned(term)]
    across = [term for term in operator.terms if here & _mentioned(term)]
    window_us = window_of(operator.window)
    for left in lefts:
        if not all(_holds(term, left.nodes) for term in own):
            continue
        partners = [
            right
            for right in rights
            if right.parts[0] not in left.parts
            and _fits(operator.kind, right.time_us - left.time_us, window_us)
            and all(_holds(term, {**left.nodes, **right.nodes}) for term in across)
        ]
        if operator.kind == "NOT FOLLOWED BY":
            if not partners:
                yield replace(left, step=_passed(left, window_us, marks, is_open))
            continue
        for right in partners:
            nodes = {**left.nodes, **right.nodes}
            steps = (left.step, right.step)
            step = None if None in steps else max(one for one in steps if one is not None)
            time_us = max(left.time_us, right.time_us)
            yield Binding(left.parts + right.parts, time_us, nodes, step)


def _fits(kind: str, apart_us: int, window_us: float) -> bool:
    if kind == "JOIN":
        return abs(apart_us) <= window_us
    return 0 < apart_us <= window_us


def window_of(text: str) -> float:
    """Return a window in microseconds."""
    if text == "INF":
        return math.inf
    number, _, unit = text.partition(" ")
    return round(float(number) * _UNITS_US[unit or "s"])


def _passed(left: Binding, window_us: float, marks: Sequence[float], is_open: bool) -> int | None:
    """Return the arrival with which event time has passed the window of an absence."""
    if left.step is None or is_open:
        return None
    passed = (
        at for at in range(left.step, len(marks) - 1) if marks[at + 1] > left.time_us + window_us
    )
    return next(passed, len(marks) - 1)


def _mentioned(term: Term) -> set[str]:
    return {one.variable for one in (term.left, term.right) if one.variable is not None}


def _holds(term: Term, nodes: Mapping[str, Node]) -> bool:
    lefts, rights = _values(term.left, nodes), _values(term.right, nodes)
    return any(compare(term.sign, one, other) for one in lefts for other in rights)


def _values(operand: Operand, nodes: Mapping[str, Node]) -> list[str | float]:
    if operand.constant is not None:
        return [operand.constant]
    assert operand.variable is not None, "an operand is a constant or has a variable"
    return [node.string() for node in follow(nodes[operand.variable], operand.path)]


def compare(sign: str, left: str | float, right: str | float) -> bool:
    """Return whether a comparison of XPath holds: of strings for = and != without a number."""
    if sign in ("=", "!=") and isinstance(left, str) and isinstance(right, str):
        return (left == right) == (sign == "=")
    one, other = _number(left), _number(right)
    match sign:
        case "=":
            return one == other
        case "!=":
            return one != other
        case "<":
            return one < other
        case "<=":
            return one <= other
        case ">":
            return one > other
    return one >= other


def _number(value: str | float) -> float:
    if isinstance(value, str):
        return float(value) if _NUMBER.fullmatch(value) else math.nan
    return value


# Output


def _selected(query: Query) -> tuple[str, ...]:
    """Return the variables whose distinct nodes make results."""
    if isinstance(query.select, Element):
        return tuple(dict.fromkeys(inserted_in(query.select)))
    if query.select:
        return tuple(dict.fromkeys(query.select))
    kinds = ["", *(operator.kind for operator in query.operators)]
    present = [number for number, kind in enumerate(kinds) if kind != "NOT FOLLOWED BY"]
    return tuple(_end(query, number) for number in present)


def _shape(query: Query, nodes: Mapping[str, Node]) -> Shape:
    if isinstance(query.select, Element):
        return (_constructed(query.select, nodes, {"": ""}),)
    if query.is_bare:
        (node,) = nodes.values()
        return shape_of(node)
    content = [part for node in nodes.values() for part in shape_of(node)]
    return (("event", (), joined(content)),)


def _constructed(element: Element, nodes: Mapping[str, Node], around: Mapping[str, str]) -> Shape:
    scope = dict(around)
    written: list[tuple[str, str]] = []
    for name, parts in element.attributes:
        value = "".join(
            nodes[part.variable].string() if isinstance(part, Insert) else part for part in parts
        )
        if name == _XMLNS or name.startswith(f"{_XMLNS}:"):
            scope[name.removeprefix(_XMLNS).removeprefix(":")] = value
        else:
            written.append((name, value))
    content: list[object] = []
    for part in element.content:
        if isinstance(part, str):
            content.append(part)
        elif isinstance(part, Element):
            content.append(_constructed(part, nodes, scope))
        elif part.as_value:
            content.append(nodes[part.variable].string())
        else:
            content += shape_of(nodes[part.variable])
    named = tuple(sorted((_expanded(name, scope, False), value) for name, value in written))
    return (_expanded(element.name, scope, True), named, joined(content))


def _expanded(name: str, scope: Mapping[str, str], is_element: bool) -> str:
    prefix, _, local = name.rpartition(":")
    uri = scope[prefix] if prefix or is_element else ""
    return f"{{{uri}}}{local}" if uri else local
