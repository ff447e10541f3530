"""Numbers of which only bounds are known."""

from __future__ import annotations

import math
from dataclasses import dataclass

from penstock_testing.kleene.truth import Truth, inverse
from penstock_testing.reference.values import compare


@dataclass(frozen=True, slots=True)
class Range:
    """A number between two bounds, both included; it is known where they are the same."""

    low: float
    high: float

    @property
    def is_known(self) -> bool:
        """Whether only one number is left; NaN is one."""
        return self.low == self.high or math.isnan(self.low)

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Range) -> Range:
        return Range(self.low - other.high, self.high - other.low)

    def __neg__(self) -> Range:
        return Range(-self.high, -self.low)


ANY_COUNT = Range(1, math.inf)
"""A position or a size of which nothing is known."""


def exactly(number: float) -> Range:
    """Return the range of a known number."""
    return Range(number, number)


def compare_ranges(operator: str, left: Range, right: Range) -> Truth:
    """Return ``left operator right`` where the bounds say it."""
    if left.is_known and right.is_known:
        return compare(operator, left.low, right.low)
    match operator:
        case "=":
            return False if left.high < right.low or right.high < left.low else None
        case "!=":
            return inverse(compare_ranges("=", left, right))
        case "<":
            return True if left.high < right.low else False if left.low >= right.high else None
        case "<=":
            return True if left.high <= right.low else False if left.low > right.high else None
        case _:
            mirrored = {">": "<", ">=": "<="}[operator]
            return compare_ranges(mirrored, right, left)
