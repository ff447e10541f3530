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
        case Step(base=base, axis=Axis.CHILD, test=test, predicates=predicates) if any(
            map(is_positional, predicates)
        ):
            return add_step(base, Axis.CHILD, test, _counted(test, predicates, slots))
        case other:
            return other


def _counted(test: NodeTest, predicates: tuple[Atom, ...], slots: SlotTable) -> tuple[Atom, ...]:
    """Return the predicates without positions, or as they are if that is too large."""
    counted: tuple[Atom, ...] = ()
    size = 0
    for predicate in predicates:
        siblings = _Siblings(test, counted, slots)
        counted += (replace_own_parts(predicate, siblings.counted),)
        size += size_of(counted[-1])
        if size > PARTS_MAX:
            return predicates
    return counted


class _Siblings:
    """The children of one parent that passed some predicates of a step."""

    def __init__(self, test: NodeTest, passed: tuple[Atom, ...], slots: SlotTable) -> None:
        self.test = test
        self.passed = passed
        self.slots = slots

    def counted(self, part: Expression) -> Atom | None:
        """Return a position or a comparison with it as a count."""
        match part:
            case Position():
                return Apply("+", (self.before(), self.slots.add(1.0)))
            case Last():
                parent = Step(Here(), Axis.PARENT, ANY_NODE)
                return Count(Step(parent, Axis.CHILD, self.test, self.passed))
            case Apply(function=operator, arguments=(Position(), Slot() as number)):
                return self.compared(operator, number)
            case Apply(function=operator, arguments=(Slot() as number, Position())):
                return self.compared(FLIPPED.get(operator, ""), number)
        return None

    def compared(self, operator: str, number: Slot) -> Atom | None:
        """Return a comparison with a constant.

        Taking 1 from the constant is exact: no double lies between a whole number and the double
        next to it that would change sides.
        """
        if operator not in FLIPPED:
            return None
        below = self.slots.add(call("-", [self.slots[number], 1.0]))
        return Apply(operator, (self.before(), below))

    def before(self) -> Count:
        return Count(Step(Here(), Axis.PRECEDING_SIBLING, self.test, self.passed))
