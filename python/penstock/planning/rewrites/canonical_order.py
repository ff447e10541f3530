"""One order for what has none: equal subscriptions become equal queries.

The parts of ``and`` and ``or`` and the alternatives of a union are sorted by shape, then by
constants, and each is kept once; a part beside its own negation decides the whole.
"""

from __future__ import annotations

from penstock.planning.keys import Key, Keys
from penstock.planning.traversal import rewrite_query
from penstock.twigs import FALSE, TRUE, Query
from penstock.twigs import expressions as x
from penstock.twigs.blanks import Atom
from penstock.twigs.logic import FLIPPED, negation, simplified


def order_canonically(query: Query) -> Query:
    """Return the query in the order that all queries which ask the same have."""
    ordering = _Ordering(Keys(query.constants))
    changes = {x.And: ordering.connective, x.Or: ordering.connective, x.Compare: ordering.sides}
    return rewrite_query(query, changes, ordering.alternatives)


def order_parts(condition: x.Condition, constants: tuple[Atom, ...]) -> x.Condition:
    """Return a condition, whose parts are in order themselves, with these in order."""
    return _Ordering(Keys(constants)).connective(condition)


class _Ordering:
    def __init__(self, keys: Keys) -> None:
        self.keys = keys

    def alternatives(self, twigs: list[x.TwigNode]) -> list[x.TwigNode]:
        """Return alternatives in order, each once."""
        if len(twigs) < 2:
            return twigs
        keyed: dict[Key, x.TwigNode] = {}
        for twig in twigs:
            keyed.setdefault(self.keys.of_twig(twig), twig)
        return [keyed[key] for key in sorted(keyed)]

    def sides(self, comparison: x.Compare) -> x.Compare:
        """Return a comparison of two values with its sides in order."""
        left, right, key = comparison.left, comparison.right, self.keys.of_value
        if isinstance(right, x.Slot) or not key(right) < key(left):
            return comparison
        return x.Compare(FLIPPED[comparison.operator], right, left)

    def connective(self, condition: x.Condition) -> x.Condition:
        """Return a flat ``And`` or ``Or`` with its parts in order, each once."""
        condition = simplified(condition)
        if not isinstance(condition, x.And | x.Or):
            return condition
        keyed: dict[Key, x.Condition] = {}
        for part in condition.parts:
            keyed.setdefault(self.keys.of_condition(part), part)
        for part in condition.parts:
            if self.keys.of_condition(negation(part)) in keyed:
                return FALSE if isinstance(condition, x.And) else TRUE
        parts = tuple([keyed[key] for key in sorted(keyed)])
        return parts[0] if len(parts) == 1 else type(condition)(parts)
