"""Positions that a predicate asks for by constants: ``[3]``, ``[position() > 2]``, ranges of them.

All nodes that count along an axis share the work for such positions. What is asked beside them,
as in ``[position() > 2 and @id]``, is asked of the nodes left.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.twigs import Slot
from penstock.twigs import expressions as x
from penstock.twigs.own_parts import is_positional

_BOUNDED = {"position": frozenset({"=", "<", "<="}), "number": frozenset({"=", ">", ">="})}
"""The signs that leave positions up to a last one, by what stands on the left."""


def asks_for_constant_positions(predicates: Sequence[x.Atom]) -> bool:
    """Return whether one predicate counts, and constants say which positions it asks for."""
    counted = [predicate for predicate in predicates if is_positional(predicate)]
    return len(counted) == 1 and _is_constant(counted[0], is_whole=True)


def has_last_position(predicates: Sequence[x.Atom]) -> bool:
    """Return whether nodes beyond some constant position are out."""
    return any(_is_bounded(predicate) for predicate in predicates if is_positional(predicate))


def is_one_rank(predicate: x.Atom) -> bool:
    """Return whether a predicate asks for one position."""
    return (
        isinstance(predicate, x.Compare) and predicate.operator == "=" and _is_constant(predicate)
    )


def _is_constant(atom: x.Atom, is_whole: bool = False) -> bool:
    match atom:
        case (
            x.Compare(left=x.Position(), right=Slot()) | x.Compare(left=Slot(), right=x.Position())
        ):
            return True
        case x.And(parts=parts) if is_whole:
            return all(map(_is_constant, filter(is_positional, parts)))
        case x.And(parts=parts) | x.Or(parts=parts):
            return all(map(_is_constant, parts))
        case x.Not(part=part):
            return _is_constant(part)
    return False


def _is_bounded(atom: x.Atom, is_inverse: bool = False) -> bool:
    match atom:
        case x.Compare(operator=sign, left=x.Position(), right=Slot()):
            return (sign in _BOUNDED["position"]) is not is_inverse
        case x.Compare(operator=sign, left=Slot(), right=x.Position()):
            return (sign in _BOUNDED["number"]) is not is_inverse
        case x.Not(part=part):
            return _is_bounded(part, not is_inverse)
        case x.And(parts=parts) | x.Or(parts=parts):
            is_all = isinstance(atom, x.Or) is not is_inverse
            return (all if is_all else any)(_is_bounded(part, is_inverse) for part in parts)
    return False
