"""Positions among children become counts of siblings.

``a[@x][3]`` is ``a[@x][count(preceding-sibling::a[@x]) = 2]``, and ``last()`` is the count of the
same children of the parent. A step without positions needs no list of its own for every node that
it starts from, so ``//a[2]`` becomes one step, and all queries share the counts.

What is known of a count is what was known of the position: the nodes before, each in or out or
undecided. ``position() = last() - k`` on the first predicate counts the siblings that follow.
Positions on other axes and of filters stay: what they count depends on where the step starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from penstock.planning.values import asked, call
from penstock.twigs import Axis, NodeTest, Slot
from penstock.twigs.blanks import Atom as Constant
from penstock.twigs.depth import size_of
from penstock.twigs.expression_parts import add_step, is_positional, parts_of, with_parts
from penstock.twigs.expressions import (
    Apply,
    Atom,
    Count,
    Expression,
    Filter,
    Here,
    Last,
    Position,
    Step,
)
from penstock.twigs.logic import FLIPPED
from penstock.twigs.nodetests import ANY_NODE
from penstock.twigs.slots import SlotTable

PARTS_MAX = 400
"""Parts of a step's predicates; each position repeats the predicates before it."""


def count_child_positions(expression: Expression, slots: SlotTable) -> Any:
    """Return the expression with counts in the place of positions among children.

    ``slots`` gets the constants that are new.
    """
    parts = [count_child_positions(part, slots) for part in parts_of(expression)]
    match with_parts(expression, parts):
        case Step(axis=Axis.CHILD, test=test, predicates=predicates) as step if any(
            map(is_positional, predicates)
        ):
            counted = _Siblings(test, slots).predicates(predicates)
            return add_step(step.base, step.axis, test, counted)
        case other:
            return other


class _Siblings:
    """The children of one parent that a step reaches."""

    def __init__(self, test: NodeTest, slots: SlotTable) -> None:
        self.test = test
        self.slots = slots

    def predicates(self, predicates: tuple[Atom, ...]) -> tuple[Atom, ...]:
        """Return the predicates without positions, or as they are if that is too large."""
        counted: list[Atom] = []
        size = 0
        for predicate in predicates:
            counted.append(self.counted(predicate, tuple(counted)))
            size += size_of(counted[-1])
            if size > PARTS_MAX:
                return predicates
        return tuple(counted)

    def counted(self, part: Any, passed: tuple[Atom, ...]) -> Any:
        """Return a part of a predicate for nodes that passed those before it."""
        match part:
            case Position():
                before = self.count(Axis.PRECEDING_SIBLING, passed)
                return Apply("+", (before, self.slots.add(1.0)))
            case Last():
                parent = Step(Here(), Axis.PARENT, ANY_NODE)
                return Count(Step(parent, Axis.CHILD, self.test, passed))
            case Apply(function=function, arguments=(left, right)) if function in FLIPPED:
                return (
                    self.compared(function, left, right, passed)
                    or self.compared(FLIPPED[function], right, left, passed)
                    or self.inside(part, passed)
                )
            case Step() | Filter():
                # The predicates of a set have context nodes of their own.
                return replace(part, base=self.counted(part.base, passed))
            case _:
                return self.inside(part, passed)

    def inside(self, part: Expression, passed: tuple[Atom, ...]) -> Expression:
        return with_parts(part, [self.counted(one, passed) for one in parts_of(part)])

    def compared(
        self, operator: str, left: Atom, right: Atom, passed: tuple[Atom, ...]
    ) -> Atom | None:
        """Return a comparison of a position with a constant, or with ``last()``, as one count.

        No double between position and position + 1 is lost by taking 1 from it, so the first is
        exact for every constant. The second is for nodes that are all sure to be counted: the
        bounds of two counts of undecided nodes would say less than the count of their difference.
        """
        match left, right:
            case Position(), Slot():
                below = self.slots.add(call("-", [self.slots[right], 1.0]))
                return Apply(operator, (self.count(Axis.PRECEDING_SIBLING, passed), below))
            case Position(), Last() if not passed:
                after = self.count(Axis.FOLLOWING_SIBLING, passed)
                return Apply(FLIPPED[operator], (after, self.slots.add(0.0)))
            case Position(), Apply(function="-", arguments=(Last(), Slot() as fewer)) if (
                not passed and _is_whole(self.slots[fewer])
            ):
                after = self.count(Axis.FOLLOWING_SIBLING, passed)
                return Apply(FLIPPED[operator], (after, fewer))
        return None

    def count(self, axis: Axis, passed: Sequence[Atom]) -> Count:
        return Count(Step(Here(), axis, self.test, tuple(passed)))


@asked
def _is_whole(value: Constant) -> bool:
    """Return whether sums and differences of a number and counts are exact."""
    return isinstance(value, float) and abs(value) < 2**52 and value == int(value)
