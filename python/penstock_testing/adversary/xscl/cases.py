"""A run of the attack: subscriptions, what arrives, and how the engine is set up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from penstock_testing.adversary.xscl.syntax import NAMESPACES, Query, write_query

EVENT_SECONDS_MAX = 253402300799.0
"""The end of the year 9999, after which there are no event times."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A document, or without XML a heartbeat, in the order of arrival."""

    id: str
    stream: str
    time: float
    xml: str | None

    @property
    def has_time(self) -> bool:
        """Whether the event time is one."""
        return math.isfinite(self.time) and 0 <= self.time <= EVENT_SECONDS_MAX

    @property
    def time_us(self) -> int:
        """The event time in whole microseconds."""
        return round(self.time * 1_000_000)


@dataclass(frozen=True, slots=True)
class Case:
    """Everything that an outcome may depend on.

    ``way`` names options of the engine that must not change the outcome.
    """

    queries: tuple[Query, ...]
    arrivals: tuple[Arrival, ...]
    lateness: float | None = None
    depth_max: int | None = None
    way: str = "shared"

    def describe(self) -> str:
        """Return the case, as nearly as can be in Python."""
        lines = []
        for number, query in enumerate(self.queries):
            text = write_query(query)
            names = f", namespaces={NAMESPACES}" if "p:" in text else ""
            lines.append(f'registry.add("q{number}", penstock.xscl({text!r}{names}))')
        for one in self.arrivals:
            if one.xml is None:
                lines.append(f"# Heartbeat({one.stream!r}, {one.time!r})")
            else:
                at = f"id={one.id!r}, stream={one.stream!r}, time={one.time!r}"
                lines.append(f"# Document({one.xml!r}, {at})")
        limits = "" if self.depth_max is None else f", limits=Limits(depth_max={self.depth_max})"
        lines.append(f"# Engine(registry, lateness={self.lateness}{limits}), {self.way}")
        return "\n".join(lines)


def names_of(queries: tuple[Query, ...]) -> dict[str, Query]:
    """Return the subscriptions of queries by name."""
    return {f"q{number}": query for number, query in enumerate(queries)}


def watermarks(case: Case) -> list[float]:
    """Return the watermark before each arrival, in microseconds, and the one after the last.

    It is the latest event time of any document or heartbeat minus the lateness.
    """
    marks = [-math.inf]
    for one in case.arrivals:
        mark = marks[-1]
        if case.lateness is not None and one.has_time:
            mark = max(mark, one.time_us - round(case.lateness * 1_000_000))
        marks.append(mark)
    assert all(before <= after for before, after in pairwise(marks))
    return marks
