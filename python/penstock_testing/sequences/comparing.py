"""Comparisons of atomic values, and the order that they have among each other."""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import Decimal
from functools import cmp_to_key
from typing import Any

from penstock_testing.sequences.casting import cast
from penstock_testing.sequences.dates import instant
from penstock_testing.sequences.errors import DynamicError, mistyped
from penstock_testing.sequences.items import MOMENTS, Atom, is_numeric, primitive, string
from penstock_testing.sequences.numbers import to_single

VALUE_OF_GENERAL = {"=": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
_EQUALITY = ("eq", "ne")


def compare_values(sign: str, left: Atom, right: Atom) -> bool:
    """Return whether two atomic values compare: ``eq ne lt le gt ge``.

    Raises:
        DynamicError: XPTY0004, values of these types do not compare.
    """
    one, other, is_ordered = _comparable(_text_if_untyped(left), _text_if_untyped(right))
    if not is_ordered and sign not in _EQUALITY:
        raise mistyped(f"values of xs:{left.type} have no order")
    return bool(_OPERATORS[sign](one, other))


def compare_general(sign: str, left: Atom, right: Atom, untyped: str) -> bool:
    """Return whether a pair of a general comparison compares: ``= != < <= > >=``.

    ``untyped`` says what text that is no number gives beside a number: an error, or false.

    Raises:
        DynamicError: FORG0001, untyped text is no value of the other type; XPTY0004, values of
            these types do not compare.
    """
    try:
        left, right = _typed_like(left, right), _typed_like(right, left)
    except DynamicError as error:
        if (
            untyped == "false"
            and error.code == "FORG0001"
            and (is_numeric(left) or is_numeric(right))
        ):
            return False
        raise
    return compare_values(VALUE_OF_GENERAL[sign], left, right)


def _typed_like(atom: Atom, other: Atom) -> Atom:
    """Return a value; untyped text takes the type of the other value."""
    if atom.type != "untypedAtomic":
        return atom
    if is_numeric(other):
        return cast(atom, "double")
    if primitive(other.type) in ("untypedAtomic", "string"):
        return string(atom.value)
    return cast(atom, other.type if primitive(other.type) == "duration" else primitive(other.type))


def _text_if_untyped(atom: Atom) -> Atom:
    return string(atom.value) if atom.type in ("untypedAtomic", "anyURI") else atom


def _comparable(left: Atom, right: Atom) -> tuple[Any, Any, bool]:
    """Return two values as Python compares them, and whether they have an order."""
    kinds = primitive(left.type), primitive(right.type)
    if is_numeric(left) and is_numeric(right):
        return *promoted(left, right), True
    if kinds[0] != kinds[1]:
        raise mistyped(f"xs:{left.type} does not compare with xs:{right.type}")
    kind = kinds[0]
    if kind in MOMENTS:
        return instant(left.value), instant(right.value), True
    if kind == "duration":
        one, other = left.value, right.value
        for part, unused in (("dayTimeDuration", "months"), ("yearMonthDuration", "seconds")):
            if left.type == right.type == part:
                key = "seconds" if unused == "months" else "months"
                return getattr(one, key), getattr(other, key), True
        return (one.months, one.seconds), (other.months, other.seconds), False
    if kind == "QName":
        return (left.value.uri, left.value.local), (right.value.uri, right.value.local), False
    return left.value, right.value, True


def promoted(left: Atom, right: Atom) -> tuple[Any, Any]:
    """Return two numbers as values of the larger of their types."""
    kinds = {primitive(left.type), primitive(right.type)}
    if "double" in kinds:
        return float(left.value), float(right.value)
    if "float" in kinds:
        return to_single(float(left.value)), to_single(float(right.value))
    if isinstance(left.value, Decimal) or isinstance(right.value, Decimal):
        return Decimal(left.value), Decimal(right.value)
    return left.value, right.value


def is_nan(atom: Atom | None) -> bool:
    """Return whether a value is NaN."""
    return atom is not None and isinstance(atom.value, float) and atom.value != atom.value


def are_same(left: Atom, right: Atom) -> bool:
    """Return whether two values are one for ``distinct-values``: equal, or both NaN."""
    if is_nan(left) and is_nan(right):
        return True
    try:
        return compare_values("eq", left, right)
    except DynamicError:
        return False


def order_key(is_empty_greatest: bool) -> Callable[[Atom | None], Any]:
    """Return a function for keys of sorting; None is the empty sequence.

    Raises:
        DynamicError: XPTY0004 from comparisons of the keys, values do not compare.
    """

    def rank(atom: Atom | None) -> int:
        """NaN and the empty sequence stand on one side of all other values."""
        if atom is None:
            return 2 if is_empty_greatest else -2
        if is_nan(atom):
            return 1 if is_empty_greatest else -1
        return 0

    def compare(left: Atom | None, right: Atom | None) -> int:
        if rank(left) or rank(right):
            return rank(left) - rank(right)
        assert left is not None
        assert right is not None
        if compare_values("lt", left, right):
            return -1
        return 1 if compare_values("gt", left, right) else 0

    return cmp_to_key(compare)
