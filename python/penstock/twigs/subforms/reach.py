"""Which kinds of nodes a step can reach, known before any document is read."""

from __future__ import annotations

from penstock.twigs.nodetests import Axis, NodeKind, NodeTest

Kinds = frozenset[NodeKind]

DOCUMENT: Kinds = frozenset({NodeKind.DOCUMENT})
NOTHING: Kinds = frozenset()
FORWARD = frozenset(
    {Axis.SELF, Axis.CHILD, Axis.DESCENDANT, Axis.DESCENDANT_OR_SELF, Axis.ATTRIBUTE}
)
"""The axes of a twig."""

_PARENTS = frozenset({NodeKind.DOCUMENT, NodeKind.ELEMENT})
_TOP_LEVEL = frozenset({NodeKind.ELEMENT, NodeKind.COMMENT, NodeKind.INSTRUCTION})
_CONTENT = _TOP_LEVEL | {NodeKind.TEXT}


def reach(kinds: Kinds, axis: Axis, test: NodeTest) -> Kinds:
    """Return the kinds of the nodes that a forward step from nodes of ``kinds`` can reach.

    Nothing means that the step never matches: an attribute has no children, the document node
    no attributes and no text of its own.
    """
    reached = _along(kinds, axis)
    return reached if test.kind is NodeKind.ANY else reached & {test.kind}


def has_children(kinds: Kinds) -> bool:
    """Return whether a node of one of the kinds may have children."""
    return not kinds.isdisjoint(_PARENTS)


def _along(kinds: Kinds, axis: Axis) -> Kinds:
    match axis:
        case Axis.SELF:
            return kinds
        case Axis.ATTRIBUTE:
            return frozenset({NodeKind.ATTRIBUTE}) if NodeKind.ELEMENT in kinds else NOTHING
        case Axis.CHILD if kinds == DOCUMENT:
            return _TOP_LEVEL
        case Axis.CHILD | Axis.DESCENDANT:
            return _CONTENT if has_children(kinds) else NOTHING
        case Axis.DESCENDANT_OR_SELF:
            return kinds | _CONTENT if has_children(kinds) else kinds
        case _:
            raise AssertionError(f"{axis} is not a forward axis of this representation")
