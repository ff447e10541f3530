"""Axes and node tests: what one step of a twig may reach."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Axis(Enum):
    """The thirteen axes of XPath 1.0, by their names there."""

    SELF = "self"
    CHILD = "child"
    DESCENDANT = "descendant"
    DESCENDANT_OR_SELF = "descendant-or-self"
    ATTRIBUTE = "attribute"
    PARENT = "parent"
    ANCESTOR = "ancestor"
    ANCESTOR_OR_SELF = "ancestor-or-self"
    FOLLOWING_SIBLING = "following-sibling"
    PRECEDING_SIBLING = "preceding-sibling"
    FOLLOWING = "following"
    PRECEDING = "preceding"
    NAMESPACE = "namespace"


BACK = frozenset(
    {
        Axis.PARENT,
        Axis.ANCESTOR,
        Axis.ANCESTOR_OR_SELF,
        Axis.PRECEDING_SIBLING,
        Axis.PRECEDING,
    }
)
"""The axes to nodes that are there before the node they are seen from."""


class NodeKind(Enum):
    """The kinds of nodes; ANY is the test ``node()``."""

    ANY = "node"
    DOCUMENT = "document"
    ELEMENT = "element"
    ATTRIBUTE = "attribute"
    TEXT = "text"
    COMMENT = "comment"
    INSTRUCTION = "processing-instruction"
    NAMESPACE = "namespace"


@dataclass(frozen=True, slots=True)
class NodeTest:
    """What a node must be: its kind and, where the kind has one, its name.

    ``local`` None means any local name (for an instruction, any target). ``uris`` None means any
    namespace, ``("",)`` none at all; several URIs mean any of them, and one that contains ``*``
    is a glob.
    """

    kind: NodeKind
    local: str | None = None
    uris: tuple[str, ...] | None = None

    @property
    def is_wildcard(self) -> bool:
        """Whether every node of the kind passes."""
        return self.local is None and self.uris is None


ANY_NODE = NodeTest(NodeKind.ANY)
DOCUMENT_NODE = NodeTest(NodeKind.DOCUMENT)

DOWN = frozenset({Axis.CHILD, Axis.DESCENDANT, Axis.DESCENDANT_OR_SELF})
"""The axes that lead somewhere from the document node, beside those that may stay there."""

BELOW = {
    Axis.CHILD: Axis.DESCENDANT,
    Axis.DESCENDANT: Axis.DESCENDANT,
    Axis.DESCENDANT_OR_SELF: Axis.DESCENDANT_OR_SELF,
    Axis.SELF: Axis.DESCENDANT_OR_SELF,
}
"""Where an axis leads from a node and all its descendants: ``//a`` is ``/descendant::a``."""
