"""What stage 1 looks for in documents, as data that travels to the workers."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.joins import WitnessReader
from penstock.joins.programs import Asked
from penstock.kernel import JoinState
from penstock.limits import Limits

Pair = tuple[int, int]


@dataclass(slots=True)
class Paths(Asked):
    """Variables and edges, of which the edges have numbers.

    ``numbers`` are those of pairs of variables, upper and lower; pairs of partial matches have
    numbers like all others, and no document has them.
    """

    numbers: dict[Pair, int] = field(default_factory=dict)

    def edge(self, upper: int, lower: int, program: bytes, places: list[int]) -> None:
        """Ask for the pairs of two variables."""
        self.edge_number(upper, lower)
        # Slots and ``super`` do not go together in a dataclass.
        Asked.edge(self, upper, lower, program, places)

    def edge_number(self, upper: int, lower: int) -> int:
        """Return the number of a pair of variables."""
        return self.numbers.setdefault((upper, lower), len(self.numbers))

    def load(self, limits: Limits) -> WitnessReader:
        """Return what reads documents by these paths; variables have the numbers they have here."""
        joins = JoinState()
        joins.add(0, 0, self.program())
        return WitnessReader(joins, limits)
