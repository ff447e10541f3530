"""``P/child::t/parent::n`` is ``P/self::n[t]``, and ``P//t/parent::n`` is ``P//n[t]``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.languages.xpath.forward.alternatives import Alternative, having, on
from penstock.languages.xpath.syntax import Step
from penstock.twigs import Axis

if TYPE_CHECKING:
    from penstock.languages.xpath.forward.walking import Walk


def climb_to_parents(
    walk: Walk, path: Alternative, up: Step, rest: tuple[Step, ...]
) -> list[Alternative]:
    """Return the forward paths to the parents of a path's last nodes; it has a step."""
    last, above = path.steps[-1], path.above
    match last.axis:
        case Axis.CHILD | Axis.ATTRIBUTE:
            return walk.add(above, having(Axis.SELF, up, last))
        case Axis.DESCENDANT:
            child = on(Axis.CHILD, last)
            return walk.add(above, having(Axis.DESCENDANT_OR_SELF, up, child))
        case Axis.SELF:
            return walk.climb_past(path, up, rest)
        case _:
            itself, below = (above.then(on(axis, last)) for axis in (Axis.SELF, Axis.DESCENDANT))
            return [
                *climb_to_parents(walk, itself, up, rest),
                *climb_to_parents(walk, below, up, rest),
            ]
