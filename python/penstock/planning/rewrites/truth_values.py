"""A truth inside a computed value becomes a case distinction around it.

``number(a = 'x') < b`` and its like are rare; the kernel's scalars need not know conditions: a
comparison that contains the truth c is ``c and (it with true) or not(c) and (it with false)``.
The same holds for a value whose path begins with a guard on the context node itself:
``concat(self::a[b], 'x')`` reads the context node if it is an ``a[b]``, and else nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from penstock.planning.traversal import Traversal
from penstock.twigs import (
    Axis,
    BooleanOf,
    Call,
    Compare,
    Condition,
    Exists,
    Holds,
    NameOf,
    Query,
    Scalar,
    StringOf,
    TwigNode,
)
from penstock.twigs.blanks import Atom
from penstock.twigs.depth import size_of
from penstock.twigs.logic import conjunction, disjunction, negation
from penstock.twigs.queries import NoTwigError
from penstock.twigs.slots import SlotTable

TRUTHS_MAX = 4
"""Truths in one comparison; each doubles it."""

PARTS_MAX = 2_000
"""Parts of one truth; it is written twice, and may stand inside another."""


def split_truth_values(query: Query) -> Query:
    """Return the query with no truth inside the scalars of its conditions.

    Raises:
        NoTwigError: One comparison contains more than ``TRUTHS_MAX`` of them, or one of them has
            more than ``PARTS_MAX`` parts.
    """
    splitting = _Splitting(query)
    split = splitting.query(query)
    if split is query:
        return query
    return replace(split, constants=tuple(splitting.slots.values))


class _Truth(NamedTuple):
    """A scalar with two values: one if the condition holds, a constant if it does not."""

    scalar: Scalar
    condition: Condition
    if_true: Scalar | bool
    if_false: Atom


class _Splitting(Traversal):
    def __init__(self, query: Query) -> None:
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
            raise NoTwigError(f"a value is made of over {TRUTHS_MAX} conditions, or of large ones")
        cases = []
        for guard, value in (
            (truth.condition, truth.if_true),
            (negation(truth.condition), truth.if_false),
        ):
            new = self.slots.add(value) if isinstance(value, Atom) else value
            replaced = [_substitute(scalar, truth.scalar, new) for scalar in scalars]
            rest = self.split(_rebuild(condition, replaced), count + 1)
            cases.append(conjunction(guard, rest))
        return disjunction(*cases)


def _scalars(condition: Compare | Holds) -> list[Scalar]:
    if isinstance(condition, Holds):
        return [condition.scalar]
    return [condition.left, condition.right]


def _rebuild(condition: Compare | Holds, scalars: list[Scalar]) -> Condition:
    if isinstance(condition, Holds):
        return Holds(scalars[0])
    return Compare(condition.operator, scalars[0], scalars[1])


def _first_truth(scalar: Scalar) -> _Truth | None:
    match scalar:
        case BooleanOf(condition=condition):
            return _Truth(scalar, condition, True, False)
        case Call(arguments=arguments):
            return next((t for t in map(_first_truth, arguments) if t is not None), None)
        case (
            StringOf(node=TwigNode(axis=Axis.SELF) as node)
            | NameOf(node=TwigNode(axis=Axis.SELF) as node)
        ) if not scalar.absolute:
            guard = Exists(replace(node, variable=None, branches=()))
            below = node.branches[0].node if node.branches else None
            return _Truth(scalar, guard, replace(scalar, node=below), "")
        case _:
            return None


def _substitute(scalar: Scalar, old: Scalar, new: Scalar) -> Scalar:
    if scalar == old:
        return new
    if isinstance(scalar, Call):
        arguments = tuple([_substitute(argument, old, new) for argument in scalar.arguments])
        return Call(scalar.function, arguments)
    return scalar
