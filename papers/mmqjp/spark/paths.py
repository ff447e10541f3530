"""What stage 1 looks for in documents, as data that travels to the workers."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.joins import WitnessReader
from penstock.kernel import JoinState
from penstock.limits import Limits

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Paths:
    """A program that asks for variables and edges, and the edges as pairs of variables."""

    program: bytes
    pairs: tuple[Pair, ...]

    def load(self, limits: Limits) -> WitnessReader:
        """Return what reads documents by these paths; variables have the numbers they have here."""
        joins = JoinState()
        joins.add(0, 0, self.program)
        return WitnessReader(joins, limits)
