"""A count that is compared with nothing asks whether there is a node.

``count(x) > 0`` is ``boolean(x)`` and ``count(x) < 1`` is ``not(x)``: the first node that is sure
decides it, and nothing is counted. A sum of counts is nothing where none of the sets has a node.
"""

from __future__ import annotations

from typing import Any

from penstock.planning.values import compare
from penstock.twigs import Slot
from penstock.twigs.expression_parts import parts_of, with_parts
from penstock.twigs.expressions import Apply, Atom, Count, Expression, Inverse, NonEmpty, Some
from penstock.twigs.logic import FLIPPED
from penstock.twigs.slots import SlotTable

_EXISTENCE = {("!=", 0.0), (">", 0.0), (">=", 1.0)}
_ABSENCE = {("=", 0.0), ("<=", 0.0), ("<", 1.0)}


def ask_for_existence(expression: Expression, slots: SlotTable) -> Any:
    """Return the expression without counts that only say whether there is a node."""
    parts = [ask_for_existence(part, slots) for part in parts_of(expression)]
    match with_parts(expression, parts):
        case Apply(function=operator, arguments=(counts, Slot() as number)) as whole:
            return _existence(operator, counts, number, slots) or whole
        case Apply(function=operator, arguments=(Slot() as number, counts)) as whole:
            return _existence(FLIPPED.get(operator, ""), counts, number, slots) or whole
        case other:
            return other


def _existence(operator: str, counts: Atom, number: Slot, slots: SlotTable) -> Atom | None:
    exists = _non_empty(counts)
    if exists is None:
        return None
    for limit in (0.0, 1.0):
        is_existence, is_absence = (operator, limit) in _EXISTENCE, (operator, limit) in _ABSENCE
        if (is_existence or is_absence) and compare("=", slots[number], limit):
            return exists if is_existence else Inverse(exists)
    return None


def _non_empty(counts: Atom) -> Atom | None:
    """Return whether some of the sets that are counted has a node; None if nothing is counted."""
    match counts:
        case Count(nodes=nodes):
            return NonEmpty(nodes)
        case Apply(function="+", arguments=(Count(nodes=left), Count(nodes=right))):
            return Some((NonEmpty(left), NonEmpty(right)))
    return None
