"""The table of constants while a query is being built."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.twigs.blanks import Atom, type_of_atom
from penstock.twigs.patterns import Slot


class SlotTable:
    """Hands out slots. Equal constants get slots of their own: they are equal by chance."""

    def __init__(self, values: Iterable[Atom] = ()) -> None:
        self.values: list[Atom] = list(values)

    def add(self, value: Atom) -> Slot:
        """Return a new slot that holds ``value``."""
        self.values.append(value)
        return Slot(len(self.values) - 1, type_of_atom(value))

    def __getitem__(self, slot: Slot) -> Atom:
        return self.values[slot.index]
