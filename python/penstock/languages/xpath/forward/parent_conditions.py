"""``P/child::t[parent::n]`` is ``P/self::n/t``, and ``P//t[parent::n]`` is ``P//n/t``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.languages.xpath.forward.alternatives import Alternative, on
from penstock.languages.xpath.syntax import Step
from penstock.twigs import Axis

if TYPE_CHECKING:
    from penstock.languages.xpath.forward.walking import Walk


def require_parent(walk: Walk, path: Alternative, up: Step) -> list[Alternative]:
    """Return a path by where the parent of its last node is; it has a step."""
    last, above = path.steps[-1], path.above
    match last.axis:
        case Axis.CHILD | Axis.ATTRIBUTE:
            return [found.then(last) for found in walk.add(above, on(Axis.SELF, up))]
        case Axis.SELF:
            return [found.then(last) for found in walk.require(above, up)]
        case Axis.DESCENDANT:
            parents = walk.add(above, on(Axis.DESCENDANT_OR_SELF, up))
            return [found.then(on(Axis.CHILD, last)) for found in parents]
        case _:
            itself = require_parent(walk, above.then(on(Axis.SELF, last)), up)
            return itself + require_parent(walk, above.then(on(Axis.DESCENDANT, last)), up)
