"""Positions among children become counts of siblings.

``a[@x][3]`` is ``a[@x][count(preceding-sibling::a[@x]) = 2]``, and ``last()`` is the count of the
same children of the parent. A step without positions needs no list of its own for every node that
it starts from, so ``//a[2]`` becomes one step, and all queries share the counts.

What is known of a count is what was known of the position: the nodes before, each in or out or
undecided. Positions on other axes and of filters stay: they depend on where the step starts.
"""

from __future__ import annotations

from typing import Any

from penstock.planning.values import call
from penstock.twigs import Axis, NodeTest, Slot
from penstock.twigs import expressions as x
from penstock.twigs.depth import size_of
from penstock.twigs.logic import FLIPPED
from penstock.twigs.nodetests import ANY_NODE
from penstock.twigs.own_parts import add_step, is_positional, replace_own_parts
from penstock.twigs.parts import rewrite
from penstock.twigs.slots import SlotTable

PARTS_MAX = 400
"""Parts of a step's predicates; each position repeats the predicates before it."""


def count_child_positions(expression: x.Expression, slots: SlotTable) -> Any:
    """Return the expression with counts in the place of positions among children.

    ``slots`` gets the constants that are new.
    """
    return rewrite(expression, {x.Step: lambda step: _counted(step, slots)})


def _counted(step: x.Step, slots: SlotTable) -> x.Step:
    """Return a step without positions, or as it is if that is too large."""
    if step.axis is not Axis.CHILD or not any(map(is_positional, step.predicates)):
        return step
    counted: tuple[x.Atom, ...] = ()
    size = 0
    for predicate in step.predicates:
        siblings = _Siblings(step.test, counted, slots)
        counted += (replace_own_parts(predicate, siblings.counted),)
        size += size_of(counted[-1])
        if size > PARTS_MAX:
            return step
    return add_step(step.base, step.axis, step.test, counted)


class _Siblings:
    """The children of one parent that passed some predicates of a step."""

    def __init__(self, test: NodeTest, passed: tuple[x.Atom, ...], slots: SlotTable) -> None:
        self.test = test
        self.passed = passed
        self.slots = slots

    def counted(self, part: x.Expression) -> x.Atom | None:
        """Return a position or a comparison with it as a count."""
        match part:
            case x.Position():
                return x.Call("+", (self.before(), self.slots.add(1.0)))
            case x.Last():
                parent = x.Step(x.Here(), Axis.PARENT, ANY_NODE)
                return x.Count(x.Step(parent, Axis.CHILD, self.test, self.passed))
            case x.Compare(operator=operator, left=x.Position(), right=Slot() as number):
                return self.compared(operator, number)
            case x.Compare(operator=operator, left=Slot() as number, right=x.Position()):
                return self.compared(FLIPPED[operator], number)
        return None

    def compared(self, operator: str, number: Slot) -> x.Compare:
        """Return a comparison with a constant.

        Taking 1 from the constant is exact: no double lies between a whole number and the double
        next to it that would change sides.
        """
        below = self.slots.add(call("-", [self.slots[number], 1.0]))
        return x.Compare(operator, self.before(), below)

    def before(self) -> x.Count:
        return x.Count(x.Step(x.Here(), Axis.PRECEDING_SIBLING, self.test, self.passed))
