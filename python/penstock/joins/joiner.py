"""Documents in, joined events out: the native joins with names, files and published streams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from typing import Self

from penstock.errors import refuse_gone
from penstock.joins.spilling import Queue, Spill
from penstock.joins.subscribing import Found, Outcome, Subscribers
from penstock.kernel import (
    JOIN_BATCH_ROWS_MAX,
    JOIN_STATE_BYTES_MAX,
    JoinState,
    JoinStatistics,
    Witness,
    error_of,
)
from penstock.limits import Limits

MICROSECONDS = 1_000_000

_PAPERS = "the engine chooses by itself; strategies of papers are in papers/ of the repository"
_GONE = {
    **dict.fromkeys(("strategy", "views_max", "flush", "probe"), _PAPERS),
    **dict.fromkeys(
        ("flush_fraction", "partitions", "page_bytes"),
        "it follows from state_bytes_max",
    ),
    "hash_bits": "values have hashes of 64 bits",
}
"""Settings of earlier versions."""


@dataclass(frozen=True, slots=True)
class JoinOptions:
    """How joins run.

    ``lateness`` is how far the watermark lies behind the latest event time of any document, in
    seconds; without it nothing is ever late and nothing that a window may need is dropped.
    State beyond ``state_bytes_max`` goes to files: records, and what waits for its window to pass.
    Results are handed out in batches of up to ``batch_rows_max``.

    >>> JoinOptions(lateness=60).lateness_us
    60000000

    Raises:
        ValueError: The lateness is negative, or not a number; a bound is no whole number from 1 on.
    """

    lateness: timedelta | float | None = None
    state_bytes_max: int = JOIN_STATE_BYTES_MAX
    batch_rows_max: int = JOIN_BATCH_ROWS_MAX

    def __new__(cls, *_: object, **settings: object) -> Self:
        refuse_gone(settings, _GONE)
        return object.__new__(cls)

    def __post_init__(self) -> None:
        if not _is_lateness(self.lateness):
            raise ValueError(f"lateness is a number of seconds from 0 on, not {self.lateness!r}")
        for name in ("state_bytes_max", "batch_rows_max"):
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value < 1 << 63:
                raise ValueError(f"{name} is a whole number from 1 on, not {value!r}")

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

    def open(self, limits: Limits) -> JoinState:
        """Return joins without records that run like this."""
        return JoinState(
            limits,
            lateness=self.lateness_us,
            state_bytes_max=self.state_bytes_max,
            batch_rows_max=self.batch_rows_max,
        )


def _is_lateness(value: object) -> bool:
    if value is None:
        return True
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value * MICROSECONDS < 1 << 63  # false for NaN


class Joiner:
    """Joins the documents of all streams for all subscriptions.

    Documents, published ones as well, are told apart by numbers from ``first`` on.

    ``join`` a document by its witness; then ``results`` yields what it completed, and has to be
    read to its end, or closed, before the next document comes. A late document is rejected by
    ``join``, and counted. ``advance`` moves event time on without a document.
    """

    def __init__(
        self, options: JoinOptions | None = None, limits: Limits | None = None, first: int = 0
    ) -> None:
        self.options = options or JoinOptions()
        self.joins = self.options.open(limits or Limits())
        self.subscribers = Subscribers(self.joins, limits)
        self._spill = Spill(self.joins)
        self._numbers = count(first)
        self.late = 0
        self.add = self.subscribers.add
        self.subscriber = self.subscribers.__getitem__
        self.remove = self.subscribers.remove
        self.settle = self.subscribers.settle
        self.publishes = self.subscribers.publishes
        self.interrupt = self.joins.interrupt

    @property
    def delay_us(self) -> int:
        """How much later than its event time an event may be published, in microseconds."""
        return self.subscribers.delay_us

    def advance(self, time_us: int) -> None:
        """Move event time on."""
        self.joins.advance(time_us)

    def join(self, witness: Witness, document: str, time_us: int, version: int) -> bool:
        """Join a document; returns False if it came too late for that.

        Raises:
            LimitError: Joining it passed a limit; it is not joined, as if it had never come.
            CancelledError: Somebody called ``interrupt``; likewise.
        """
        number = next(self._numbers)
        is_in_time, failure = self.joins.join(witness, number, document, time_us, version)
        self.late += not is_in_time
        if failure is not None:
            raise error_of(failure)
        return is_in_time

    def results(self, version: int) -> Iterator[Sequence[Outcome]]:
        """Yield what the last document completed, or the time that has passed with it, in batches.

        What subscriptions publish is joined on the way. A published event that passes a limit is
        not joined, absences that pass one are not reported, and results that pass one end there;
        each of these gives an error. Who closes the iterator gives up what was not yielded.

        Raises:
            CancelledError: Somebody called ``interrupt``; the rest of the results is gone.
        """
        try:
            yield from self._settled(version)
            while True:
                is_any, failure = self.joins.release()
                if failure is not None:
                    yield [error_of(failure)]
                if not is_any:
                    break
                yield from self._settled(version)
        except BaseException:  # whoever closes the iterator, or interrupts, gives up the rest
            self.joins.forget_results()
            raise
        self._spill.relieve()

    def end(self, version: int) -> Iterator[Sequence[Outcome]]:
        """Yield what waited for a partner: none comes any more."""
        self.joins.end()
        yield from self.results(version)

    def statistics(self) -> JoinStatistics:
        """Return the counters so far."""
        return JoinStatistics(**self.joins.statistics())

    def close(self) -> None:
        """Give up files; the joiner must not be used any more."""
        self._spill.close()

    def _settled(self, version: int) -> Iterator[Sequence[Outcome]]:
        """Yield the results that wait, and those of what they publish."""
        while self.joins.has_results():
            with Queue() as published:
                while self.joins.has_results():
                    results = self.subscribers.take(lambda _: next(self._numbers), version)
                    for result in results:
                        if isinstance(result, Found):
                            for record in result.records:
                                published.put(record)
                    yield results
                for record in published:
                    failure = self.joins.push(record)
                    if failure is not None:
                        yield [error_of(failure)]
