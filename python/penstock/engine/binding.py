"""Streams in the engine: bindings in, messages about tuples of them out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from copy import copy
from datetime import UTC, datetime
from itertools import count
from weakref import WeakKeyDictionary

from penstock.engine.accounting import Accounting
from penstock.engine.follower import Follower
from penstock.engine.gathering import Bound, GatheringSnapshot, sides_of
from penstock.engine.joining import Joining, PublishedInput, lateness_error
from penstock.engine.messages import MessagePage
from penstock.engine.rows import error_row
from penstock.engine.stages import Rows, Taken
from penstock.engine.suspension import Suspensions
from penstock.engine.tuples import TUPLE_BYTES_MAX, TUPLES_MAX, Messages
from penstock.engine.usage import Usage
from penstock.joins import (
    BindingFeeder,
    Equality,
    Failed,
    JoinGraph,
    JoinOptions,
    Origin,
    ProgressiveJoiner,
    Side,
    TupleBinding,
)
from penstock.kernel import Gathered, MessageRows, error_of
from penstock.limits import Limits
from penstock.planning.bindings.programs import BindingProgram
from penstock.registry import AnyRegistry
from penstock.registry.subscriptions import Snapshot
from penstock.results import Result
from penstock.results.documents import FIRST_US, microseconds_of
from penstock.sources import Input

Kind = tuple[object, ...]

_EXPIRIES = 4
"""So often within a window what is too old is dropped."""


def kind_of(program: BindingProgram) -> Kind:
    """Return what subscriptions have in common that may share a join."""
    is_evaluated = program.outline is None
    return sides_of(program), program.edges, program.within_us, is_evaluated


class Tables:
    """One join, and the subscriptions that make messages of its tuples.

    Messages that are put together from pieces (``OutlineProgram``) are made natively;
    subscriptions may come and go, and each gets the tuples of bindings that come after it. Other
    messages are evaluated by a session, for many tuples at once.
    """

    def __init__(
        self,
        program: BindingProgram,
        limits: Limits,
        options: JoinOptions,
        account: Accounting,
    ) -> None:
        self._account = account
        outline = program.outline
        counts = None if outline is None else outline.piece_counts
        key_counts = [side.key_count for side in program.sides]
        by_document = program.by_document
        graph = JoinGraph(
            [sum(counts) for counts in zip(key_counts, by_document, strict=True)],
            [Equality(Side(*edge.left), Side(*edge.right)) for edge in program.edges],
            within_us=program.within_us,
        )
        self.sides = sides_of(program)
        self.kind = kind_of(program)
        self._streams = [side.stream for side in program.sides]
        self.within_us = program.within_us
        self._limits = limits
        self._joiner = ProgressiveJoiner(graph, options, limits)
        self._feeder = BindingFeeder(
            self._joiner, key_counts, by_document, counts, limits.memory_bytes_max
        )
        self.is_outline = outline is not None
        self._has_begun = False
        self._routed: Sequence[bytes] = ()
        self._routes: list[list[int]] = []
        """For each side that sessions gather: which sides of the join it is."""
        self._all_names: list[str] = []
        """By number, those of removed subscriptions included."""
        self._elements: list[str] = []
        """By number: the names of messages, where they are elements."""
        self._numbers: dict[str, int] = {}
        self._programs: dict[str, bytes] = {}
        """Messages that are evaluated."""
        self._messages: Messages | None = None
        self._expired_us = FIRST_US

    @property
    def names(self) -> list[str]:
        """The subscriptions."""
        return [*self._numbers]

    @property
    def is_open(self) -> bool:
        """Whether a further subscription may share the join.

        Messages that are evaluated are made of all tuples, so nothing may have been joined yet.
        """
        return self.is_outline or not self._has_begun

    def name(self, number: int) -> str:
        """Return the subscription of a number."""
        return self._all_names[number]

    def add(self, name: str, program: BindingProgram) -> None:
        """Add a subscription."""
        self._numbers[name] = len(self._all_names)
        self._all_names.append(name)
        outline = program.outline
        if outline is None:
            self._programs[name] = program.message
            self._messages = None
            self._feeder.add()
        else:
            self._feeder.add(outline.outline, outline.selections, is_strict=outline.is_strict)
        self._elements.append("" if outline is None else outline.name)

    def remove(self, name: str) -> None:
        """Remove a subscription."""
        self._feeder.remove(self._numbers.pop(name))
        if self._programs.pop(name, None) is not None:
            self._messages = None

    def feed(
        self, gathered: Gathered, sides: Sequence[bytes], origins: Sequence[Origin | None]
    ) -> Iterator[Sequence[Result] | Failed]:
        """Join what was gathered; yield rows, and the failures of single bindings."""
        self._has_begun = True
        if self._routed is not sides:
            self._routed = sides
            self._routes = [
                [at for at, own in enumerate(self.sides) if own == one] for one in sides
            ]
        if not any(self._routes[side] for _, side, _ in gathered.groups()):
            return
        for fed in self._feeder.feed(gathered, self._routes, origins):
            if isinstance(fed, Failed):
                yield fed
            else:
                yield from self._rows(fed)

    def end_stream(self, stream: str) -> None:
        """Say that nothing of a stream comes any more."""
        for number, own in enumerate(self._streams):
            if own == stream:
                self._joiner.end(number)

    def clean_up(self, *, is_last: bool) -> Rows:
        """Yield the rows that memory missed; if ``is_last``, nothing comes any more."""
        for fed in self._feeder.clean_up(is_last=is_last):
            assert not isinstance(fed, Failed), "clean-up feeds nothing"
            yield from self._rows(fed)

    def expire(self, watermark_us: int) -> Rows:
        """Drop bindings for which no partner can come; yield the rows that memory missed."""
        within = self.within_us
        if within is None or watermark_us - within < self._expired_us + within // _EXPIRIES:
            return
        self._expired_us = watermark_us - within
        # Only what is complete may go.
        yield from self.clean_up(is_last=False)
        self._joiner.expire(self._expired_us)

    def interrupt(self) -> None:
        """End what is under way, from any thread."""
        self._joiner.interrupt()
        if self._messages is not None:
            self._messages.interrupt()

    def close(self) -> None:
        """Give up files."""
        self._joiner.close()

    def _rows(self, fed: MessageRows | list[tuple[TupleBinding, ...]]) -> Rows:
        if isinstance(fed, MessageRows):
            names = self._all_names
            self._account.note_rows({names[number]: rows for number, rows in fed.counts()})
            if fed.has_failed:
                for number in fed.failing():
                    self._account.note_failure(names[number], error_of(MessageRows.reason()))
            yield MessagePage(fed, names, self._elements, self._streams[-1])
            return
        waiting: list[tuple[TupleBinding, ...]] = []
        waiting_bytes = 0
        for parts in fed:
            waiting.append(parts)
            waiting_bytes += sum([len(part.fragment) for part in parts])
            if len(waiting) == TUPLES_MAX or waiting_bytes >= TUPLE_BYTES_MAX:
                yield self._evaluated(waiting)
                waiting, waiting_bytes = [], 0
        if waiting:
            yield self._evaluated(waiting)

    def _evaluated(self, tuples: Sequence[tuple[TupleBinding, ...]]) -> Sequence[Result]:
        """Return the messages of tuples that no outline makes."""
        rows = [*self._maker().rows(tuples)]
        made = Counter(row.subscription for row in rows if row.error is None)
        self._account.note_rows({str(name): count for name, count in made.items()})
        return rows

    def _maker(self) -> Messages:
        if self._messages is None:
            note = self._account.note_failure
            self._messages = Messages(self._programs, self._streams[-1], self._limits, note)
        return self._messages


class _Arrived:
    """A document whose bindings are being joined."""

    def __init__(self, id_: bytes, time_us: int, number: int, is_late: bool) -> None:
        self.id = id_
        self.number = number
        self.time_us = time_us
        self.is_late = is_late
        self.is_reported = False
        self.bindings = 0
        """How many of its bindings are joined, or wait for that."""
        self._failed: set[str] = set()

    def failing(self, tables: Tables, failed: Failed) -> list[str]:
        """Return for whom an error is to be reported: a condition that has no value is so once."""
        if failed.subscription is None:
            return tables.names
        name = tables.name(failed.subscription)
        names = [] if name in self._failed else [name]
        self._failed.add(name)
        return names


class Binder:
    """Joins the bindings of a run, or of what is pushed into an engine.

    Subscriptions that join the same bindings in the same way share their tables. The rows of each
    join come in the order of arrival. What memory missed comes at the end, at a heartbeat, and
    before anything expires. What ``joining`` publishes is read like other documents, and may be as
    late as its windows are long.
    """

    reads_published = True

    def __init__(
        self, limits: Limits, options: JoinOptions, account: Accounting, joining: Joining
    ) -> None:
        self._account = account
        self._joining = joining
        self._limits = limits
        self._options = options
        self._version = -1
        self._snapshot: Snapshot | None = None
        self._suspended_at = 0
        self._known: dict[str, tuple[Bound, Tables]] = {}
        self._tables: list[Tables] = []
        self._latest: dict[Kind, Tables] = {}
        self._documents: WeakKeyDictionary[Input, _Arrived] = WeakKeyDictionary()
        self._latest_us = FIRST_US
        self._numbers = count()

    @property
    def is_idle(self) -> bool:
        """Whether nothing joins."""
        return not self._known

    def follow(self, follower: Follower) -> Snapshot:
        """Take over the subscriptions of a snapshot, unless a later one was there."""
        snapshot, suspended_at = follower.snapshot, self._account.version
        is_same = snapshot is self._snapshot and suspended_at == self._suspended_at
        if not is_same and snapshot.version >= self._version:
            self._snapshot, self._suspended_at = snapshot, suspended_at
            self._take_over(snapshot)
        return snapshot

    def _take_over(self, snapshot: Snapshot) -> None:
        self._version = snapshot.version
        bound = snapshot.bound if isinstance(snapshot, GatheringSnapshot) else {}
        if suspended := self._account.suspended():
            bound = {name: one for name, one in bound.items() if name not in suspended}
        for name, (known, _) in [*self._known.items()]:
            if bound.get(name) != known:
                self._remove(name)
        for name, one in bound.items():
            if name not in self._known:
                self._add(name, one)

    def _add(self, name: str, one: Bound) -> None:
        kind = kind_of(one.program)
        tables = self._latest.get(kind)
        if tables is None or not tables.is_open:
            tables = self._latest[kind] = Tables(
                one.program, self._limits, self._options, self._account
            )
            self._tables.append(tables)
        tables.add(name, one.program)
        self._known[name] = one, tables

    def _remove(self, name: str) -> None:
        _, tables = self._known.pop(name)
        tables.remove(name)
        if not tables.names:
            tables.close()
            self._tables.remove(tables)
            if self._latest.get(tables.kind) is tables:
                del self._latest[tables.kind]

    def structures(self) -> list[tuple[int, int, int]]:
        """Return for each join: its sides, and subscriptions with outlines and with others."""
        return [
            (len(tables.sides), len(tables.names), 0)
            if tables.is_outline
            else (len(tables.sides), 0, len(tables.names))
            for tables in self._tables
        ]

    def take(self, mark: Snapshot, taken: Taken) -> Rows:
        """Yield the rows of the bindings of a batch, which are taken out of it at once."""
        documents = taken.documents
        if isinstance(mark, GatheringSnapshot):
            gathered = taken.batch.take_bindings(len(mark.names))
            late: list[Input] = []
            origins = [
                self._origin(documents[number], count, late)
                for number, _, count in gathered.groups()
            ]
            if origins:
                yield from self._joined(mark.sides, documents, (gathered, origins), late)
        for number, error in taken.errors.items():
            arrived = self._documents.get(documents[number])
            if arrived is not None and arrived.bindings:
                error.after_bindings(arrived.bindings)

    def end_documents(self, mark: Snapshot, taken: Taken) -> Rows:
        """Yield the rows that memory missed, before time lets go of what they are made of."""
        # Published events may be older than the documents that complete them, and came before.
        for number in taken.ended:
            yield from self._end_document(taken.documents[number])

    def published(self) -> Sequence[Input]:
        """Return nothing: messages are of no stream."""
        return ()

    def _origin(self, document: Input, count: int, late: list[Input]) -> Origin | None:
        """Count bindings of a document; None if it is late, which is noted once."""
        arrived = self._documents.get(document) or self._arrive(document)
        if arrived.is_late:
            if not arrived.is_reported:
                arrived.is_reported = True
                late.append(document)
            return None
        arrived.bindings += count
        return Origin(arrived.id, arrived.time_us, arrived.number)

    def _joined(
        self,
        sides: Sequence[bytes],
        documents: Sequence[Input],
        found: tuple[Gathered, Sequence[Origin | None]],
        late: Sequence[Input],
    ) -> Rows:
        for document in late:
            yield [error_row(lateness_error(self._options.lateness), document)]
        gathered, origins = found
        for tables in [*self._tables]:
            for rows in tables.feed(gathered, sides, origins):
                if isinstance(rows, Failed):
                    document = documents[rows.document]
                    names = self._documents[document].failing(tables, rows)
                    for name in names:
                        self._account.note_failure(name, rows.error)
                    failures = [copy(rows.error).of_subscription(name) for name in names]
                    yield [error_row(failure, document) for failure in failures]
                else:
                    yield rows

    def _arrive(self, document: Input) -> _Arrived:
        time_us = microseconds_of(document.event_time or datetime.now(UTC))
        id_ = document.document.encode("utf-8", "surrogatepass")
        is_late = time_us < self._watermark_us and not isinstance(document, PublishedInput)
        arrived = _Arrived(id_, time_us, next(self._numbers), is_late)
        self._documents[document] = arrived
        return arrived

    @property
    def _watermark_us(self) -> int:
        lateness = self._options.lateness_us
        return FIRST_US if lateness is None else self._latest_us - lateness

    def _end_document(self, document: Input) -> Rows:
        """Let event time come to a document that has ended; yield the rows that were missed."""
        if document.event_time is not None or document in self._documents:
            arrived = self._documents.get(document) or self._arrive(document)
            self._latest_us = max(self._latest_us, arrived.time_us)
            self._documents.pop(document, None)
            yield from self._expire()
        if suspended := self._account.end_document():
            yield [error_row(error, document) for error in suspended]

    def advance(self, time_us: int) -> Rows:
        """Yield the rows that memory missed, at a heartbeat: inputs may stand still."""
        self._latest_us = max(self._latest_us, time_us)
        for tables in [*self._tables]:
            yield from tables.clean_up(is_last=False)
        yield from self._expire()

    def end(self) -> Rows:
        """Yield the rows that memory missed, and give up the state."""
        for tables in [*self._tables]:
            yield from tables.clean_up(is_last=True)
        self.close()

    def end_stream(self, stream: str) -> None:
        """Say that a stream has ended: what nothing can probe any more leaves memory first."""
        if self._joining.publishes(stream):
            return
        for tables in [*self._tables]:
            tables.end_stream(stream)

    def needed_from(self) -> int:
        """Return the earliest event time, in microseconds, that a row to come may depend on."""
        times = [FIRST_US if one.within_us is None else one.within_us for one in self._tables]
        if self._options.lateness_us is None or FIRST_US in times:
            return FIRST_US
        published_us = self._joining.delay_us + self._joining.publishing_us()
        return max(FIRST_US, self._watermark_us - published_us - max(times, default=0) - 1)

    def interrupt(self) -> None:
        """End what is being joined, from any thread."""
        for tables in [*self._tables]:
            tables.interrupt()

    def close(self) -> None:
        """Give up the state."""
        for tables in [*self._tables]:
            tables.close()
        self._known, self._tables, self._latest = {}, [], {}

    def _expire(self) -> Rows:
        if self._options.lateness_us is not None:
            for tables in [*self._tables]:
                yield from tables.expire(self._watermark_us - self._joining.delay_us)


def new_stages(
    registry: AnyRegistry,
    limits: Limits,
    options: JoinOptions,
    usage: Usage,
    suspensions: Suspensions,
) -> tuple[Joining, Binder]:
    """Return the stages of joins, each with an account of its own."""
    joining = Joining(registry, limits, options, Accounting(usage, suspensions))
    return joining, Binder(limits, options, Accounting(usage, suspensions), joining)
