"""What programs ask of documents: variables and edges, each distinct one once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.planning.program import Request, many, varint, varints
from penstock.planning.records.encoding import counted, lists, optional, string
from penstock.planning.templates import Variable

NO_OUTPUT = optional(None) + counted(b"")


class Asked:
    """Variables by their numbers, and edges between them, as a program lists them."""

    def __init__(self) -> None:
        self.numbers: dict[Variable, int] = {}
        self.edges: dict[tuple[int, int], bytes] = {}
        self._patterns: list[bytes] = []
        self._needs: list[int] = []

    def admit(self, variable: Variable, patterns: bytes) -> int:
        """Return the number of a variable, which has these patterns if it is new."""
        number = self.numbers.setdefault(variable, len(self.numbers))
        if number == len(self._patterns):
            self._patterns.append(patterns)
            self._needs.append(0)
        return number

    def need(self, number: int, needs: int) -> None:
        """Say what else is needed of a variable's nodes."""
        self._needs[number] |= needs

    def ask(self, upper: int, lower: int, patterns: bytes, depths: Sequence[int]) -> None:
        """Ask for the pairs of two variables; without patterns, on those of the lower one.

        ``depths`` says after how many steps of each path the upper one comes.
        """
        self.edges.setdefault((upper, lower), counted(patterns) + many(depths))

    def program(
        self,
        output: bytes = NO_OUTPUT,
        templates: Iterable[list[int]] = (),
        rows: Iterable[list[int]] = (),
    ) -> bytes:
        """Return the program of everything asked for, with rows and what becomes of them."""
        parts = [Request.RECORDS.head, output, varint(len(self.numbers))]
        listed = zip(self.numbers, self._patterns, self._needs, strict=True)
        for variable, patterns, needs in listed:
            parts += [optional(variable.stream), string(variable.key)]
            parts += [counted(patterns), varint(needs)]
        parts.append(varint(len(self.edges)))
        for pair, edge in self.edges.items():
            parts += [varints(*pair), edge]
        return b"".join([*parts, lists(templates), lists(rows)])
