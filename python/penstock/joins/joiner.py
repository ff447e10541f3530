"""Documents in, joined events out: the native joins with names, files and published streams."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from typing import Literal

from penstock.joins.spilling import Spill
from penstock.joins.subscribing import Found, Subscribers
from penstock.kernel import (
    JOIN_MEMORY_BYTES_MAX,
    JOIN_VIEWS_MAX,
    JoinState,
    JoinStatistics,
    Witness,
)
from penstock.limits import Limits

MICROSECONDS = 1_000_000

Strategy = Literal["shared", "sequential", "mmqjp", "views"]
"""How rows are found: ``shared`` is the one to use, the others are there to be compared with."""


@dataclass(frozen=True, slots=True)
class JoinOptions:
    """How joins run.

    ``lateness`` is how far the watermark lies behind the latest event time of any document, in
    seconds; without it nothing is ever late and nothing that a window may need is dropped.
    Records beyond ``memory_bytes_max`` go to files.

    Raises:
        ValueError: The lateness is negative, or no number.
    """

    lateness: timedelta | float | None = None
    memory_bytes_max: int = JOIN_MEMORY_BYTES_MAX
    strategy: Strategy = "shared"
    views_max: int = JOIN_VIEWS_MAX
    hash_bits: int = 64

    def __post_init__(self) -> None:
        try:
            is_bound = 0 <= (self.lateness_us or 0) < 1 << 63
        except (ValueError, OverflowError):  # what is no number, or infinite, cannot be rounded
            is_bound = False
        if not is_bound:
            raise ValueError(f"lateness is a number of seconds from 0 on, not {self.lateness}")

    @property
    def lateness_us(self) -> int | None:
        """The bound in microseconds."""
        match self.lateness:
            case None:
                return None
            case timedelta() as bound:
                return bound // timedelta(microseconds=1)
            case seconds:
                return round(seconds * MICROSECONDS)


class Joiner:
    """Joins the documents of all streams for all subscriptions.

    ``join`` a document by its witness; then ``results`` yields what it completed. A late
    document is rejected by ``join``, and counted. ``advance`` moves event time on without a
    document.
    """

    def __init__(self, options: JoinOptions | None = None, limits: Limits | None = None) -> None:
        self.options = options or JoinOptions()
        self.joins = JoinState(
            lateness=self.options.lateness_us,
            memory_bytes_max=self.options.memory_bytes_max,
            strategy=self.options.strategy,
            views_max=self.options.views_max,
            hash_bits=self.options.hash_bits,
        )
        self._subscribers = Subscribers(self.joins, limits)
        self._spill = Spill(self.joins)
        self._numbers = count()
        self.late = 0
        self.add = self._subscribers.add
        self.subscriber = self._subscribers.__getitem__
        self.remove = self._subscribers.remove
        self.settle = self._subscribers.settle

    def advance(self, time_us: int) -> None:
        """Move event time on."""
        self.joins.advance(time_us)

    def join(self, witness: Witness, document: str, time_us: int, version: int) -> bool:
        """Join a document; returns False if it came too late for that."""
        number = next(self._numbers)
        is_in_time = self.joins.join(witness, number, document, time_us, version)
        self.late += not is_in_time
        return is_in_time

    def results(self, version: int) -> Iterator[Found]:
        """Yield what the last document completed, or the time that has passed with it.

        What subscriptions publish is joined on the way.
        """
        yield from self._settled(version)
        while self.joins.release():
            yield from self._settled(version)
        self._spill.relieve()

    def end(self, version: int) -> Iterator[Found]:
        """Yield what waited for a partner: none comes any more."""
        self.joins.end()
        yield from self.results(version)

    def statistics(self) -> JoinStatistics:
        """Return the counters so far."""
        return JoinStatistics(**self.joins.statistics())

    def close(self) -> None:
        """Give up files; the joiner must not be used any more."""
        self._spill.close()

    def _settled(self, version: int) -> Iterator[Found]:
        """Yield the results that wait, and those of what they publish."""
        while self.joins.result_count():
            results = self._subscribers.take(lambda _: next(self._numbers), version)
            for result in results:
                if result.record:
                    self.joins.push(result.record)
            yield from results
