"""One order for what has none: equal subscriptions become equal queries.

The parts of ``and`` and ``or`` and the alternatives of a union are sorted by shape, then by
constants, and each is kept once; a part beside its own negation decides the whole. Constants are
numbered in the order in which the result mentions them, each mention with a slot of its own.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.planning.keys import Key, Keys
from penstock.planning.traversal import Traversal
from penstock.twigs import (
    FALSE,
    TRUE,
    And,
    Block,
    Compare,
    Condition,
    Exists,
    Or,
    Query,
    Scalar,
    Slot,
    TwigNode,
)
from penstock.twigs.logic import conjunction, disjunction, negation
from penstock.twigs.slots import SlotTable

_FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def order_canonically(query: Query) -> Query:
    """Return the query in the order that all queries which ask the same have."""
    ordered = _Ordering(Keys(query.constants)).query(query)
    numbering = _Numbering(query)
    numbered = numbering.query(ordered)
    return replace(numbered, constants=tuple(numbering.slots.values))


class _Ordering(Traversal):
    def __init__(self, keys: Keys) -> None:
        self.keys = keys

    def block(self, block: Block) -> Block:
        keyed = {}
        for alternative in block.alternatives:
            twig = self.twig(alternative)
            if twig.where != FALSE:
                keyed[self.keys.of_twig(twig)] = twig
        return replace(block, alternatives=tuple([keyed[key] for key in sorted(keyed)]))

    def leave_twig(self, node: TwigNode) -> TwigNode:
        is_dead = any(b.node.where == FALSE and not b.optional for b in node.branches)
        return replace(node, where=FALSE) if is_dead else node

    def leave_condition(self, condition: Condition) -> Condition:
        match condition:
            case And(parts=parts):
                return self.ordered(conjunction(*parts))
            case Or(parts=parts):
                return self.ordered(disjunction(*parts))
            case Exists(node=node) if node.where == FALSE:
                return FALSE
            case Compare(operator=operator, left=left, right=right):
                if not isinstance(right, Slot) and self.key(right) < self.key(left):
                    return Compare(_FLIPPED[operator], right, left)
        return condition

    def key(self, scalar: Scalar) -> Key:
        """Return the key of a side of a comparison."""
        return self.keys.of_scalar(scalar)

    def ordered(self, condition: Condition) -> Condition:
        """Return a flat ``And`` or ``Or`` with its parts in order, each once."""
        if not isinstance(condition, And | Or):
            return condition
        keyed = {self.keys.of_condition(part): part for part in condition.parts}
        for part in condition.parts:
            if self.keys.of_condition(negation(part)) in keyed:
                return FALSE if isinstance(condition, And) else TRUE
        parts = tuple([keyed[key] for key in sorted(keyed)])
        return parts[0] if len(parts) == 1 else type(condition)(parts)


class _Numbering(Traversal):
    """Gives every mention of a constant the next slot, in the order of the printed form."""

    def __init__(self, query: Query) -> None:
        self.constants = query.constants
        self.slots = SlotTable()

    def twig(self, node: TwigNode) -> TwigNode:
        # A node's condition is printed before its branches, so it is numbered before them.
        where = self.condition(node.where)
        branches = []
        for branch in node.branches:
            branches.append(replace(branch, node=self.twig(branch.node)))
        return replace(node, where=where, branches=tuple(branches))

    def leave_scalar(self, scalar: Scalar) -> Scalar:
        if isinstance(scalar, Slot):
            return self.slots.add(self.constants[scalar.index])
        return scalar
