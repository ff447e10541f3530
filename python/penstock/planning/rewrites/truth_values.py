"""A truth inside a computed value becomes a case distinction around it.

``number(a) = (b > 1)`` and its like are rare; the kernel's scalars need not know conditions:
a comparison that contains the truth c is ``c and (it with true) or not(c) and (it with false)``.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.errors import QueryError
from penstock.planning.traversal import Traversal
from penstock.twigs import (
    BooleanOf,
    Call,
    Compare,
    Condition,
    Holds,
    Query,
    Scalar,
    Slot,
)
from penstock.twigs.depth import size_of
from penstock.twigs.logic import conjunction, disjunction, negation
from penstock.twigs.slots import SlotTable

TRUTHS_MAX = 4
"""Truths in one comparison; each doubles it."""

PARTS_MAX = 2_000
"""Parts of one truth; it is written twice, and may stand inside another."""


def split_truth_values(query: Query) -> Query:
    """Return the query with no truth inside the scalars of its conditions.

    Raises:
        QueryError: One comparison contains more than ``TRUTHS_MAX`` of them, or one of them has
            more than ``PARTS_MAX`` parts.
    """
    splitting = _Splitting(query)
    split = splitting.query(query)
    if split is query:
        return query
    return replace(split, constants=tuple(splitting.slots.values))


class _Splitting(Traversal):
    def __init__(self, query: Query) -> None:
        self.text = query.text
        self.slots = SlotTable(query.constants)

    def leave_condition(self, condition: Condition) -> Condition:
        return self.split(condition, 0)

    def split(self, condition: Condition, count: int) -> Condition:
        """Take the first truth out of a comparison, and then those that are left."""
        if not isinstance(condition, Compare | Holds):
            return condition
        scalars = _scalars(condition)
        truth = next((t for t in map(_first_truth, scalars) if t is not None), None)
        if truth is None:
            return condition
        if count == TRUTHS_MAX or size_of(truth.condition) > PARTS_MAX:
            message = (
                f"one value is made of more than {TRUTHS_MAX} conditions, or of too large ones"
            )
            way_out = "compare the conditions themselves, with and, or and not()"
            raise QueryError("PQ0212", message, (0, len(self.text)), way_out, self.text)
        cases = []
        for value in (True, False):
            slot = self.slots.add(value)
            replaced = [_substitute(scalar, truth, slot) for scalar in scalars]
            rest = self.split(_rebuild(condition, replaced), count + 1)
            case = truth.condition if value else negation(truth.condition)
            cases.append(conjunction(case, rest))
        return disjunction(*cases)


def _scalars(condition: Compare | Holds) -> list[Scalar]:
    if isinstance(condition, Holds):
        return [condition.scalar]
    return [condition.left, condition.right]


def _rebuild(condition: Compare | Holds, scalars: list[Scalar]) -> Condition:
    if isinstance(condition, Holds):
        return Holds(scalars[0])
    return Compare(condition.operator, scalars[0], scalars[1])


def _first_truth(scalar: Scalar) -> BooleanOf | None:
    if isinstance(scalar, BooleanOf):
        return scalar
    if isinstance(scalar, Call):
        return next((t for t in map(_first_truth, scalar.arguments) if t is not None), None)
    return None


def _substitute(scalar: Scalar, truth: BooleanOf, slot: Slot) -> Scalar:
    if scalar == truth:
        return slot
    if isinstance(scalar, Call):
        arguments = tuple([_substitute(a, truth, slot) for a in scalar.arguments])
        return Call(scalar.function, arguments)
    return scalar
