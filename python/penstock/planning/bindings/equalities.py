"""Equalities between two sides that bindings can be joined by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from penstock.planning.sequences.context import free_variables
from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock.twigs.sequence_parts import all_parts

_TEXT, _NUMBER, _UNTYPED = "text", "number", "untyped"

_OF_ARGUMENT = {"data", "distinct-values", "unordered", "reverse", "exactly-one", "zero-or-one"}
"""Functions whose items have the type of those they are given."""

_TEXTS = set(
    "string concat string-join substring normalize-space upper-case lower-case translate "
    "substring-before substring-after replace tokenize name local-name".split()
)
_NUMBERS = set("number count sum abs ceiling floor round string-length".split())


class Equal(NamedTuple):
    """Two expressions, each about one side, some values of which are equal.

    ``is_exact`` says that the condition holds wherever they are; otherwise it is checked again.
    """

    left_side: int
    left: Any
    right_side: int
    right: Any
    is_number: bool
    is_exact: bool


def equality_of(
    test: Any, items: Mapping[str, Any], sides_of: Callable[[Any], set[int]]
) -> Equal | None:
    """Return what must be equal for a condition to hold; None if two sides cannot be joined by it.

    ``items`` are the variables of further loops, with the sequences that they go through.
    """
    match test:
        case q.GeneralCompare(operator="=", left=left, right=right):
            is_general = True
        case q.ValueCompare(operator="eq", left=left, right=right):
            is_general = False
        case _:
            return None
    left_sides, right_sides = sides_of(left), sides_of(right)
    if len(left_sides) != 1 or len(right_sides) != 1 or left_sides == right_sides:
        return None
    widened = _widened(left, items), _widened(right, items)
    kinds = {_kind(one) for one in widened}
    if None in kinds or kinds == {_TEXT, _NUMBER}:
        return None
    is_number = _NUMBER in kinds
    is_exact = is_general and not is_number and widened == (left, right)
    return Equal(left_sides.pop(), widened[0], right_sides.pop(), widened[1], is_number, is_exact)


def _widened(operand: Any, items: Mapping[str, Any]) -> Any:
    """Return an operand about all items of a loop, where it is a path from one of them."""
    while free_variables(operand) & items.keys():
        base = operand
        while isinstance(base, x.Step | x.Filter):
            base = base.base
        if not isinstance(base, q.Variable) or base.name not in items:
            break
        operand = _with_base(operand, items[base.name])
    return operand


def _with_base(path: Any, base: Any) -> Any:
    match path:
        case x.Step(base=inner, axis=axis, test=test, predicates=predicates):
            return x.Step(_with_base(inner, base), axis, test, predicates)
        case x.Filter(base=inner, predicates=predicates):
            return x.Filter(_with_base(inner, base), predicates)
        case _:
            return base


def _kind(operand: Any) -> str | None:
    """Return of which type the items of an operand certainly are; None if that is not known."""
    match operand:
        case q.Variable() | x.Step() | x.Filter() | x.Union():
            return _UNTYPED
        case x.Call(function=function, arguments=(argument, *_)) if function in _OF_ARGUMENT:
            return _kind(argument)
        case x.Call(function=function):
            if function in _TEXTS:
                return _TEXT
            return _NUMBER if function in _NUMBERS and _is_plain(operand) else None
        case q.Arithmetic() | q.Signed() if _is_plain(operand):
            return _NUMBER
        case _:
            return None


def _is_plain(operand: Any) -> bool:
    """Return whether nothing in an operand can be a date or a duration."""
    kinds = (q.CastAs, q.OwnCall, q.Flwor, q.TreatAs)
    return not any(isinstance(part, kinds) for part in all_parts(operand)) and not any(
        isinstance(part, x.Call) and part.function not in _TEXTS | _NUMBERS | _OF_ARGUMENT
        for part in all_parts(operand)
    )
