"""Streams in the engine: bindings in, messages about tuples of them out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from datetime import UTC, datetime
from threading import RLock
from weakref import WeakKeyDictionary

from penstock.engine.gathering import Bound, GatheringSnapshot
from penstock.engine.joining import lateness_error
from penstock.engine.rows import error_row
from penstock.engine.tuples import TUPLE_BYTES_MAX, TUPLES_MAX, Binding, Messages
from penstock.errors import LimitError
from penstock.joins import Equality, JoinGraph, JoinOptions, Part, ProgressiveJoiner, Side
from penstock.kernel import Batch
from penstock.limits import Limits
from penstock.planning.bindings.programs import BindingProgram
from penstock.registry.subscriptions import Snapshot
from penstock.results import Result
from penstock.results.documents import FIRST_US, microseconds_of
from penstock.sources import Input

Rows = Iterator[list[Result]]
"""Rows in lists of bounded size."""

_NO_ROWS: Rows = iter(())

_EXPIRIES = 4
"""So often within a window what is too old is dropped."""


class Tables:
    """One join, and the subscriptions that make messages of its tuples."""

    def __init__(self, program: BindingProgram, limits: Limits, options: JoinOptions) -> None:
        graph = JoinGraph(
            [side.key_count for side in program.sides],
            [Equality(Side(*edge.left), Side(*edge.right)) for edge in program.edges],
            within_us=program.within_us,
        )
        self.program = program
        self.has_begun = False
        self._limits = limits
        self._joiner = ProgressiveJoiner(graph, options, limits)
        self._programs: dict[str, bytes] = {}
        self._messages: Messages | None = None
        self._waiting: list[tuple[Part, ...]] = []
        """Tuples that are to become rows together: a message by itself costs much more."""
        self._waiting_bytes = 0
        self._expired_us = FIRST_US

    @property
    def names(self) -> list[str]:
        """The subscriptions."""
        return [*self._programs]

    def add(self, name: str, message: bytes) -> None:
        """Add a subscription."""
        self._programs[name] = message
        self._messages = None

    def remove(self, name: str) -> None:
        """Remove a subscription."""
        del self._programs[name]
        self._messages = None

    def push(self, side: int, values: list[list[bytes]], packed: bytes, time_us: int) -> Rows:
        """Join a binding; yield rows where many tuples wait, and leave the others to ``flush``."""
        self.has_begun = True
        tuples = self._joiner.push(side, values, packed, time_us)
        return self._rows(tuples) if self._joiner.has_results else _NO_ROWS

    def flush(self) -> Rows:
        """Yield the rows of the tuples that wait."""
        if self._waiting:
            waiting, self._waiting, self._waiting_bytes = self._waiting, [], 0
            yield [*self._maker().rows(waiting)]

    def end_stream(self, stream: str) -> None:
        """Say that nothing of a stream comes any more."""
        for number, side in enumerate(self.program.sides):
            if side.stream == stream:
                self._joiner.end(number)

    def settle(self) -> Rows:
        """Yield the rows that memory missed so far."""
        yield from self._rows(self._joiner.settle())
        yield from self.flush()

    def finish(self) -> Rows:
        """Yield the rows that memory missed; nothing comes any more."""
        yield from self._rows(self._joiner.finish())
        yield from self.flush()

    def expire(self, watermark_us: int) -> Rows:
        """Drop bindings for which no partner can come; yield the rows that memory missed."""
        within = self.program.within_us
        if within is None or watermark_us - within < self._expired_us + within // _EXPIRIES:
            return
        self._expired_us = watermark_us - within
        # Only what is complete may go.
        yield from self.settle()
        self._joiner.expire(self._expired_us)

    def interrupt(self) -> None:
        """End what is under way, from any thread."""
        self._joiner.interrupt()
        if self._messages is not None:
            self._messages.interrupt()

    def close(self) -> None:
        """Give up files."""
        self._joiner.close()

    def _rows(self, tuples: Iterable[tuple[Part, ...]]) -> Rows:
        for parts in tuples:
            self._waiting.append(parts)
            self._waiting_bytes += sum([len(part.fragment) for part in parts])
            if len(self._waiting) == TUPLES_MAX or self._waiting_bytes >= TUPLE_BYTES_MAX:
                yield from self.flush()

    def _maker(self) -> Messages:
        if self._messages is None:
            last = self.program.sides[-1].stream
            self._messages = Messages(self._programs, last, self._limits)
        return self._messages


class _Arrived:
    """A document whose bindings are being joined."""

    def __init__(self, time_us: int, is_late: bool) -> None:
        self.time_us = time_us
        self.is_late = is_late
        self.is_reported = False
        self.bindings = 0
        """How many of its bindings are joined, or wait for that."""
        self.counts: dict[bytes, int] = {}
        """The number of the last binding of each side."""


class Binder:
    """Joins the bindings of a run, or of what is pushed into an engine.

    Subscriptions that join the same bindings in the same way share their tables, if no binding
    came between them. Rows come in the order of arrival. What memory missed comes at the end, at
    a heartbeat, and before anything expires. Threads that share a binder hold ``lock``.
    """

    def __init__(self, limits: Limits, options: JoinOptions) -> None:
        self.lock = RLock()
        self._limits = limits
        self._options = options
        self._version = -1
        self._known: dict[str, tuple[Bound, Tables]] = {}
        self._sides: dict[bytes, list[tuple[Tables, int]]] = {}
        self._documents: WeakKeyDictionary[Input, _Arrived] = WeakKeyDictionary()
        self._latest_us = FIRST_US

    @property
    def is_idle(self) -> bool:
        """Whether nothing joins."""
        return not self._known

    def follow(self, snapshot: Snapshot) -> None:
        """Take over the subscriptions of a snapshot, unless a later one was there."""
        if snapshot.version < self._version:
            return
        self._version = snapshot.version
        bound = snapshot.bound if isinstance(snapshot, GatheringSnapshot) else {}
        for name, (known, _) in [*self._known.items()]:
            if bound.get(name) != known:
                self._remove(name)
        for name, one in bound.items():
            if name not in self._known:
                self._add(name, one)

    def _add(self, name: str, one: Bound) -> None:
        shared = (tables for _, tables in self._known.values() if _is_same(tables, one.program))
        tables = next(shared, None)
        if tables is None:
            tables = Tables(one.program, self._limits, self._options)
            for number, side in enumerate(one.program.sides):
                self._sides.setdefault(side.program, []).append((tables, number))
        tables.add(name, one.program.message)
        self._known[name] = one, tables

    def _remove(self, name: str) -> None:
        _, tables = self._known.pop(name)
        tables.remove(name)
        if not tables.names:
            self._drop(tables)

    def _drop(self, tables: Tables) -> None:
        tables.close()
        for program, sides in [*self._sides.items()]:
            self._sides[program] = [one for one in sides if one[0] is not tables]
            if not self._sides[program]:
                del self._sides[program]

    def names_of(self, snapshot: Snapshot, number: int) -> list[str]:
        """Return the subscriptions that join a side, by its number behind the names."""
        assert isinstance(snapshot, GatheringSnapshot), "somebody joins sides"
        joined = self._sides.get(snapshot.sides[number], ())
        return list(dict.fromkeys(name for tables, _ in joined for name in tables.names))

    def join(self, snapshot: Snapshot, documents: Sequence[Input], batch: Batch) -> Rows:
        """Yield the rows of the bindings of a batch, which are taken out of it at once."""
        if not isinstance(snapshot, GatheringSnapshot):
            return self._joined((), documents, ())
        bindings = batch.take_bindings(len(snapshot.names))
        for number, _, _, _ in bindings:
            arrived = self._documents.get(documents[number]) or self._arrive(documents[number])
            arrived.bindings += not arrived.is_late
        return self._joined(snapshot.sides, documents, bindings)

    def _joined(
        self,
        programs: Sequence[bytes],
        documents: Sequence[Input],
        bindings: Iterable[tuple[int, int, list[tuple[int, bytes]], bytes]],
    ) -> Rows:
        for number, side, values, fragment in bindings:
            document, program = documents[number], programs[side]
            arrived = self._documents[document]
            if arrived.is_late:
                if not arrived.is_reported:
                    arrived.is_reported = True
                    yield [error_row(lateness_error(self._options.lateness), document)]
                continue
            at = arrived.counts[program] = arrived.counts.get(program, -1) + 1
            packed = Binding(document.document, at).pack(fragment)
            for tables, own in [*self._sides.get(program, ())]:
                keys = _by_key(values, tables.program.sides[own].key_count)
                try:
                    yield from tables.push(own, keys, packed, arrived.time_us)
                except LimitError as error:
                    failures = [copy(error).of_subscription(name) for name in tables.names]
                    yield [error_row(failure, document) for failure in failures]
        for tables in self._all():
            yield from tables.flush()

    def _arrive(self, document: Input) -> _Arrived:
        time_us = microseconds_of(document.event_time or datetime.now(UTC))
        arrived = _Arrived(time_us, time_us < self._watermark_us)
        self._documents[document] = arrived
        return arrived

    @property
    def _watermark_us(self) -> int:
        lateness = self._options.lateness_us
        return FIRST_US if lateness is None else self._latest_us - lateness

    def count(self, document: Input) -> int:
        """Return how many bindings of a document were joined."""
        arrived = self._documents.get(document)
        return 0 if arrived is None else arrived.bindings

    def end_document(self, document: Input) -> Rows:
        """Let event time come to a document that has ended; yield the rows that were missed."""
        if document.event_time is not None or document in self._documents:
            arrived = self._documents.get(document) or self._arrive(document)
            self._latest_us = max(self._latest_us, arrived.time_us)
            self._documents.pop(document, None)
            yield from self._expire()

    def advance(self, time_us: int) -> Rows:
        """Yield the rows that memory missed, at a heartbeat: inputs may stand still."""
        self._latest_us = max(self._latest_us, time_us)
        for tables in self._all():
            yield from tables.settle()
        yield from self._expire()

    def end(self) -> Rows:
        """Yield the rows that memory missed, and give up the state."""
        for tables in self._all():
            yield from tables.finish()
        self.close()

    def end_stream(self, stream: str) -> None:
        """Say that a stream has ended: what nothing can probe any more leaves memory first."""
        for tables in self._all():
            tables.end_stream(stream)

    def interrupt(self) -> None:
        """End what is being joined, from any thread."""
        for tables in self._all():
            tables.interrupt()

    def close(self) -> None:
        """Give up the state."""
        for tables in self._all():
            tables.close()
        self._known, self._sides = {}, {}

    def _expire(self) -> Rows:
        if self._options.lateness_us is not None:
            for tables in self._all():
                yield from tables.expire(self._watermark_us)

    def _all(self) -> list[Tables]:
        return list(dict.fromkeys(tables for _, tables in self._known.values()))


def _is_same(tables: Tables, program: BindingProgram) -> bool:
    """Return whether a subscription may share tables: equal joins, and nothing joined yet."""
    own = tables.program
    same = (own.sides, own.edges, own.within_us) == (
        program.sides,
        program.edges,
        program.within_us,
    )
    return same and not tables.has_begun


def _by_key(values: Iterable[tuple[int, bytes]], count: int) -> list[list[bytes]]:
    by_key: list[list[bytes]] = [[] for _ in range(count)]
    for key, value in values:
        by_key[key].append(value)
    return by_key
