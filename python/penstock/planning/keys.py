"""What makes two parts of a query the same: their shape, then their constants.

Slots are numbered by chance, so parts are compared by their printed form with typed blanks for
constants, and only then by the constants. Queries of one shape so sort alike. Where names are
blanks, which of two forms comes first is a question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from penstock.planning.values import asked
from penstock.twigs import Condition, Slot, TwigNode
from penstock.twigs.blanks import Atom as Constant
from penstock.twigs.blanks import names_in, trace_of
from penstock.twigs.expression_printing import print_condition, print_expression, print_twig
from penstock.twigs.expressions import Atom


class Rank:
    """How a constant sorts, where constants may be blanks: each comparison is a question."""

    __slots__ = ("_atom",)

    def __init__(self, atom: Constant) -> None:
        self._atom = atom

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Rank)
        return self._atom is other._atom or _is_equal(self._atom, other._atom)

    def __lt__(self, other: Rank) -> bool:
        return _is_before(self._atom, other._atom)

    def __hash__(self) -> int:
        return 0  # the shape beside it tells most keys apart


class Form(str):
    """A printed form with blanks for names."""

    def __lt__(self, other: str) -> bool:
        return _is_first(self, other)

    def __gt__(self, other: str) -> bool:
        return _is_first(other, self)


def _is_first(left: str, right: str) -> bool:
    names = names_in(left, right)
    return _is_printed_before(str(left), str(right), tuple(map(str, names)), *names)


Key = tuple[str, tuple[str | Rank, ...]]


class Keys:
    """Gives keys under one table of constants; equal keys mean equal parts."""

    def __init__(self, constants: Sequence[Constant]) -> None:
        self.constants = constants
        self._ranks: list[str | Rank] = []
        self._rank: Callable[[Constant], str | Rank] = repr if trace_of(constants) is None else Rank

    def of_condition(self, condition: Condition) -> Key:
        """Return the key of a condition."""
        return self._key(print_condition(condition, self._blank))

    def of_value(self, value: Atom) -> Key:
        """Return the key of an atom that is compared."""
        return self._key(print_expression(value, self._blank))

    def of_twig(self, node: TwigNode) -> Key:
        """Return the key of a twig."""
        return self._key("\n".join(print_twig(node, self._blank)))

    def _key(self, printed: str) -> Key:
        ranks, self._ranks = self._ranks, []
        return Form(printed) if "\0" in printed else printed, tuple(ranks)

    def _blank(self, slot: Slot) -> str:
        self._ranks.append(self._rank(self.constants[slot.index]))
        return f"?{slot.type.value}"


@asked
def _is_equal(left: Constant, right: Constant) -> bool:
    return repr(left) == repr(right)


@asked
def _is_before(left: Constant, right: Constant) -> bool:
    return repr(left) < repr(right)


@asked
def _is_printed_before(left: str, right: str, blanks: tuple[str, ...], *names: str) -> bool:
    for blank, name in zip(blanks, names, strict=True):
        left, right = left.replace(blank, name), right.replace(blank, name)
    return left < right
