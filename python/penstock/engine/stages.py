"""What joins the documents that readers read: one protocol for documents and for bindings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from threading import Event, RLock
from typing import Any, NamedTuple, Protocol

from penstock.engine.follower import Follower
from penstock.errors import CancelledError, DocumentError
from penstock.kernel import Batch
from penstock.results import Result
from penstock.results.documents import FIRST_US
from penstock.sources import Input

Rows = Iterator[Sequence[Result]]
"""Rows in lists and pages of bounded size."""

Mark = Any
"""What a stage has to know of the moment when a reader took over its subscriptions."""


class Taken(NamedTuple):
    """What a reader has taken since the last time.

    ``ended`` are the numbers of the documents that have ended since then, ``errors`` says what
    is wrong with those that failed.
    """

    documents: Sequence[Input]
    ended: range
    errors: Mapping[int, DocumentError]
    batch: Batch


class JoinStage(Protocol):
    """Joins what documents bring. Each iterator is read to its end before the next call."""

    reads_published: bool
    """Whether it joins published events as it joins documents."""

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to join."""

    def follow(self, follower: Follower) -> Mark:
        """Take over the current subscriptions, for what a follower reads from now on."""

    def take(self, mark: Mark, taken: Taken) -> Iterable[Sequence[Result]]:
        """Return the rows that come before the errors of documents; all was read under a mark."""

    def end_documents(self, mark: Mark, taken: Taken) -> Rows:
        """Yield the rows that the ends of documents give."""

    def published(self) -> Sequence[Input]:
        """Return the events that became documents with the last list of rows."""

    def advance(self, time_us: int) -> Rows:
        """Yield the rows that are complete once event time has come this far."""

    def end_stream(self, stream: str) -> None:
        """Take note that nothing of a stream comes any more."""

    def end(self) -> Rows:
        """Yield the rows of what still waited, and give up the state."""

    def interrupt(self) -> None:
        """End what is under way, from any thread."""

    def close(self) -> None:
        """Give up the state."""

    def needed_from(self) -> int:
        """Return the earliest event time, in microseconds, that a row to come may depend on."""


class JoinStages:
    """The joins of a run, or of all that is pushed into an engine.

    A stage that publishes comes before those that read what it publishes: after each list of rows
    a reader reads what ``published`` yields, with the joins that ``beside`` returns.

    Where threads share them (``is_shared``), ``lock`` is held as long as they work.
    """

    def __init__(self, *stages: JoinStage, is_shared: bool = False) -> None:
        self.stages = stages
        self.lock: AbstractContextManager[Any] = RLock() if is_shared else nullcontext()
        self.is_halted = False
        self._is_interrupted = False
        self.changed: Event | None = None
        """Is set where a run that waits for its sources has to look again."""

    def check(self) -> None:
        """See whether the work goes on.

        Raises:
            CancelledError: It was interrupted.
        """
        if self._is_interrupted:
            raise CancelledError("the run was cancelled")

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to join."""
        # It is looked at for every portion, so nothing is made for it.
        for stage in self.stages:  # noqa: SIM110
            if not stage.is_idle:
                return False
        return True

    def follow(self, follower: Follower) -> list[Mark]:
        """Take over the current subscriptions; return the mark of each stage."""
        with self.lock:
            return [stage.follow(follower) for stage in self.stages]

    def take(self, marks: Sequence[Mark], taken: Taken) -> tuple[Rows, Rows]:
        """Return the rows that come before the errors of their documents, and all others."""
        active = [one for one in zip(self.stages, marks, strict=True) if not one[0].is_idle]
        first = [stage.take(mark, taken) for stage, mark in active]
        others = [stage.end_documents(mark, taken) for stage, mark in active]
        return chain.from_iterable(first), chain.from_iterable(others)

    def published(self) -> Iterator[Input]:
        """Yield the events that became documents with the last list of rows."""
        for stage in self.stages:
            yield from stage.published()

    def beside(self) -> JoinStages:
        """Return the joins of those events, which are read while these joins are at work."""
        return JoinStages(*(stage for stage in self.stages if stage.reads_published))

    def advance(self, time_us: int) -> Rows:
        """Yield the rows that are complete once event time has come this far."""
        with self.lock:
            for stage in self.stages:
                yield from stage.advance(time_us)

    def end_stream(self, stream: str) -> None:
        """Take note that nothing of a stream comes any more."""
        for stage in self.stages:
            stage.end_stream(stream)

    def end(self) -> Rows:
        """Yield the rows of what still waited, unless the joins were halted."""
        with self.lock:
            for stage in () if self.is_halted else self.stages:
                yield from stage.end()
            self.close()

    def halt(self) -> None:
        """Let the joins end without the rows of what still waits, from any thread."""
        self.is_halted = True
        self._wake()

    def interrupt(self) -> None:
        """End what is being joined, from any thread."""
        self._is_interrupted = True
        for stage in self.stages:
            stage.interrupt()
        self._wake()

    def _wake(self) -> None:
        if self.changed is not None:
            self.changed.set()

    def close(self) -> None:
        """Give up the state."""
        for stage in self.stages:
            stage.close()

    def needed_from(self) -> int | None:
        """Return the earliest event time that a row to come may depend on; None: nothing is."""
        with self.lock:
            times = [stage.needed_from() for stage in self.stages if not stage.is_idle]
        return max(min(times), FIRST_US) if times else None


NO_JOINS = JoinStages()
"""The joins of a reader that joins nothing."""
