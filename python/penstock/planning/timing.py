"""When a condition can be decided: at the start of its node, or only by its content."""

from __future__ import annotations

from enum import IntEnum

from penstock.twigs import (
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
    Not,
    Or,
    Scalar,
    StringOf,
    TwigNode,
)


class Moment(IntEnum):
    """The latest event that something at a node needs, from its own to the last of all."""

    START = 0
    """The node's own event."""
    END = 1
    """The end of its content."""
    PARENT = 2
    """The end of its parent."""
    ANCESTOR = 3
    """The end of another element around it."""
    DOCUMENT = 4
    """The end of the document."""


LEAVES = frozenset(
    {
        NodeKind.ATTRIBUTE,
        NodeKind.TEXT,
        NodeKind.COMMENT,
        NodeKind.INSTRUCTION,
        NodeKind.NAMESPACE,
    }
)
"""The whole string value of these is there with their one event."""


def moment_of(condition: Condition, kind: NodeKind) -> Moment:
    """Return when a condition at a node of this kind is decided at the latest."""
    match condition:
        case And(parts=parts) | Or(parts=parts):
            return max([moment_of(part, kind) for part in parts])
        case Not(part=part):
            return moment_of(part, kind)
        case Exists(node=node):
            return _moment_of_path(node, kind)
        case Compare(left=left, right=right):
            return max([moment_of_scalar(left, kind), moment_of_scalar(right, kind)])
        case Holds(scalar=scalar):
            return moment_of_scalar(scalar, kind)
        case _:
            return Moment.START


def moment_of_scalar(scalar: Scalar, kind: NodeKind) -> Moment:
    """Return when a scalar at a node of this kind is known at the latest."""
    match scalar:
        case StringOf(node=None):
            return Moment.START if kind in LEAVES else Moment.END
        case StringOf(node=node) | NameOf(node=node) if node is not None:
            return _moment_of_path(node, kind)
        case Call(arguments=arguments):
            return max([moment_of_scalar(argument, kind) for argument in arguments])
        case BooleanOf(condition=condition):
            return moment_of(condition, kind)
        case _:
            return Moment.START


def _moment_of_path(node: TwigNode, kind: NodeKind) -> Moment:
    """Return when it is known which nodes a path from a node of this kind reaches."""
    if node.axis is Axis.ATTRIBUTE:
        return Moment.START
    if node.axis is not Axis.SELF:
        return Moment.END
    own = kind if node.test.kind is NodeKind.ANY else node.test.kind
    moments = [_moment_of_path(branch.node, own) for branch in node.branches]
    return max([moment_of(node.where, own), *moments])
