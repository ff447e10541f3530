"""One order for what has none: equal subscriptions become equal queries.

The parts of ``and`` and ``or`` and the alternatives of a union are sorted by shape, then by
constants, and each is kept once; a part beside its own negation decides the whole.
"""

from __future__ import annotations

from penstock.planning.keys import Key, Keys
from penstock.planning.traversal import Traversal
from penstock.twigs import (
    FALSE,
    TRUE,
    And,
    Block,
    Compare,
    Condition,
    Or,
    Query,
    Scalar,
    Slot,
    TwigNode,
)
from penstock.twigs.blanks import Atom
from penstock.twigs.logic import FLIPPED, conjunction, disjunction, negation


def order_canonically(query: Query) -> Query:
    """Return the query in the order that all queries which ask the same have."""
    return _Ordering(Keys(query.constants)).query(query)


def order_parts(condition: Condition, constants: tuple[Atom, ...]) -> Condition:
    """Return a condition, whose parts are in order themselves, with these in order."""
    return _Ordering(Keys(constants)).ordered(condition)


class _Ordering(Traversal):
    def __init__(self, keys: Keys) -> None:
        self.keys = keys

    def leave_block(self, block: Block, alternatives: list[TwigNode]) -> Block:
        if len(alternatives) > 1:
            keyed: dict[Key, TwigNode] = {}
            for alternative in alternatives:
                keyed.setdefault(self.keys.of_twig(alternative), alternative)
            alternatives = [keyed[key] for key in sorted(keyed)]
        return super().leave_block(block, alternatives)

    def leave_condition(self, condition: Condition) -> Condition:
        match condition:
            case And(parts=parts):
                return self.ordered(conjunction(*parts))
            case Or(parts=parts):
                return self.ordered(disjunction(*parts))
            case Compare(operator=operator, left=left, right=right):
                if not isinstance(right, Slot) and self.key(right) < self.key(left):
                    return Compare(FLIPPED[operator], right, left)
        return condition

    def key(self, scalar: Scalar) -> Key:
        """Return the key of a side of a comparison."""
        return self.keys.of_scalar(scalar)

    def ordered(self, condition: Condition) -> Condition:
        """Return a flat ``And`` or ``Or`` with its parts in order, each once."""
        if not isinstance(condition, And | Or):
            return condition
        keyed: dict[Key, Condition] = {}
        for part in condition.parts:
            keyed.setdefault(self.keys.of_condition(part), part)
        for part in condition.parts:
            if self.keys.of_condition(negation(part)) in keyed:
                return FALSE if isinstance(condition, And) else TRUE
        parts = tuple([keyed[key] for key in sorted(keyed)])
        return parts[0] if len(parts) == 1 else type(condition)(parts)
