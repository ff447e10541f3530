"""How deep the nodes of a set lie at least: what an element that never ends can be.

The document node has depth 0, its element 1, that element's children 2. On an endless stream the
element of depth 1 does not end, and its children are the records. An element that is asked for by
name is taken for one inside: where the endless element has that name, a verdict says so.
"""

from __future__ import annotations

from penstock.twigs import Axis, NodeKind, NodeTest
from penstock.twigs import expressions as x
from penstock.twigs.nodetests import BACK

ENDLESS = 1
RECORD = 2


def lowest_depth(nodes: x.Nodes, here: int = 0) -> int:
    """Return the least depth of the nodes of a set, seen from a context node of least depth."""
    match nodes:
        case x.Here():
            return here
        case x.Root():
            return 0
        case x.Step(base=base, axis=axis, test=test):
            is_top = axis is Axis.CHILD and isinstance(base, x.Root)
            return depth_after(lowest_depth(base, here), axis, test, is_top)
        case x.Filter(base=base):
            return lowest_depth(base, here)
        case x.Union(parts=parts):
            return min(lowest_depth(part, here) for part in parts)
        case x.Identified():
            return ENDLESS
        case x.TwigNode():
            raise AssertionError("a twig stands in no expression")


def depth_after(depth: int, axis: Axis, test: NodeTest, is_top: bool = False) -> int:
    """Return the least depth of what a step reaches from nodes of a least depth.

    ``is_top`` says that it leads to the document's element for certain.
    """
    match axis:
        case Axis.CHILD | Axis.DESCENDANT | Axis.ATTRIBUTE | Axis.NAMESPACE:
            reached = depth + 1
        case Axis.PARENT:
            reached = max(depth - 1, 0)
        case Axis.ANCESTOR | Axis.ANCESTOR_OR_SELF:
            reached = 0
        case Axis.FOLLOWING | Axis.PRECEDING:
            reached = RECORD  # neither the document's element nor an element around the context
        case _:
            reached = depth
    is_named = test.kind is NodeKind.ELEMENT and test.local is not None
    return max(reached, RECORD) if is_named and not is_top else reached


def looks_back(nodes: x.Nodes) -> bool:
    """Return whether a set may hold nodes that came before the node that selects them.

    Until that node comes, whatever passes the test of the last step is a candidate.
    """
    match nodes:
        case x.Step(base=base, axis=axis):
            return axis in BACK or looks_back(base)
        case x.Filter(base=base):
            return looks_back(base)
        case x.Union(parts=parts):
            return any(map(looks_back, parts))
        case _:
            return isinstance(nodes, x.Identified)


def may_be_endless(depth: int, test: NodeTest) -> bool:
    """Return whether a node of a least depth that passes a test may be the endless element."""
    return depth <= ENDLESS and test.kind in (NodeKind.ELEMENT, NodeKind.DOCUMENT, NodeKind.ANY)


def may_select_endless(nodes: x.Nodes) -> bool:
    """Return whether the endless element may become a candidate of a set."""
    match nodes:
        case x.Step(test=test):
            depth = (
                depth_after(0, Axis.DESCENDANT, test) if looks_back(nodes) else lowest_depth(nodes)
            )
            return may_be_endless(depth, test)
        case x.Filter(base=base):
            return may_select_endless(base)
        case x.Union(parts=parts):
            return any(map(may_select_endless, parts))
        case _:
            return True
