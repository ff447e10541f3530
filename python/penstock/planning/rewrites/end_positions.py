"""Positions that are counted from the end.

How far a node is from the last one does not depend on where its step started:
``following-sibling::a[last()]`` is ``following-sibling::a[not(following-sibling::a)]``, and the
last of the preceding siblings is the one that no other precedes. Children end where the siblings
that follow end, ancestors with the outermost one. What follows a node goes on below it and behind
it. On the other axes it does depend: what comes last below a node, or first of what precedes it,
the circuit finds itself.

Behind other predicates the nodes beyond are those that pass them: ``ancestor::a[@x][last()]`` is
``ancestor::a[@x][not(ancestor::a[@x])]``. While some of those are undecided this is decided
earlier than by position and ``last()``, which have bounds of their own: the bounds of their
difference say more than the difference of the bounds. Among children such positions are counts
(``child_positions.py``).
"""

from __future__ import annotations

from typing import Any

from penstock.planning.rewrites.child_positions import PARTS_MAX
from penstock.planning.values import is_whole
from penstock.twigs import Axis, Slot
from penstock.twigs import expressions as x
from penstock.twigs.depth import size_of
from penstock.twigs.logic import FLIPPED
from penstock.twigs.own_parts import add_step, is_positional, replace_own_parts
from penstock.twigs.parts import rewrite
from penstock.twigs.slots import SlotTable

_BEYOND = {
    Axis.CHILD: (Axis.FOLLOWING_SIBLING,),
    Axis.FOLLOWING_SIBLING: (Axis.FOLLOWING_SIBLING,),
    Axis.PRECEDING_SIBLING: (Axis.PRECEDING_SIBLING,),
    Axis.ANCESTOR: (Axis.ANCESTOR,),
    Axis.ANCESTOR_OR_SELF: (Axis.ANCESTOR,),
    Axis.FOLLOWING: (Axis.DESCENDANT, Axis.FOLLOWING),
}
"""Where the nodes are that an axis reaches after a node that it reached."""


def count_from_the_end(expression: x.Expression, slots: SlotTable) -> Any:
    """Return the expression with counts of what is beyond a node; ``slots`` gets new constants."""
    return rewrite(expression, {x.Step: lambda step: _counted(step, slots)})


def _counted(step: x.Step, slots: SlotTable) -> x.Step:
    """Return a step whose first position, if it is one from the end, is a count."""
    if step.axis not in _BEYOND:
        return step
    predicates = step.predicates
    place = next((n for n, predicate in enumerate(predicates) if is_positional(predicate)), 0)
    before, rest = predicates[:place], predicates[place:]
    if rest and not (before and step.axis is Axis.CHILD):
        first = replace_own_parts(rest[0], _Beyond(step, before, slots).counted)
        if size_of(first) <= PARTS_MAX:
            predicates = (*before, first, *rest[1:])
    return add_step(step.base, step.axis, step.test, predicates)


class _Beyond:
    """The nodes that a step reaches after a node that it reached."""

    def __init__(self, step: x.Step, passed: tuple[x.Atom, ...], slots: SlotTable) -> None:
        counts = [x.Count(x.Step(x.Here(), axis, step.test, passed)) for axis in _BEYOND[step.axis]]
        self.count = counts[0] if len(counts) == 1 else x.Call("+", tuple(counts))
        self.slots = slots

    def counted(self, part: x.Expression) -> x.Atom | None:
        """Return the comparison of a position with ``last()`` or ``last() - k`` as a count."""
        match part:
            case x.Compare(operator=operator, left=x.Position(), right=end):
                return self.compared(FLIPPED[operator], end)
            case x.Compare(operator=operator, left=end, right=x.Position()):
                return self.compared(operator, end)
        return None

    def compared(self, operator: str, end: x.Atom) -> x.Atom | None:
        match end:
            case x.Last():
                return x.Compare(operator, self.count, self.slots.add(0.0))
            case x.Call(function="-", arguments=(x.Last(), Slot() as fewer)) if is_whole(
                self.slots[fewer]
            ):
                return x.Compare(operator, self.count, fewer)
        return None
