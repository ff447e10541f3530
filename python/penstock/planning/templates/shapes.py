"""Templates: the shape of a join, without its variables."""

from __future__ import annotations

from dataclasses import dataclass

TOP = -1
"""The parent of what has none."""


@dataclass(frozen=True, slots=True)
class Template:
    """An isomorphism class of minors with the two sides told apart (MMQJP, section 4).

    ``left`` and ``right`` give for each slot of a side its parent slot in the same side; parents
    come before their children, slot 0 is the top of the side. ``joins`` are the value joins, pairs
    (left slot, right slot) in order. Joins with isomorphic minors have equal templates.
    """

    left: tuple[int, ...]
    right: tuple[int, ...]
    joins: tuple[tuple[int, int], ...]
