"""Two steps become one where the first only says how far to go.

``//x`` abbreviates ``/descendant-or-self::node()/child::x``, which is ``/descendant::x``. The
first step must test nothing, guard nothing and bind nothing, and have one step after it.
``a/descendant-or-self::b`` is ``a/descendant::b``, because no ``a`` is a ``b``.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.planning.nodetests import meet
from penstock.planning.traversal import Traversal
from penstock.twigs import (
    TRUE,
    And,
    Axis,
    BooleanOf,
    Call,
    Compare,
    Condition,
    Exists,
    Holds,
    NameOf,
    NodeKind,
    NodeTest,
    Not,
    Or,
    Query,
    Scalar,
    StringOf,
    TwigNode,
    Value,
)

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
    joined = joining.query(query)
    return _go_below(joined) if joining.has_named_self else joined


class _Joining(Traversal):
    has_named_self = False
    """Whether a step to descendants or self is left that tests for something."""

    def leave_twig(self, node: TwigNode) -> TwigNode:
        if node.test != NodeTest(NodeKind.ANY):
            self.has_named_self |= node.axis is Axis.DESCENDANT_OR_SELF
            return node
        if node.variable is not None:
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


# A step to descendants or self goes to descendants alone where the node itself cannot pass its
# test. What follows applies this to every step that begins at one node.


def _go_below(query: Query) -> Query:
    below = _Below().query(query)
    if isinstance(below.output, Value):
        scalar = _proper_scalar(below.output.scalar, NodeTest(NodeKind.DOCUMENT))
        if scalar != below.output.scalar:
            return replace(below, output=replace(below.output, scalar=scalar))
    return below


class _Below(Traversal):
    def leave_twig(self, node: TwigNode) -> TwigNode:
        where = _proper_condition(node.where, node.test)
        branches = [replace(b, node=_proper(b.node, node.test)) for b in node.branches]
        return replace(node, where=where, branches=tuple(branches))


def _proper(step: TwigNode, test: NodeTest) -> TwigNode:
    """Return a step from a node that passes ``test``."""
    if step.axis is Axis.DESCENDANT_OR_SELF and not meet(test, step.test):
        return replace(step, axis=Axis.DESCENDANT)
    return step


def _proper_condition(condition: Condition, test: NodeTest) -> Condition:
    match condition:
        case And(parts=parts) | Or(parts=parts):
            return type(condition)(tuple([_proper_condition(part, test) for part in parts]))
        case Not(part=part):
            return Not(_proper_condition(part, test))
        case Exists(node=node):
            return Exists(_proper(node, test))
        case Compare(operator=operator, left=left, right=right):
            first = _proper_scalar(left, test)
            return Compare(operator, first, _proper_scalar(right, test))
        case Holds(scalar=scalar):
            return Holds(_proper_scalar(scalar, test))
        case _:
            return condition


def _proper_scalar(scalar: Scalar, test: NodeTest) -> Scalar:
    match scalar:
        case StringOf(node=node) | NameOf(node=node) if node is not None:
            return replace(scalar, node=_proper(node, test))
        case Call(function=function, arguments=arguments):
            return Call(function, tuple([_proper_scalar(part, test) for part in arguments]))
        case BooleanOf(condition=condition):
            return BooleanOf(_proper_condition(condition, test))
        case _:
            return scalar
