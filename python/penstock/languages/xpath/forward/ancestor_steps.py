"""``/descendant::t/ancestor::n`` is ``//n[.//t]``; further steps before t give a union.

An ancestor lies between the last two steps of a path, on the one before, or above that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.languages.xpath.forward.alternatives import Alternative, having, on
from penstock.languages.xpath.syntax import Step
from penstock.twigs import Axis

if TYPE_CHECKING:
    from penstock.languages.xpath.forward.walking import Walk


def climb_to_ancestors(
    walk: Walk, path: Alternative, up: Step, rest: tuple[Step, ...]
) -> list[Alternative]:
    """Return the forward paths to the ancestors of a path's last nodes; it has a step."""
    last, above = path.steps[-1], path.above
    higher = walk.climb_past(path, up, rest)
    match last.axis:
        case Axis.SELF:
            return higher
        case Axis.CHILD | Axis.ATTRIBUTE:
            return walk.add(above, having(Axis.SELF, up, last)) + higher
        case _:
            below = on(Axis.DESCENDANT, last)
            return walk.add(above, having(Axis.DESCENDANT_OR_SELF, up, below)) + higher
