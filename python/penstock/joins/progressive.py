"""Bindings of several streams in, joined tuples out, within a memory budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeVar

from penstock.errors import StateError
from penstock.joins.joiner import JoinOptions
from penstock.joins.pages import PageFile
from penstock.kernel import ProgressiveJoin, raise_failure
from penstock.limits import Limits

T = TypeVar("T")


class Side(NamedTuple):
    """An attribute of a stream, both by number: a list of values that each binding has."""

    stream: int
    attribute: int


class Equality(NamedTuple):
    """Two attributes of different streams have a value in common."""

    left: Side
    right: Side


class Comparison(NamedTuple):
    """Some value of one attribute and some value of the other compare like this."""

    left: Side
    operator: Literal["!=", "<", "<=", ">", ">="]
    right: Side
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class JoinGraph:
    """Streams by the number of their attributes, and the conditions between them.

    Chains of equalities lead from each stream to every other one; further comparisons are checked
    beside them. ``within_us`` is how far apart the event times of a tuple may be.
    """

    attributes: Sequence[int]
    equalities: Sequence[Equality]
    comparisons: Sequence[Comparison] = ()
    within_us: int | None = None


class Part(NamedTuple):
    """A binding of a tuple: its number among all arrivals, its event time and its fragment."""

    arrival: int
    time_us: int
    fragment: bytes


@dataclass(frozen=True, slots=True)
class StreamStatistics:
    """Counters of one stream of a progressive join."""

    arrived: int
    valueless: int
    """Bindings without a value that they could be joined by."""
    resident: int
    """Bindings in memory."""
    memory_bytes: int
    flushed: int
    """Bindings that memory had no room for."""
    page_bytes: int
    """Bytes of them that wait for clean-up."""
    probes: int


@dataclass(frozen=True, slots=True)
class ProgressiveStatistics:
    """Counters of a progressive join."""

    results: int
    """Tuples found on arrival."""
    cleaned: int
    """Tuples found by clean-up."""
    probes: int
    flushes: int
    pages_written: int
    memory_bytes: int
    streams: tuple[StreamStatistics, ...]


class ProgressiveJoiner:
    """Joins the bindings of 2 to 8 streams as they arrive.

    ``push`` yields the tuples that a binding completes with what is in memory. ``settle`` yields
    those that memory missed so far, for when the inputs stand still; ``finish`` does so when they
    have ended. Each iterator has to be read to its end before the next call. All of them together
    yield every tuple once, whatever the memory budget.

    >>> graph = JoinGraph([1, 1], [Equality(Side(0, 0), Side(1, 0))])
    >>> with ProgressiveJoiner(graph) as joiner:
    ...     before = list(joiner.push(0, [[b"k"]], b"<a/>"))
    ...     [[left, right]] = joiner.push(1, [[b"j", b"k"]], b"<b/>")
    >>> before, left.fragment, right.fragment
    ([], b'<a/>', b'<b/>')

    Raises:
        ValueError: The graph is not connected, or names a stream or an attribute that is none.
    """

    def __init__(
        self,
        graph: JoinGraph,
        options: JoinOptions | None = None,
        limits: Limits | None = None,
        *,
        seed: int = 0,
    ) -> None:
        options = options or JoinOptions()
        self._rows_max = options.batch_rows_max
        self._pages = PageFile()
        self._failure: StateError | None = None
        self._join = self._open(graph, options, limits or Limits(), seed)
        self.interrupt = self._join.interrupt

    def _open(
        self, graph: JoinGraph, options: JoinOptions, limits: Limits, seed: int
    ) -> ProgressiveJoin:
        """Return the native join, whose pages go to ``self._pages``."""
        return ProgressiveJoin(
            self._pages,
            graph.attributes,
            graph.equalities,
            graph.comparisons,
            limits,
            within=graph.within_us,
            state_bytes_max=options.state_bytes_max,
            seed=seed,
        )

    @property
    def native(self) -> ProgressiveJoin:
        """The join itself."""
        return self._join

    def __enter__(self) -> ProgressiveJoiner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def push(
        self, stream: int, values: Sequence[Sequence[bytes]], fragment: bytes, time_us: int = 0
    ) -> Iterator[tuple[Part, ...]]:
        """Join a binding: the values of each attribute, and its fragment. Yields its tuples.

        Raises:
            LimitError: Joining it passed a limit; it is not joined, as if it had never come.
            CancelledError: Somebody called ``interrupt``; likewise.
            StateError: What memory has no room for could not be written; nothing goes on.
        """
        pushed = self.guarded(lambda: self._join.push(stream, time_us, values, fragment))
        raise_failure(pushed[1])
        return self._results()

    def guarded(self, work: Callable[[], T]) -> T:
        """Return what some work with the join returns; after a fault of pages nothing goes on.

        Raises:
            StateError: A page is lost or damaged, or cannot be written, now or before.
        """
        if self._failure is not None:
            raise self._failure
        try:
            return work()
        except StateError as error:
            self._failure = error
            raise

    @property
    def has_results(self) -> bool:
        """Whether tuples wait to be read."""
        return self._join.has_results()

    def end(self, stream: int) -> None:
        """Say that a stream has ended: what nothing can probe any more leaves memory first."""
        self._join.end(stream)

    def settle(self) -> Iterator[tuple[Part, ...]]:
        """Yield the tuples that memory missed so far; more bindings may come after it.

        Raises:
            StateError: A page is lost or damaged, or cannot be written; nothing goes on.
        """
        return self._clean_up(is_last=False)

    def finish(self) -> Iterator[tuple[Part, ...]]:
        """Yield the tuples that memory missed; all streams have ended.

        Raises:
            StateError: A page is lost or damaged, or cannot be written; nothing goes on.
        """
        return self._clean_up(is_last=True)

    def expire(self, before_us: int) -> None:
        """Drop bindings with an earlier event time: no partner within reach can come any more."""
        raise_failure(self.guarded(lambda: self._join.expire(before_us)))

    def statistics(self) -> ProgressiveStatistics:
        """Return the counters so far."""
        counts = self._join.statistics()
        streams = tuple(StreamStatistics(**one) for one in counts.pop("streams"))
        return ProgressiveStatistics(streams=streams, **counts)

    def close(self) -> None:
        """Give up the files; the joiner must not be used any more."""
        self._pages.close()

    def begin_clean_up(self, *, is_last: bool) -> None:
        """Begin to find what memory missed; ``is_last`` as for ``finish``."""
        begin = self._join.finish if is_last else self._join.settle
        raise_failure(self.guarded(begin))

    def _clean_up(self, is_last: bool) -> Iterator[tuple[Part, ...]]:
        self.begin_clean_up(is_last=is_last)
        return self._results()

    def _results(self) -> Iterator[tuple[Part, ...]]:
        """Return the results that wait; they are found while they are read."""
        return self._rest() if self._join.has_results() else iter(())

    def _rest(self) -> Iterator[tuple[Part, ...]]:
        while self._join.has_results():
            rows, failure = self.guarded(lambda: self._join.take(self._rows_max))
            for row in rows:
                yield tuple(Part(*part) for part in row)
            raise_failure(failure)
