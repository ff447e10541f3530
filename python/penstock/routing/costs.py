"""How likely a part of a formula holds, and what it costs to find out: the order of evaluation.

A conjunction starts with what is cheap and likely false, a disjunction with what is cheap and
likely true. Absent views cost nothing, values cost their bytes, parts of elements a small parse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from penstock.routing.formulas import Check

NOTHING, VALUE, EXPRESSION, PARSE, IMPOSSIBLE = 1.0, 10.0, 30.0, 1_000.0, 1e9
SELECTIVITY = {"=": 0.1, "!=": 0.9, "contains": 0.2, "starts-with": 0.1, "matches": 0.2}
"""The share of values that pass, where nobody measured it."""
OTHER_SELECTIVITY = 1 / 3
EXISTENCE = 0.5

Selectivities = Mapping[tuple[str, Check], float]
"""Measured shares of documents, by text of the path and test."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a part costs, and the probabilities that it is true and that it is false.

    They do not add up to one: the header may leave it unknown.
    """

    cost: float
    true: float
    false: float

    @property
    def decided(self) -> float:
        """The probability that the header decides it."""
        return min(1.0, self.true + self.false)


def selectivity(path: str, test: Check, measured: Selectivities) -> float:
    """Return the probability that a value passes a test."""
    known = measured.get((path, test))
    if known is not None:
        return known
    return SELECTIVITY.get(test.operator, OTHER_SELECTIVITY)


def negated(part: Estimate) -> Estimate:
    """Return the estimate of a negation."""
    return Estimate(part.cost, part.false, part.true)


def conjunction(parts: list[Estimate]) -> Estimate:
    """Return the estimate of a conjunction, whose parts are taken for independent."""
    cost, true, not_false = 0.0, 1.0, 1.0
    for part in parts:
        # What comes later is only looked at if nothing before was false.
        cost += not_false * part.cost
        true *= part.true
        not_false *= 1 - part.false
    return Estimate(cost, true, 1 - not_false)


def disjunction(parts: list[Estimate]) -> Estimate:
    """Return the estimate of a disjunction."""
    return negated(conjunction([negated(part) for part in parts]))


def order(parts: list[int], estimate: Callable[[int], Estimate], *, is_and: bool) -> list[int]:
    """Return parts in the order in which they are best tried.

    That is by cost for each chance to decide; what never decides comes last.
    """

    def rank(part: int) -> tuple[float, int]:
        found = estimate(part)
        chance = found.false if is_and else found.true
        return (found.cost / chance if chance > 0 else IMPOSSIBLE * found.cost, part)

    return sorted(parts, key=rank)
