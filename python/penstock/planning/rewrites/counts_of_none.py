"""A count that is compared with nothing asks whether there is a node.

``count(x) > 0`` is ``boolean(x)`` and ``count(x) < 1`` is ``not(x)``: the first node that is sure
decides it, and nothing is counted.
"""

from __future__ import annotations

from typing import Any

from penstock.planning.values import compare
from penstock.twigs import Slot
from penstock.twigs.expression_parts import parts_of, with_parts
from penstock.twigs.expressions import Apply, Atom, Count, Expression, Inverse, NonEmpty
from penstock.twigs.logic import FLIPPED
from penstock.twigs.slots import SlotTable

_EXISTENCE = {("!=", 0.0), (">", 0.0), (">=", 1.0)}
_ABSENCE = {("=", 0.0), ("<=", 0.0), ("<", 1.0)}


def ask_for_existence(expression: Expression, slots: SlotTable) -> Any:
    """Return the expression without counts that only say whether there is a node."""
    parts = [ask_for_existence(part, slots) for part in parts_of(expression)]
    match with_parts(expression, parts):
        case Apply(function=operator, arguments=(Count() as count, Slot() as number)) as whole:
            return _existence(operator, count, number, slots) or whole
        case Apply(function=operator, arguments=(Slot() as number, Count() as count)) as whole:
            return _existence(FLIPPED.get(operator, ""), count, number, slots) or whole
        case other:
            return other


def _existence(operator: str, count: Count, number: Slot, slots: SlotTable) -> Atom | None:
    for limit in (0.0, 1.0):
        is_existence, is_absence = (operator, limit) in _EXISTENCE, (operator, limit) in _ABSENCE
        if (is_existence or is_absence) and compare("=", slots[number], limit):
            exists = NonEmpty(count.nodes)
            return exists if is_existence else Inverse(exists)
    return None
