"""A step to siblings becomes a condition on the siblings.

``/r/a[x]/following-sibling::b`` are the ``/r/b`` with ``preceding-sibling::a[x]``: the node that is
found asks, and one answer serves all that stand behind it, where otherwise every ``a`` would wait
for every ``b``. Nodes also join their set while they open, in document order.

A position among the siblings of nodes that are all alike is the rank of the node that is found:
``//a/following-sibling::a[2]`` are the ``a`` with two others before them. Both steps have the same
test and the first one has no predicates, so whoever is that far away is where a step started.
"""

from __future__ import annotations

from typing import Any

from penstock.planning.values import compare, is_whole
from penstock.twigs import Axis, NodeTest, Slot
from penstock.twigs import expressions as x
from penstock.twigs.blanks import Atom as Constant
from penstock.twigs.own_parts import is_positional
from penstock.twigs.parts import rewrite
from penstock.twigs.slots import SlotTable

_OTHER_SIDE = {
    Axis.FOLLOWING_SIBLING: Axis.PRECEDING_SIBLING,
    Axis.PRECEDING_SIBLING: Axis.FOLLOWING_SIBLING,
}
_REACHING = {"=": ">=", ">=": ">=", ">": ">"}
"""How a number of nodes compares if the position of one of them does."""


def turn_sibling_steps(expression: x.Expression, slots: SlotTable) -> Any:
    """Return the expression with conditions in the place of steps to siblings.

    ``slots`` tells the positions that are constants.
    """
    return rewrite(expression, {x.Step: lambda step: _turn(step, slots)})


def _turn(step: x.Step, slots: SlotTable) -> x.Step:
    match step.base:
        case x.Step(axis=Axis.CHILD | Axis.DESCENDANT) as start if step.axis in _OTHER_SIDE:
            predicates = _turned(start, step, slots)
            return x.Step(start.base, start.axis, step.test, predicates) if predicates else step
    return step


def _turned(start: x.Step, step: x.Step, slots: SlotTable) -> tuple[x.Atom, ...] | None:
    """Return the predicates of the second step with the first one among them."""
    axis = _OTHER_SIDE[step.axis]
    if not any(map(is_positional, (*start.predicates, *step.predicates))):
        back = x.Step(x.Here(), axis, start.test, start.predicates)
        return (*step.predicates, x.Exists(back))
    first, *others = step.predicates or (None,)
    if start.predicates or start.test != step.test or any(map(is_positional, others)):
        return None
    reached = _reached(axis, step.test, first, slots)
    return None if reached is None else (reached, *others)


def _reached(
    axis: Axis, test: NodeTest, position: x.Atom | None, slots: SlotTable
) -> x.Atom | None:
    """Return whether a node has a position, seen from some sibling on this side of it."""
    match position:
        case x.Compare(operator=operator, left=x.Position(), right=Slot() as number) if (
            operator in _REACHING and _is_rank(slots[number])
        ):
            return x.Compare(_REACHING[operator], x.Count(x.Step(x.Here(), axis, test)), number)
    return None


def _is_rank(value: Constant) -> bool:
    return is_whole(value) and compare(">=", value, 1.0)
