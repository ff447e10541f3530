"""What stage 1 looks for in documents, as data that travels to the workers."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.kernel import Joins
from penstock.limits import Limits

Pair = tuple[int, int]


@dataclass(slots=True)
class Paths:
    """The calls that tell the kernel its variables and edges, written down.

    ``edges`` numbers pairs of variables, upper and lower; pairs of partial matches have numbers
    like all others, and no document has them.
    """

    streams: list[str | None] = field(default_factory=list)
    programs: list[tuple[int, bytes]] = field(default_factory=list)
    needs: list[tuple[int, bool, bool]] = field(default_factory=list)
    asked: list[tuple[int, int, bytes, list[int]]] = field(default_factory=list)
    edges: dict[Pair, int] = field(default_factory=dict)

    def variable(self, stream: str | None) -> int:
        """Admit a variable of a stream and return its number."""
        self.streams.append(stream)
        return len(self.streams) - 1

    def lead(self, variable: int, program: bytes) -> None:
        """Give a variable its paths."""
        self.programs.append((variable, program))

    def need(self, variable: int, is_valued: bool, is_selected: bool) -> None:
        """Say what is needed of a variable's nodes."""
        self.needs.append((variable, is_valued, is_selected))

    def edge(self, upper: int, lower: int, program: bytes, places: list[int]) -> None:
        """Ask for the pairs of two variables."""
        self.edge_number(upper, lower)
        self.asked.append((upper, lower, program, places))

    def edge_number(self, upper: int, lower: int) -> int:
        """Return the number of a pair of variables."""
        return self.edges.setdefault((upper, lower), len(self.edges))

    def load(self, limits: Limits) -> Joins:
        """Return native joins that read documents by these paths."""
        joins = Joins(limits)
        for stream in self.streams:
            joins.variable(stream)
        for variable, program in self.programs:
            joins.lead(variable, program)
        for need in self.needs:
            joins.need(*need)
        for edge in self.asked:
            joins.edge(*edge)
        return joins
