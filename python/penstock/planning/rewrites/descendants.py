"""Two steps become one where the first only says how far to go.

``//x`` abbreviates ``/descendant-or-self::node()/child::x``, which is ``/descendant::x``. The
first step must test nothing, guard nothing and bind nothing, and have one step after it.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.planning.traversal import Traversal
from penstock.twigs import TRUE, Axis, Exists, NodeKind, NodeTest, Query, TwigNode

# A step after an attribute step stays: there is no axis to the attributes of all descendants.
_COMBINED = {
    (Axis.DESCENDANT_OR_SELF, Axis.CHILD): Axis.DESCENDANT,
    (Axis.DESCENDANT_OR_SELF, Axis.DESCENDANT): Axis.DESCENDANT,
    (Axis.DESCENDANT_OR_SELF, Axis.DESCENDANT_OR_SELF): Axis.DESCENDANT_OR_SELF,
    (Axis.DESCENDANT_OR_SELF, Axis.SELF): Axis.DESCENDANT_OR_SELF,
    (Axis.DESCENDANT, Axis.DESCENDANT_OR_SELF): Axis.DESCENDANT,
    (Axis.DESCENDANT, Axis.SELF): Axis.DESCENDANT,
    (Axis.CHILD, Axis.DESCENDANT_OR_SELF): Axis.DESCENDANT,
    (Axis.CHILD, Axis.SELF): Axis.CHILD,
    (Axis.SELF, Axis.CHILD): Axis.CHILD,
    (Axis.SELF, Axis.DESCENDANT): Axis.DESCENDANT,
    (Axis.SELF, Axis.DESCENDANT_OR_SELF): Axis.DESCENDANT_OR_SELF,
    (Axis.SELF, Axis.ATTRIBUTE): Axis.ATTRIBUTE,
    (Axis.SELF, Axis.SELF): Axis.SELF,
}


def join_descendant_steps(query: Query) -> Query:
    """Return the query with ``descendant-or-self::node()/child::x`` written as one step."""
    return _Descendants().query(query)


class _Descendants(Traversal):
    def leave_twig(self, node: TwigNode) -> TwigNode:
        if node.test.kind is NodeKind.DOCUMENT:
            return _below_document(node)
        if node.test != NodeTest(NodeKind.ANY) or node.variable is not None:
            return node
        after = _only_step_after(node)
        axis = None if after is None else _COMBINED.get((node.axis, after.axis))
        if after is None or axis is None:
            return node
        return self.leave_twig(replace(after, axis=axis))


def _only_step_after(node: TwigNode) -> TwigNode | None:
    """Return the one step that a node leads to, or None if it has conditions or more."""
    if node.where == TRUE and len(node.branches) == 1 and not node.branches[0].optional:
        return node.branches[0].node
    if isinstance(node.where, Exists) and not node.branches:
        return node.where.node
    return None


def _below_document(node: TwigNode) -> TwigNode:
    """Leave out the document node from ``descendant-or-self::x`` where x cannot be it."""
    branches = []
    for branch in node.branches:
        below = branch.node
        is_other = below.test.kind not in (NodeKind.ANY, NodeKind.DOCUMENT)
        if is_other and below.axis is Axis.DESCENDANT_OR_SELF:
            branch = replace(branch, node=replace(below, axis=Axis.DESCENDANT))
        branches.append(branch)
    return replace(node, branches=tuple(branches))
