"""Positions among siblings that are counted from the end.

How far a node is from the last one does not depend on where its step started:
``following-sibling::a[last()]`` is ``following-sibling::a[not(following-sibling::a)]``, and the
last of the preceding siblings is the one that no other precedes. Children end where the siblings
that follow end.

Only the first predicate is rewritten, where all nodes are sure to be counted. Behind another,
position and ``last()`` have bounds of their own, and the bounds of their difference say more than
the difference of the bounds: it would be decided earlier.
"""

from __future__ import annotations

from typing import Any

from penstock.planning.values import is_whole
from penstock.twigs import Axis, NodeTest, Slot
from penstock.twigs.expression_parts import (
    add_step,
    is_positional,
    parts_of,
    replace_own_parts,
    with_parts,
)
from penstock.twigs.expressions import (
    Apply,
    Atom,
    Count,
    Expression,
    Here,
    Last,
    Position,
    Step,
)
from penstock.twigs.logic import FLIPPED
from penstock.twigs.slots import SlotTable

_BEYOND = {
    Axis.CHILD: Axis.FOLLOWING_SIBLING,
    Axis.FOLLOWING_SIBLING: Axis.FOLLOWING_SIBLING,
    Axis.PRECEDING_SIBLING: Axis.PRECEDING_SIBLING,
}
"""Where the nodes are that an axis reaches after a node that it reached."""


def count_from_the_end(expression: Expression, slots: SlotTable) -> Any:
    """Return the expression with counts of what is beyond a node; ``slots`` gets new constants."""
    parts = [count_from_the_end(part, slots) for part in parts_of(expression)]
    match with_parts(expression, parts):
        case Step(base=base, axis=axis, test=test, predicates=(first, *others)) if (
            axis in _BEYOND and is_positional(first)
        ):
            counting = _Beyond(_BEYOND[axis], test, slots)
            first = replace_own_parts(first, counting.counted)
            return add_step(base, axis, test, (first, *others))
        case other:
            return other


class _Beyond:
    """The siblings that a step reaches after a node."""

    def __init__(self, axis: Axis, test: NodeTest, slots: SlotTable) -> None:
        self.count = Count(Step(Here(), axis, test))
        self.slots = slots

    def counted(self, part: Expression) -> Atom | None:
        """Return the comparison of a position with ``last()`` or ``last() - k`` as a count."""
        match part:
            case Apply(function=operator, arguments=(Position(), end)) if operator in FLIPPED:
                return self.compared(FLIPPED[operator], end)
            case Apply(function=operator, arguments=(end, Position())) if operator in FLIPPED:
                return self.compared(operator, end)
        return None

    def compared(self, operator: str, end: Atom) -> Atom | None:
        match end:
            case Last():
                return Apply(operator, (self.count, self.slots.add(0.0)))
            case Apply(function="-", arguments=(Last(), Slot() as fewer)) if is_whole(
                self.slots[fewer]
            ):
                return Apply(operator, (self.count, fewer))
        return None
