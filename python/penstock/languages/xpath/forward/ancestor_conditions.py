"""``P//t[ancestor::n]`` is ``P//n//t``, or P itself has such an ancestor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.languages.xpath.forward.alternatives import Alternative, on
from penstock.languages.xpath.syntax import Step
from penstock.twigs import Axis

if TYPE_CHECKING:
    from penstock.languages.xpath.forward.walking import Walk


def require_ancestor(walk: Walk, path: Alternative, up: Step) -> list[Alternative]:
    """Return a path by where the ancestor of its last node is; it has a step."""
    last, above = path.steps[-1], path.above
    # An ancestor of the node before is one of this node as well.
    higher = [found.then(last) for found in walk.require(above, up)]
    match last.axis:
        case Axis.SELF:
            return higher
        case Axis.CHILD | Axis.ATTRIBUTE:
            return [found.then(last) for found in walk.add(above, on(Axis.SELF, up))] + higher
        case _:
            between = walk.add(above, on(Axis.DESCENDANT_OR_SELF, up))
            return [found.then(on(Axis.DESCENDANT, last)) for found in between] + higher
