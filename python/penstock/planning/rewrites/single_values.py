"""A value of at most one node is looked at where that node is.

``contains(@a, 'x')`` reads the first ``@a``, and there is at most one; so it is ``@a[contains(.,
'x')]``, which is decided with the attribute and shared with every other query about it. Where the
comparison holds for a missing node, as ``string(@a) != 'x'`` does, it is ``not(@a[. = 'x'])``.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.planning.rewrites.constants import fold_constants
from penstock.planning.traversal import rewrite_query
from penstock.twigs import Axis, Block, Query, Value
from penstock.twigs import expressions as x
from penstock.twigs.logic import conjunction
from penstock.twigs.parts import leaves, map_leaves


def place_single_values(query: Query) -> Query:
    """Return the query with comparisons of single nodes moved to those nodes."""
    placing = _Placing(query)
    return rewrite_query(query, {x.Compare: placing.place, x.Call: placing.place})


def holds_for_empty(condition: x.Compare | x.Call, query: Query) -> bool:
    """Return whether a condition on the value of its node holds for an empty value."""
    placing = _Placing(query)
    return placing.value_of(_with(condition, placing.empty))


class _Placing:
    def __init__(self, query: Query) -> None:
        self.constants = (*query.constants, "")
        self.empty = x.Slot(len(query.constants), x.ValueType.STRING)

    def place(self, condition: x.Compare | x.Call) -> x.Atom:
        """Return a condition moved to the one node that it reads, if there is one."""
        node = _only_read(condition)
        if node is None or not _is_single(node):
            return condition
        here = _with(condition, x.StringOf())
        if self.value_of(_with(condition, self.empty)):
            return x.Not(_exists(node, x.Not(here)))
        return _exists(node, here)

    def value_of(self, condition: x.Condition) -> bool:
        """Return the value of a condition on constants."""
        value = Value(condition, x.ValueType.BOOLEAN)
        folded = fold_constants(Query((Block(()),), value, self.constants))
        assert isinstance(folded.output, Value)
        assert isinstance(folded.output.atom, x.Constant)
        return folded.output.atom.value


def _only_read(condition: x.Compare | x.Call) -> x.TwigNode | None:
    """Return the path of the one string that a condition is about, all else being constant."""
    if x.type_of(condition) is not x.ValueType.BOOLEAN:
        return None
    match [leaf for leaf in leaves(condition) if not isinstance(leaf, x.Slot)]:
        case [x.StringOf(nodes=x.TwigNode() as node)]:
            return node
    return None


def _is_single(node: x.TwigNode) -> bool:
    """Return whether a path reaches one attribute at most, or none but the context node."""
    if len(node.branches) > 1 or any(branch.optional for branch in node.branches):
        return False
    if node.axis is Axis.ATTRIBUTE:
        uris = node.test.uris
        is_exact = uris is not None and len(uris) == 1 and "*" not in uris[0]
        return is_exact and node.test.local is not None and not node.branches
    return node.axis is Axis.SELF and all(_is_single(branch.node) for branch in node.branches)


def _with(condition: x.Compare | x.Call, string: x.Atom) -> x.Condition:
    """Return the condition with another string in the place of the one it reads."""
    return map_leaves(condition, lambda leaf: string if isinstance(leaf, x.StringOf) else leaf)


def _exists(node: x.TwigNode, leaf: x.Condition) -> x.Condition:
    """Return that the path reaches a node where ``leaf`` holds."""
    if node.branches:
        leaf = _exists(node.branches[0].node, leaf)
    guarded = replace(node, where=conjunction(node.where, leaf), variable=None, branches=())
    return x.Exists(guarded)
