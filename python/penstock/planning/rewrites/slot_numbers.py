"""Constants are numbered in the order of the printed form.

Each mention gets a slot of its own, so that queries of one shape differ in their constants only,
and constants that nothing mentions any more disappear.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.planning.traversal import Traversal
from penstock.twigs import Query, Scalar, Slot
from penstock.twigs.blanks import Atom
from penstock.twigs.slots import SlotTable


def number_slots(query: Query) -> Query:
    """Return the query with its constants in the order in which it mentions them."""
    numbering = _Numbering(query.constants)
    numbered = numbering.query(query)
    return replace(numbered, constants=tuple(numbering.slots.values))


class _Numbering(Traversal):
    def __init__(self, constants: tuple[Atom, ...]) -> None:
        self.constants = constants
        self.slots = SlotTable()

    def leave_scalar(self, scalar: Scalar) -> Scalar:
        if isinstance(scalar, Slot):
            return self.slots.add(self.constants[scalar.index])
        return scalar
