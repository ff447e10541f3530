"""Short names for building twigs by hand."""

from penstock.twigs import (
    Axis,
    Block,
    Branch,
    Compare,
    Condition,
    Exists,
    NodeKind,
    NodeTest,
    Slot,
    StringOf,
    TwigNode,
    ValueType,
)


def element(name: str) -> NodeTest:
    """Return the test for an element outside any namespace."""
    return NodeTest(NodeKind.ELEMENT, name, ("",))


def attribute(name: str) -> NodeTest:
    """Return the test for an attribute outside any namespace."""
    return NodeTest(NodeKind.ATTRIBUTE, name, ("",))


def child(
    name: str, *branches: Branch, where: Condition | None = None, to: str | None = None
) -> TwigNode:
    """Return a child element, guarded, bound and branching."""
    return TwigNode(Axis.CHILD, element(name), where, to, branches)  # type: ignore[arg-type]


def descendant(
    name: str, *branches: Branch, where: Condition | None = None, to: str | None = None
) -> TwigNode:
    """Return a descendant element, guarded, bound and branching."""
    return TwigNode(Axis.DESCENDANT, element(name), where, to, branches)  # type: ignore[arg-type]


def document(*branches: Branch) -> TwigNode:
    """Return the root of a twig."""
    return TwigNode(Axis.SELF, NodeTest(NodeKind.DOCUMENT), branches=branches)


def block(*twigs: TwigNode, stream: str | None = None) -> Block:
    """Return a block whose one alternative requires all the twigs."""
    return Block((document(*map(Branch, twigs)),), stream)


def equals(slot: int) -> Condition:
    """Return the condition that the context node's string value is a constant."""
    return Compare("=", StringOf(), Slot(slot, ValueType.STRING))


def having(name: str, slot: int) -> Condition:
    """Return the condition that some child of that name has a constant as string value."""
    return Exists(child(name, where=equals(slot)))
