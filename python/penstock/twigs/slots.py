"""The table of constants while a query is being built."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.twigs.blanks import Atom, type_of_atom
from penstock.twigs.expressions import Constant, Slot


class SlotTable:
    """Hands out slots. Equal constants get slots of their own: they are equal by chance."""

    def __init__(self, values: Iterable[Atom] = ()) -> None:
        self.values: list[Atom] = list(values)

    def add(self, value: Atom) -> Slot | Constant:
        """Return a new slot that holds a string or a number; a truth value is none's."""
        if isinstance(value, bool):
            return Constant(value)
        self.values.append(value)
        return Slot(len(self.values) - 1, type_of_atom(value))

    def __getitem__(self, atom: Slot | Constant) -> Atom:
        return atom.value if isinstance(atom, Constant) else self.values[atom.index]
