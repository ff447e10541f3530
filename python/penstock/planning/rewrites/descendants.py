"""Two steps become one where the first only says how far to go.

``//x`` abbreviates ``/descendant-or-self::node()/child::x``, which is ``/descendant::x``. The
first step must test nothing, guard nothing and bind nothing, and have one step after it.
``a/descendant-or-self::b`` is ``a/descendant::b``, because no ``a`` is a ``b``.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.planning.nodetests import meet
from penstock.planning.traversal import rewrite_query
from penstock.twigs import TRUE, AtRoot, Axis, Exists, NodeTest, Query, TwigNode, Value
from penstock.twigs.nodetests import ANY_NODE, DOCUMENT_NODE
from penstock.twigs.parts import P, map_parts

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
    joining = _Joining()
    joined = rewrite_query(query, {TwigNode: joining.join})
    return _go_below(joined) if joining.has_named_self else joined


class _Joining:
    has_named_self = False
    """Whether a step to descendants or self is left that tests for something."""

    def join(self, node: TwigNode) -> TwigNode:
        if node.test != ANY_NODE:
            self.has_named_self |= node.axis is Axis.DESCENDANT_OR_SELF
            return node
        after = _only_step_after(node) if node.variable is None else None
        axis = None if after is None else _COMBINED.get((node.axis, after.axis))
        if after is None or axis is None:
            return node
        return self.join(replace(after, axis=axis))


def _only_step_after(node: TwigNode) -> TwigNode | None:
    """Return the one step that a node leads to, or None if it has conditions or more."""
    if node.where == TRUE and len(node.branches) == 1 and not node.branches[0].optional:
        return node.branches[0].node
    match node.where:
        case Exists(nodes=TwigNode() as below) if not node.branches:
            return below
    return None


# A step to descendants or self goes to descendants alone where the node itself cannot pass its
# test. What follows applies this to every step that begins at one node.


def _go_below(query: Query) -> Query:
    below = rewrite_query(query, {TwigNode: _with_proper_steps})
    if isinstance(below.output, Value):
        atom = _proper(below.output.atom, DOCUMENT_NODE)
        if atom is not below.output.atom:
            return replace(below, output=replace(below.output, atom=atom))
    return below


def _with_proper_steps(node: TwigNode) -> TwigNode:
    return map_parts(node, lambda part: _proper(part, node.test))


def _proper(part: P, test: NodeTest) -> P:
    """Return a part with its steps from a node that passes ``test``."""
    match part:
        case TwigNode(axis=Axis.DESCENDANT_OR_SELF) if not meet(test, part.test):
            return replace(part, axis=Axis.DESCENDANT)
        case TwigNode() | AtRoot():
            return part
    return map_parts(part, lambda inner: _proper(inner, test))
