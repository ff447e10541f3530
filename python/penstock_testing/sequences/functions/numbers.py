"""Functions on numbers and truth values."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

from penstock_testing.sequences.casting import cast
from penstock_testing.sequences.context import Context
from penstock_testing.sequences.errors import DynamicError
from penstock_testing.sequences.functions.table import function
from penstock_testing.sequences.items import (
    Atom,
    Items,
    boolean,
    integer,
    primitive,
    truth_of,
    value_of,
)
from penstock_testing.sequences.numbers import EXACT, to_single

_FINEST = 40
"""Places behind the point beyond which rounding changes nothing."""


@function("true")
def _true(_context: Context) -> Items:
    return [boolean(True)]


@function("false")
def _false(_context: Context) -> Items:
    return [boolean(False)]


@function("not", "item*")
def _not(_context: Context, items: Items) -> Items:
    return [boolean(not truth_of(items))]


@function("boolean", "item*")
def _boolean(_context: Context, items: Items) -> Items:
    return [boolean(truth_of(items))]


@function("number", "anyAtomicType?", least=0)
def _number(context: Context, *given: Items) -> Items:
    items = given[0] if given else [value_of(context.here())]
    if not items:
        return [Atom("double", math.nan)]
    assert isinstance(items[0], Atom)
    try:
        return [cast(items[0], "double")]
    except DynamicError:
        return [Atom("double", math.nan)]


def _only(items: Items) -> Atom:
    (atom,) = items
    assert isinstance(atom, Atom)
    return atom


def _like(atom: Atom, value: Decimal) -> Atom:
    """Return a number that was rounded, in the type that it had."""
    kind = primitive(atom.type)
    if kind == "decimal":
        if isinstance(atom.value, int):
            return integer(int(value))
        return Atom("decimal", value)
    number = math.copysign(float(value), atom.value)
    return Atom(kind, to_single(number) if kind == "float" else number)


def _is_whole(atom: Atom) -> bool:
    """Return whether rounding leaves a number alone: NaN, the infinite ones and zeros."""
    value = atom.value
    return isinstance(value, float) and (math.isnan(value) or math.isinf(value) or value == 0)


@function("abs", "numeric?")
def _abs(_context: Context, items: Items) -> Items:
    if not items:
        return []
    atom = _only(items)
    if isinstance(atom.value, int):
        return [integer(abs(atom.value))]
    return [Atom(primitive(atom.type), abs(atom.value))]


def _rounding(name: str, mode: str, shift: str) -> None:
    @function(name, "numeric?")
    def _round(_context: Context, items: Items) -> Items:
        if not items:
            return []
        atom = _only(items)
        if _is_whole(atom):
            return [atom]
        return [_like(atom, (Decimal(atom.value) + Decimal(shift)).to_integral_value(mode))]


_rounding("floor", ROUND_FLOOR, "0")
_rounding("ceiling", ROUND_CEILING, "0")
_rounding("round", ROUND_FLOOR, "0.5")


@function("round-half-to-even", "numeric?", "integer", least=1)
def _round_half_to_even(_context: Context, items: Items, *precision: Items) -> Items:
    if not items:
        return []
    atom = _only(items)
    places = _only(precision[0]).value if precision else 0
    if _is_whole(atom) or places > _FINEST:
        return [atom]
    exact = Decimal(repr(atom.value)) if isinstance(atom.value, float) else Decimal(atom.value)
    step = Decimal(10) ** -max(places, -_FINEST)
    return [_like(atom, EXACT.multiply((exact / step).to_integral_value(ROUND_HALF_EVEN), step))]
