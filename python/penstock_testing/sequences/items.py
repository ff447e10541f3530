"""Items: nodes of trees, and atomic values with their types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from penstock.twigs import NodeKind
from penstock_testing.sequences.errors import DynamicError, mistyped
from penstock_testing.tree import Node

SCHEMA = "http://www.w3.org/2001/XMLSchema"
INTEGER_MAX = 2**63 - 1
INTEGER_MIN = -(2**63)


@dataclass(frozen=True, slots=True)
class QName:
    """A value of ``xs:QName``; two with the same expanded name are equal."""

    local: str
    uri: str = ""
    prefix: str = ""

    @property
    def text(self) -> str:
        """The name as it is written."""
        return f"{self.prefix}:{self.local}" if self.prefix else self.local


@dataclass(frozen=True, slots=True)
class Moment:
    """A value of ``xs:date``, ``xs:time`` or ``xs:dateTime``.

    ``seconds`` count from midnight; ``zone`` is in minutes east of UTC, None where there is none.
    """

    year: int
    month: int
    day: int
    seconds: Decimal
    zone: int | None


@dataclass(frozen=True, slots=True)
class Duration:
    """A value of ``xs:duration`` or of one of its two ordered parts."""

    months: int
    seconds: Decimal


Plain = str | bool | int | Decimal | float | QName | Moment | Duration


@dataclass(frozen=True, slots=True)
class Atom:
    """An atomic value: the local name of its type in ``xs``, and the value."""

    type: str
    value: Any


Item = Node | Atom
Items = list[Item]

PARENT: Mapping[str, str] = {
    "untypedAtomic": "anyAtomicType",
    "string": "anyAtomicType",
    "normalizedString": "string",
    "token": "normalizedString",
    "language": "token",
    "NMTOKEN": "token",
    "Name": "token",
    "NCName": "Name",
    "anyURI": "anyAtomicType",
    "boolean": "anyAtomicType",
    "decimal": "anyAtomicType",
    "integer": "decimal",
    "nonPositiveInteger": "integer",
    "negativeInteger": "nonPositiveInteger",
    "long": "integer",
    "int": "long",
    "short": "int",
    "byte": "short",
    "nonNegativeInteger": "integer",
    "positiveInteger": "nonNegativeInteger",
    "unsignedLong": "nonNegativeInteger",
    "unsignedInt": "unsignedLong",
    "unsignedShort": "unsignedInt",
    "unsignedByte": "unsignedShort",
    "float": "anyAtomicType",
    "double": "anyAtomicType",
    "QName": "anyAtomicType",
    "date": "anyAtomicType",
    "time": "anyAtomicType",
    "dateTime": "anyAtomicType",
    "duration": "anyAtomicType",
    "dayTimeDuration": "duration",
    "yearMonthDuration": "duration",
}
"""The type that each type restricts."""

NUMERIC = ("decimal", "float", "double")
MOMENTS = ("date", "time", "dateTime")
STRINGS = ("string", "anyURI", "untypedAtomic")


def derives(type_: str, ancestor: str) -> bool:
    """Return whether a type is another one, or restricts it."""
    current: str | None = type_
    while current is not None:
        if current == ancestor:
            return True
        current = PARENT.get(current)
    return False


def primitive(type_: str) -> str:
    """Return the type directly below ``anyAtomicType`` that a type restricts."""
    while (parent := PARENT.get(type_, "anyAtomicType")) != "anyAtomicType":
        type_ = parent
    return type_


def is_numeric(atom: Atom) -> bool:
    """Return whether an atomic value is a number."""
    return primitive(atom.type) in NUMERIC


def string(value: str) -> Atom:
    """Return an ``xs:string``."""
    return Atom("string", value)


def untyped(value: str) -> Atom:
    """Return an ``xs:untypedAtomic``."""
    return Atom("untypedAtomic", value)


def boolean(value: bool) -> Atom:
    """Return an ``xs:boolean``."""
    return Atom("boolean", value)


def integer(value: int) -> Atom:
    """Return an ``xs:integer``.

    Raises:
        DynamicError: FOAR0002, the number does not fit into 64 bits.
    """
    if not INTEGER_MIN <= value <= INTEGER_MAX:
        raise DynamicError("FOAR0002", f"{value} is no integer of 64 bits")
    return Atom("integer", value)


def atomize(items: Iterable[Item]) -> list[Atom]:
    """Return the typed values of items; no schema gives nodes other types than text."""
    return [value_of(item) for item in items]


def value_of(item: Item) -> Atom:
    """Return the typed value of one item."""
    if isinstance(item, Atom):
        return item
    text = item.string_value()
    if item.kind in (NodeKind.COMMENT, NodeKind.INSTRUCTION, NodeKind.NAMESPACE):
        return string(text)
    return untyped(text)


def one_at_most(items: list[Atom], what: str) -> Atom | None:
    """Return the only atom, or None where there is none.

    Raises:
        DynamicError: XPTY0004, there are several.
    """
    if len(items) > 1:
        raise mistyped(f"{what} takes one value, and there are {len(items)}")
    return items[0] if items else None


def truth_of(items: Items) -> bool:
    """Return the effective boolean value of a sequence.

    Raises:
        DynamicError: FORG0006, the sequence has none.
    """
    if not items:
        return False
    first = items[0]
    if isinstance(first, Node):
        return True
    if len(items) == 1:
        if first.type == "boolean":
            return bool(first.value)
        if primitive(first.type) in STRINGS:
            return bool(first.value != "")
        if is_numeric(first):
            return not (first.value == 0 or first.value != first.value)
    raise DynamicError("FORG0006", "a sequence of several values has no truth value")
