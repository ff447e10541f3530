"""What makes two parts of a query the same: their shape, then their constants.

Slots are numbered by chance, so parts are compared by their printed form with typed blanks for
constants, and only then by the constants. Queries of one shape so sort alike.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.twigs import Condition, Scalar, Slot, TwigNode
from penstock.twigs.printing import print_condition, print_scalar, print_twig
from penstock.twigs.slots import Atom

Key = tuple[str, tuple[str, ...]]


class Keys:
    """Gives keys under one table of constants; equal keys mean equal parts."""

    def __init__(self, constants: Sequence[Atom]) -> None:
        self.constants = constants
        self._found: list[str] = []

    def of_condition(self, condition: Condition) -> Key:
        """Return the key of a condition."""
        self._found = []
        shape = print_condition(condition, self._blank)
        return shape, tuple(self._found)

    def of_scalar(self, scalar: Scalar) -> Key:
        """Return the key of a scalar."""
        self._found = []
        shape = print_scalar(scalar, self._blank)
        return shape, tuple(self._found)

    def of_twig(self, node: TwigNode) -> Key:
        """Return the key of a twig."""
        self._found = []
        shape = "\n".join(print_twig(node, self._blank))
        return shape, tuple(self._found)

    def _blank(self, slot: Slot) -> str:
        self._found.append(repr(self.constants[slot.index]))
        return f"?{slot.type.value}"
