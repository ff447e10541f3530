"""What stage 1 looks for in documents, as data that travels to the workers."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.kernel import Joins, new_joins
from penstock.limits import Limits

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Paths:
    """A program that asks for variables and edges, and the edges as pairs of variables."""

    program: bytes
    pairs: tuple[Pair, ...]

    def load(self, limits: Limits) -> Joins:
        """Return native joins that read documents by these paths, whose numbers are theirs."""
        joins = new_joins(limits)
        joins.add(0, 0, self.program)
        return joins
