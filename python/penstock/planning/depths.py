"""How deep the nodes of a set lie at least: what an element that never ends can be.

The document node has depth 0, its element 1, that element's children 2. On an endless stream the
element of depth 1 does not end, and its children are the records. An element that is asked for by
name is taken for one inside: where the endless element has that name, a verdict says so.
"""

from __future__ import annotations

from penstock.twigs import Axis, NodeKind
from penstock.twigs import expressions as x

ENDLESS = 1
RECORD = 2


def lowest_depth(nodes: x.Nodes, here: int = 0) -> int:
    """Return the least depth of the nodes of a set, seen from a context node of least depth."""
    match nodes:
        case x.Here():
            return here
        case x.Root():
            return 0
        case x.Step(base=base):
            return _along(lowest_depth(base, here), nodes)
        case x.Filter(base=base):
            return lowest_depth(base, here)
        case x.Union(parts=parts):
            return min(lowest_depth(part, here) for part in parts)
        case x.Identified():
            return ENDLESS


def _along(depth: int, step: x.Step) -> int:
    match step.axis:
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
    is_top = step.axis is Axis.CHILD and depth == 0
    is_named = step.test.kind is NodeKind.ELEMENT and step.test.local is not None
    return max(reached, RECORD) if is_named and not is_top else reached
