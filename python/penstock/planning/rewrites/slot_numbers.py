"""Constants are numbered in the order of the printed form.

Each mention gets a slot of its own, so that queries of one shape differ in their constants only,
and constants that nothing mentions any more disappear.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.planning.traversal import rewrite_query
from penstock.twigs import Query, Slot
from penstock.twigs.slots import SlotTable


def number_slots(query: Query) -> Query:
    """Return the query with its constants in the order in which it mentions them."""
    slots = SlotTable()
    changes = {Slot: lambda slot: slots.add(query.constants[slot.index])}
    numbered = rewrite_query(query, changes)
    return replace(numbered, constants=tuple(slots.values))
