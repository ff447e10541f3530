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
from penstock.twigs import Axis, NodeTest, Slot
from penstock.twigs.depth import size_of
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
    Axis.CHILD: (Axis.FOLLOWING_SIBLING,),
    Axis.FOLLOWING_SIBLING: (Axis.FOLLOWING_SIBLING,),
    Axis.PRECEDING_SIBLING: (Axis.PRECEDING_SIBLING,),
    Axis.ANCESTOR: (Axis.ANCESTOR,),
    Axis.ANCESTOR_OR_SELF: (Axis.ANCESTOR,),
    Axis.FOLLOWING: (Axis.DESCENDANT, Axis.FOLLOWING),
}
"""Where the nodes are that an axis reaches after a node that it reached."""


def count_from_the_end(expression: Expression, slots: SlotTable) -> Any:
    """Return the expression with counts of what is beyond a node; ``slots`` gets new constants."""
    parts = [count_from_the_end(part, slots) for part in parts_of(expression)]
    match with_parts(expression, parts):
        case Step(base=base, axis=axis, test=test, predicates=predicates) if axis in _BEYOND:
            return add_step(base, axis, test, _counted(axis, test, predicates, slots))
        case other:
            return other


def _counted(
    axis: Axis, test: NodeTest, predicates: tuple[Atom, ...], slots: SlotTable
) -> tuple[Atom, ...]:
    """Return predicates whose first position, if it is one from the end, is a count."""
    place = next(filter(lambda place: is_positional(predicates[place]), range(len(predicates))), 0)
    before, rest = predicates[:place], predicates[place:]
    if not rest or (before and axis is Axis.CHILD):
        return predicates
    first = replace_own_parts(rest[0], _Beyond(axis, test, before, slots).counted)
    return predicates if size_of(first) > PARTS_MAX else (*before, first, *rest[1:])


class _Beyond:
    """The nodes that a step reaches after a node that it reached."""

    def __init__(
        self, axis: Axis, test: NodeTest, passed: tuple[Atom, ...], slots: SlotTable
    ) -> None:
        counts = [Count(Step(Here(), beyond, test, passed)) for beyond in _BEYOND[axis]]
        self.count = counts[0] if len(counts) == 1 else Apply("+", tuple(counts))
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
