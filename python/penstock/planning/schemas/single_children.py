"""A comparison with a child that occurs at most once fails when that child ends.

``book[price < 11]`` asks for some price below 11, so it is false only when the book ends. Where a
book has one price at most, it is ``book[number(price) < 11]``: the value of the first one, which is
known once that has ended. What waits for it is dropped then.

Comparisons that hold for an empty value stay, since they would hold where there is no child. Those
below ``not`` stay as well: results would be decided earlier, and in another order than where the
same document is read as a whole.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from penstock.planning.rewrites.single_values import holds_for_empty
from penstock.planning.schemas.knowledge import Contexts, Knowledge
from penstock.planning.schemas.walking import Walk
from penstock.twigs import Aggregate, Fragments, Query
from penstock.twigs import expressions as x
from penstock.twigs.nodetests import Axis
from penstock.twigs.parts import leaves, map_leaves


def read_single_children(query: Query, knowledge: Knowledge) -> Query:
    """Return a query for nodes with comparisons of single children decided by their first value."""
    if not isinstance(query.output, Fragments | Aggregate):
        return query
    return _Reading(knowledge, query).query(query)


class _Reading(Walk):
    def __init__(self, knowledge: Knowledge, query: Query) -> None:
        super().__init__(knowledge)
        self._query = query

    def condition(self, part: Any, contexts: Contexts) -> Any:
        match part:
            case x.Exists():
                changed = super().condition(part, contexts)
                return self._read(changed, contexts) or changed
            case x.And() | x.Or() | x.TwigNode():
                return super().condition(part, contexts)
            case _:
                return part

    def _read(self, condition: x.Exists, contexts: Contexts) -> x.Atom | None:
        """Return the comparison of the first value, if the path has single children only."""
        path: list[x.TwigNode] = []
        inner: Any = condition
        while isinstance(inner, x.Exists):
            node = inner.nodes
            if not isinstance(node, x.TwigNode) or node.axis is not Axis.CHILD or node.branches:
                return None
            contexts = self.knowledge.single(contexts, node.test)
            if contexts is None:
                return None
            path.append(node)
            inner = node.where
        if not isinstance(inner, x.Compare | x.Call) or not _is_of_here(inner):
            return None
        if holds_for_empty(inner, self._query):
            return None
        value = replace(path.pop(), where=x.TRUE)
        for node in reversed(path):
            value = replace(node, where=x.TRUE, branches=(x.Branch(value),))
        return map_leaves(
            inner, lambda leaf: x.StringOf(value) if isinstance(leaf, x.StringOf) else leaf
        )


def _is_of_here(condition: x.Compare | x.Call) -> bool:
    """Whether a condition reads the value of its node once, and constants."""
    if x.type_of(condition) is not x.ValueType.BOOLEAN:
        return False
    read = [leaf for leaf in leaves(condition) if not isinstance(leaf, x.Slot)]
    return read == [x.StringOf()]
