"""A truth inside a computed value becomes a case distinction around it.

``number(a = 'x') < b`` and its like are rare; the kernel's values need not know conditions: a
comparison that contains the truth c is ``c and (it with true) or not(c) and (it with false)``.
The same holds for a value whose path begins with a guard on the context node itself:
``concat(self::a[b], 'x')`` reads the context node if it is an ``a[b]``, and else nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from penstock.planning.traversal import rewrite_query
from penstock.twigs import Axis, Query
from penstock.twigs import expressions as x
from penstock.twigs.blanks import Atom
from penstock.twigs.depth import size_of
from penstock.twigs.logic import conjunction, disjunction, negation
from penstock.twigs.parts import leaves, map_leaves
from penstock.twigs.queries import NoTwigError
from penstock.twigs.slots import SlotTable

TRUTHS_MAX = 4
"""Truths in one comparison; each doubles it."""

PARTS_MAX = 2_000
"""Parts of one truth; it is written twice, and may stand inside another."""


def split_truth_values(query: Query) -> Query:
    """Return the query with no truth inside its comparisons.

    Raises:
        NoTwigError: One comparison contains more than ``TRUTHS_MAX`` of them, or one of them has
            more than ``PARTS_MAX`` parts.
    """
    splitting = _Splitting(query)
    split = rewrite_query(query, {x.Compare: splitting.split, x.Call: splitting.split_call})
    if split is query:
        return query
    return replace(split, constants=tuple(splitting.slots.values))


class _Truth(NamedTuple):
    """A leaf with two values: one if the condition holds, a constant if it does not."""

    leaf: x.Atom
    condition: x.Condition
    if_true: x.Atom
    if_false: Atom


class _Splitting:
    def __init__(self, query: Query) -> None:
        self.slots = SlotTable(query.constants)

    def split_call(self, call: x.Call) -> x.Atom:
        """Take the truths out of a call that is a truth value itself."""
        return self.split(call) if x.type_of(call) is x.ValueType.BOOLEAN else call

    def split(self, condition: x.Compare | x.Call, count: int = 0) -> x.Condition:
        """Take the first truth out of a comparison, and then those that are left."""
        truth = next(filter(None, map(_truth, leaves(condition))), None)
        if truth is None:
            return condition
        if count == TRUTHS_MAX or size_of(truth.condition) > PARTS_MAX:
            raise NoTwigError(f"a value is made of over {TRUTHS_MAX} conditions, or of large ones")
        cases = []
        for guard, value in (
            (truth.condition, truth.if_true),
            (negation(truth.condition), self.slots.add(truth.if_false)),
        ):
            rest = self.split(_substitute(condition, truth.leaf, value), count + 1)
            cases.append(conjunction(guard, rest))
        return disjunction(*cases)


def _truth(leaf: x.Atom) -> _Truth | None:
    match leaf:
        case x.Slot() | x.Constant():
            return None
        case (
            x.StringOf(nodes=x.TwigNode(axis=Axis.SELF) as node)
            | x.NameOf(nodes=x.TwigNode(axis=Axis.SELF) as node)
        ):
            guard = x.Exists(replace(node, variable=None, branches=()))
            below = node.branches[0].node if node.branches else x.Here()
            return _Truth(leaf, guard, replace(leaf, nodes=below), "")
        case _:
            return _Truth(leaf, leaf, x.TRUE, False) if x.is_condition(leaf) else None


def _substitute(condition: x.Compare | x.Call, old: x.Atom, new: x.Atom) -> Any:
    return map_leaves(condition, lambda leaf: new if leaf == old else leaf)
