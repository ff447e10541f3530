"""Messages that are put together from pieces: constant characters, and what one loop alone gives.

Most messages list parts of their bindings. A part about one loop is evaluated when its binding is
complete, and is all that the join keeps of it; the message of a tuple is its *outline* with the
pieces filled in. Conditions that compare values of a loop with constants become *selections*:
queries that differ in such constants alone have equal sides, so they share their tables.

A binding that joins nothing must not give an error, so only what cannot fail is evaluated ahead. A
message with anything else is evaluated tuple by tuple (``BindingJoin.message``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

from penstock.planning.bindings.gathering import CONTENT, QUOTED, TAG, Piece, gathering_program
from penstock.planning.bindings.parts import BindingJoin, Key, Side
from penstock.planning.bindings.safety import (
    attribute_name,
    is_safe_atoms,
    is_safe_content,
    is_safe_path,
    is_safe_test,
)
from penstock.planning.program import varint, varints
from penstock.planning.records.encoding import string
from penstock.planning.sequences.context import free_variables
from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock.twigs.nodetests import NodeKind
from penstock.twigs.sequence_parts import substitute
from penstock.twigs.sequence_printing import print_item

VALUES_MAX = 72
"""So many attributes may a binding have: each is one character before its values."""


OPERATORS = ("is", "=", "<", "<=", ">", ">=")
"""What a condition asks: a text, or a comparison of numbers. Codes are places here."""


class Selection(NamedTuple):
    """A condition on a side: some value of an attribute compares with a constant like this."""

    side: int
    attribute: int
    operator: int
    constant: str


@dataclass(frozen=True, slots=True)
class OutlineJoin:
    """A query over several streams whose messages are put together.

    ``sides`` are programs that give values and pieces of each side's bindings.
    """

    sides: tuple[bytes, ...]
    piece_counts: tuple[int, ...]
    selections: tuple[Selection, ...]
    outline: bytes


class _Piece(NamedTuple):
    side: int
    form: str
    source: Any


@dataclass(frozen=True, slots=True)
class _Element:
    name: str
    attributes: tuple[tuple[str, tuple[str | _Piece, ...]], ...]
    tag: tuple[_Piece, ...]
    content: tuple[str | _Piece | _Element, ...]


class _EvaluatedError(Exception):
    """The message has to be evaluated tuple by tuple."""


def outline_of(join: BindingJoin, output: q.Sequences) -> OutlineJoin | None:
    """Return a query as an outline; None if its messages have to be evaluated."""
    try:
        root = _Reading(join).element(_without_lets(join))
    except _EvaluatedError:
        return None
    pieces: list[list[_Piece]] = [[] for _ in join.sides]
    for piece in dict.fromkeys(_pieces(root)):
        pieces[piece.side].append(piece)
    for own in pieces:
        # Queries that list the same parts in another order have the same pieces.
        own.sort(key=lambda one: (one.form != TAG, one.form, print_item(one.source, output)))
    selections: list[Selection] = []
    sides = []
    for number, side in enumerate(join.sides):
        conditions, sources, constants = _selected(side)
        selections += [Selection(number, *constant) for constant in constants]
        keys = [*side.keys, *(Key(source, is_number=False) for source in sources)]
        ended = _ended(pieces[number])
        sides.append(gathering_program(side, conditions, keys, ended, output))
    places = {piece: place for own in pieces for place, piece in enumerate(own)}
    counts = tuple([len(_ended(own)) for own in pieces])
    return OutlineJoin(tuple(sides), counts, tuple(selections), _encoded(root, places))


def _without_lets(join: BindingJoin) -> Any:
    """Return what a message returns, with the values of variables in their place."""
    values: dict[str, Any] = {}
    for clause in join.clauses:
        if not isinstance(clause, q.Let) or clause.type is not None:
            raise _EvaluatedError
        values[clause.variable] = substitute(clause.source, values)
    return substitute(join.result, values)


class _Reading:
    """Takes a message apart."""

    def __init__(self, join: BindingJoin) -> None:
        self._sides = join.sides
        self._numbers = {side.loop.variable: number for number, side in enumerate(join.sides)}

    def element(self, part: Any) -> _Element:
        """Return a constructor as constant tags and pieces."""
        match part:
            case q.NewElement(q.Name(name, "", ""), namespaces=(), around=()):
                pass
            case _:
                raise _EvaluatedError
        attributes: list[tuple[str, tuple[str | _Piece, ...]]] = []
        tag: list[_Piece] = []
        content: list[str | _Piece | _Element] = []
        names: list[str] = []
        for inner in _listed(part.content):
            if isinstance(inner, q.NewAttribute) and not (tag or content):
                attributes.append(self._attribute(inner))
                names.append(attributes[-1][0])
            elif (local := self._attribute_name(inner)) is not None and not content:
                tag.append(self._piece(inner, TAG))
                names.append(local)
            elif self._is_nodes(inner) or is_safe_atoms(inner):
                content.append(self._piece(inner, CONTENT))
            elif isinstance(inner, q.Characters):
                content.append(inner.text)
            else:
                content.append(self.element(inner))
        if len({*names}) < len(names):
            raise _EvaluatedError
        return _Element(name, tuple(attributes), tuple(tag), tuple(content))

    def _attribute(self, part: q.NewAttribute) -> tuple[str, tuple[str | _Piece, ...]]:
        match part.name:
            case q.Name(local, "", ""):
                return local, tuple([self._quoted(one) for one in part.value])
            case _:
                raise _EvaluatedError

    def _quoted(self, part: Any) -> str | _Piece:
        if isinstance(part, q.Characters):
            return part.text
        if is_safe_path(part) or is_safe_atoms(part):
            return self._piece(part, QUOTED)
        raise _EvaluatedError

    def _attribute_name(self, part: Any) -> str | None:
        """Return the name of the attribute that an expression gives, if it gives at most one."""
        if isinstance(part, q.Variable) and self._bound(part) is NodeKind.ATTRIBUTE:
            test = self._side(part).loop.source.test
            return test.local if test.uris == ("",) else None
        return attribute_name(part)

    def _is_nodes(self, part: Any) -> bool:
        return is_safe_content(part) and self._bound(part) is not NodeKind.ATTRIBUTE

    def _bound(self, part: Any) -> NodeKind | None:
        names = free_variables(part) & self._numbers.keys()
        return self._sides[self._numbers[names.pop()]].bound if len(names) == 1 else None

    def _side(self, part: q.Variable) -> Side:
        return self._sides[self._numbers[part.name]]

    def _piece(self, part: Any, form: str) -> _Piece:
        names = free_variables(part)
        if len(names) != 1 or not names <= self._numbers.keys():
            raise _EvaluatedError
        return _Piece(self._numbers[names.pop()], form, part)


def _listed(content: Sequence[Any]) -> Iterator[Any]:
    """Yield the parts of a constructor; nodes that one expression lists are parts of their own."""
    for inner in content:
        if isinstance(inner, q.Sequence) and inner.parts:
            # Atomic values of one expression are separated by spaces, so they stay together.
            if not all(isinstance(one, q.Variable | x.Step | x.Filter) for one in inner.parts):
                raise _EvaluatedError
            yield from inner.parts
        else:
            yield inner


def _pieces(element: _Element) -> Iterator[_Piece]:
    for _, value in element.attributes:
        yield from (one for one in value if isinstance(one, _Piece))
    yield from element.tag
    for inner in element.content:
        if isinstance(inner, _Piece):
            yield inner
        elif isinstance(inner, _Element):
            yield from _pieces(inner)


def _encoded(element: _Element, places: dict[_Piece, int]) -> bytes:
    """Return the bytes of an outline, as ``progressive/messages/outline.rs`` reads them."""

    def place(piece: _Piece) -> bytes:
        return varints(piece.side, places[piece])

    parts = [string(element.name), varint(len(element.attributes))]
    for name, value in element.attributes:
        parts += [string(name), varint(len(value))]
        parts += [
            b"\0" + string(one) if isinstance(one, str) else b"\1" + place(one) for one in value
        ]
    parts += [varint(len(element.tag)), *map(place, element.tag), varint(len(element.content))]
    for inner in element.content:
        match inner:
            case str():
                parts.append(b"\0" + string(inner))
            case _Piece():
                parts.append(b"\1" + place(inner))
            case _:
                parts.append(b"\2" + _encoded(inner, places))
    return b"".join(parts)


class _Comparison(NamedTuple):
    """A condition: some value of a path compares with a constant."""

    source: Any
    operator: int
    constant: str


def _selected(side: Side) -> tuple[list[Any], list[Any], list[tuple[int, int, str]]]:
    """Return the conditions of a side that stay, the values that are selected by, and constants.

    A constant has the number of its attribute and an operator; attributes that join come first.
    """
    compared = [_comparison(condition) for condition in side.conditions]
    others = [
        condition
        for condition, comparison in zip(side.conditions, compared, strict=True)
        if comparison is None
    ]
    # What fails for a binding that is not selected would give an error that nobody should see.
    if not all(map(is_safe_test, others)) or not all(map(_is_safe_key, side.keys)):
        return [*side.conditions], [], []
    constants: list[tuple[int, int, str]] = []
    sources: list[Any] = []
    for comparison in compared:
        if comparison is None:
            continue
        if comparison.source not in sources:
            if len(side.keys) + len(sources) == VALUES_MAX:
                return [*side.conditions], [], []
            sources.append(comparison.source)
        place = len(side.keys) + sources.index(comparison.source)
        constants.append((place, comparison.operator, comparison.constant))
    return others, sources, constants


_REVERSED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _comparison(condition: Any) -> _Comparison | None:
    match condition:
        case q.GeneralCompare(operator, source, q.Atomic() as constant) if operator in _REVERSED:
            pass
        case q.GeneralCompare(operator, q.Atomic() as constant, source) if operator in _REVERSED:
            operator = _REVERSED[operator]
        case _:
            return None
    if not is_safe_path(source):
        return None
    if constant.type == "string":
        return _Comparison(source, 0, constant.text) if operator == "=" else None
    if constant.type not in ("integer", "decimal", "double"):
        return None
    number = float(constant.text)
    if not isfinite(number):
        return None
    return _Comparison(source, OPERATORS.index(operator), repr(number))


def _is_safe_key(key: Key) -> bool:
    return is_safe_path(key.source) or is_safe_atoms(key.source)


def _ended(pieces: Sequence[_Piece]) -> list[Piece]:
    """Return pieces, the last of which is no attribute: it ends the binding."""
    own = [Piece(piece.form, piece.source) for piece in pieces]
    if not own or own[-1].form == TAG:
        own.append(Piece(CONTENT, q.Sequence(())))
    return own
