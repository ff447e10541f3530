"""When a condition can be decided: at the start of its node, or only by its content."""

from __future__ import annotations

from enum import IntEnum

from penstock.twigs import Axis, NodeKind, StringOf, TwigNode
from penstock.twigs.expressions import Here
from penstock.twigs.parts import Part, parts_of


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


def moment_of(part: Part, kind: NodeKind) -> Moment:
    """Return when a part at a node of this kind is known at the latest.

    Of a path that is which nodes it reaches.
    """
    match part:
        case StringOf(nodes=Here()):
            return Moment.START if kind in LEAVES else Moment.END
        case TwigNode(axis=Axis.ATTRIBUTE):
            return Moment.START
        case TwigNode(axis=Axis.SELF, test=test):
            kind = kind if test.kind is NodeKind.ANY else test.kind
        case TwigNode():
            return Moment.END
    return max([moment_of(inner, kind) for inner in parts_of(part)], default=Moment.START)
