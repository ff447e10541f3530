"""What matching did, in numbers that can be added up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from heapq import nlargest

NAMES_MAX = 1_000
"""Seconds are kept of so many subscriptions, those that cost most; the others' are forgotten."""


@dataclass(slots=True)
class Measures:
    """What was read and found, and what it cost.

    ``seconds`` are core time of evaluation in the workers: what Spark and Arrow do around it is
    not among them. ``by_subscription`` has the part of it that was done for each of those that
    cost most in their tasks; shares are sampled.
    """

    batches: int = 0
    documents: int = 0
    bytes: int = 0
    results: int = 0
    quarantined: int = 0
    failures: int = 0
    """Error rows of subscriptions, whose documents all others have read."""
    seconds: float = 0.0
    by_subscription: dict[str, float] = field(default_factory=dict)

    def add(self, other: Measures) -> None:
        """Add what something else did."""
        for one in fields(self):
            if one.name != "by_subscription":
                setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))
        self.by_subscription = added(self.by_subscription, other.by_subscription.items())

    def top(self, count: int = 10) -> list[tuple[str, float]]:
        """Return the subscriptions that cost most, with their seconds, the first most of all."""
        ranked = sorted(self.by_subscription.items(), key=lambda one: (-one[1], one[0]))
        return ranked[:count]


def added(known: Mapping[str, float], more: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return seconds by subscription with more of them, of those that have most."""
    sums = dict(known)
    for name, seconds in more:
        sums[name] = sums.get(name, 0.0) + seconds
    if len(sums) > NAMES_MAX:
        sums = dict(nlargest(NAMES_MAX, sums.items(), key=lambda one: one[1]))
    return sums
