"""A count that is compared with nothing asks whether there is a node.

``count(x) > 0`` is ``boolean(x)`` and ``count(x) < 1`` is ``not(x)``: the first node that is sure
decides it, and nothing is counted. A sum of counts is nothing where none of the sets has a node.
"""

from __future__ import annotations

from typing import Any

from penstock.planning.values import compare
from penstock.twigs import Slot
from penstock.twigs import expressions as x
from penstock.twigs.logic import FLIPPED
from penstock.twigs.parts import rewrite
from penstock.twigs.slots import SlotTable

_EXISTENCE = {("!=", 0.0), (">", 0.0), (">=", 1.0)}
_ABSENCE = {("=", 0.0), ("<=", 0.0), ("<", 1.0)}


def ask_for_existence(expression: x.Expression, slots: SlotTable) -> Any:
    """Return the expression without counts that only say whether there is a node."""
    return rewrite(expression, {x.Compare: lambda compare: _compared(compare, slots) or compare})


def _compared(comparison: x.Compare, slots: SlotTable) -> x.Atom | None:
    match comparison:
        case x.Compare(operator=operator, left=counts, right=Slot() as number):
            return _existence(operator, counts, number, slots)
        case x.Compare(operator=operator, left=Slot() as number, right=counts):
            return _existence(FLIPPED[operator], counts, number, slots)
    return None


def _existence(operator: str, counts: x.Atom, number: Slot, slots: SlotTable) -> x.Atom | None:
    exists = _non_empty(counts)
    if exists is None:
        return None
    for limit in (0.0, 1.0):
        is_existence, is_absence = (operator, limit) in _EXISTENCE, (operator, limit) in _ABSENCE
        if (is_existence or is_absence) and compare("=", slots[number], limit):
            return exists if is_existence else x.Not(exists)
    return None


def _non_empty(counts: x.Atom) -> x.Atom | None:
    """Return whether some of the sets that are counted has a node; None if nothing is counted."""
    match counts:
        case x.Count(nodes=nodes):
            return x.Exists(nodes)
        case x.Call(function="+", arguments=(x.Count(nodes=left), x.Count(nodes=right))):
            return x.Or((x.Exists(left), x.Exists(right)))
    return None
