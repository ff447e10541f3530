"""Joins in the engine: documents in, rows of joined events out."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from penstock.engine.accounting import Accounting
from penstock.engine.follower import Follower
from penstock.engine.rows import error_row
from penstock.engine.stages import Taken
from penstock.errors import DocumentError
from penstock.joins import Found, Joined, Joiner, JoinOptions, Outcome, Subscriber
from penstock.kernel import ALONE, JOIN_BATCH_ROWS_MAX, JoinStatistics, Witness
from penstock.limits import Limits
from penstock.planning.records import Asked, JoinOutput, is_publishing, read_records
from penstock.registry import AnyRegistry
from penstock.registry.requests import Requested, requests_of, requests_since
from penstock.registry.subscriptions import Snapshot
from penstock.results import Fault, Result, event_id, make_row
from penstock.results.documents import FIRST_US, LAST_US, microseconds_of, moment_of
from penstock.sources import Input, Piece, Refused
from penstock.sources.memory import TextInput

Rows = Generator[list[Result], None, None]
"""Rows in lists of bounded size."""

_ROWS_BYTES_MAX = 4 << 20
"""The values of one list have about so many characters at most."""


class PublishedInput(TextInput):
    """An event that is a document of a stream."""


class _Nobody(Input):
    """Stands for the document of an error that no document brought."""

    def pieces(self) -> Iterator[Piece]:
        raise TypeError("there is no such document")

    def original(self) -> bytes | None:
        return None


NOBODY = _Nobody("", "default", None)


class Joining:
    """Joins the documents of a run, or those that are pushed into an engine.

    The state ends with ``end``, which reports what still waits for a partner. Event time advances
    with every document that has one, whatever is subscribed, and whatever is wrong with the
    document. Rows come in batches; each iterator is read to its end, or closed, before the next
    call.

    Events that are published join others by themselves; all else reads them as documents
    (``published``).
    """

    reads_published = False

    def __init__(
        self,
        registry: AnyRegistry,
        limits: Limits,
        options: JoinOptions,
        account: Accounting,
    ) -> None:
        self._registry = registry
        self._account = account
        self._suspended: frozenset[str] = frozenset()
        self._suspended_at = 0
        self._limits = limits
        self._options = options
        self._joiner: Joiner | None = None
        self._known: dict[str, tuple[int, Requested]] = {}
        """The subscriptions that are joined, by name, with their numbers."""
        self._next = 0
        self._snapshot: Snapshot | None = None
        self.version = 0
        """Grows with every change, whatever becomes of the registry's own version."""
        self._latest_us = FIRST_US
        self._published: list[Input] = []

    def follow(self, follower: Follower) -> int:
        """Take over the current subscriptions, which see what is read from now on."""
        self._update()
        follower.session.listen(None if self._joiner is None else self._joiner.joins)
        return self.version

    def _update(self) -> None:
        snapshot = self._registry.snapshot()
        if snapshot is not self._snapshot or self._account.version != self._suspended_at:
            self._take_over(self._changes(snapshot))

    def _changes(self, snapshot: Snapshot) -> Mapping[str, Requested | None]:
        """Return what has changed; a subscription that is suspended is as good as removed."""
        older, self._snapshot = self._snapshot, snapshot
        changes: dict[str, Requested | None] = {}
        if older is None:
            changes.update(requests_of(snapshot))
        elif older is not snapshot:
            changes.update(requests_since(older, snapshot))
        self._suspended_at = self._account.version
        suspended = frozenset(self._account.suspended())
        if resumed := self._suspended - suspended:
            requested = requests_of(snapshot)
            changes.update({name: requested.get(name) for name in resumed})
        self._suspended = suspended
        return changes | dict.fromkeys(suspended)

    def _take_over(self, changes: Mapping[str, Requested | None]) -> None:
        # A subscription that merely moved to another tier goes on as it is.
        changed = {name: new for name, new in changes.items() if new != self._requested(name)}
        if not changed:
            return
        if self._joiner is None:
            self._joiner = Joiner(self._options, self._limits)
            self._joiner.advance(self._latest_us)
        self.version += 1
        for name in changed:
            if name in self._known:
                self._joiner.remove(self._known.pop(name)[0])
        for name, requested in changed.items():
            if requested is not None:
                self._joiner.add(self._next, self.version, name, requested.program)
                self._known[name] = (self._next, requested)
                self._next += 1
        self._joiner.settle()

    def _requested(self, name: str) -> Requested | None:
        return self._known[name][1] if name in self._known else None

    @property
    def names(self) -> Sequence[str]:
        """The subscriptions that are joined."""
        return [*self._known]

    def statistics(self) -> JoinStatistics | None:
        """Return the counters of the joins, if there are any."""
        return None if self._joiner is None else self._joiner.statistics()

    @property
    def is_idle(self) -> bool:
        """Whether nothing joins, and nobody needs to know how far event time has come."""
        return self._joiner is None and self._options.lateness is None

    def take(self, mark: int, taken: Taken) -> Iterable[list[Result]]:
        """Return nothing: documents are joined when they have ended."""
        return ()

    def end_documents(self, mark: int, taken: Taken) -> Rows:
        """Yield the rows of joining documents, which were read under a version."""
        self._published = []
        witnesses = dict(taken.batch.witnesses())
        rows: list[Result] = []
        value_bytes = 0
        for number in taken.ended:
            document = taken.documents[number]
            if number in taken.errors:
                completed = self._pass_by(document)
            else:
                completed = self._finish(document, witnesses.get(number), mark)
            for further in completed:
                rows += further
                value_bytes += sum(len(row.value or "") for row in further)
                if len(rows) >= JOIN_BATCH_ROWS_MAX or value_bytes >= _ROWS_BYTES_MAX:
                    yield rows
                    rows, value_bytes = [], 0
        yield rows

    def _finish(self, document: Input, witness: Witness | None, version: int) -> Rows:
        """Yield the rows that a document completes; it was read under ``version``.

        A document that came too late to be joined is an error row. One that passes a limit while
        it is joined is one as well: then it is not joined, but for the time that it brings. If its
        results pass a limit, those before it are rows, and the document is joined.
        """
        if self._joiner is None or witness is None:
            yield from self._pass_by(document)
            return
        time_us = _time_us(document)
        self._latest_us = max(self._latest_us, time_us)
        try:
            is_in_time = self._joiner.join(witness, document.document, time_us, version)
        except DocumentError as error:
            yield [error_row(error, document)]
        else:
            if not is_in_time:
                yield [error_row(lateness_error(self._options.lateness), document)]
                return
        yield from self._completed(document)

    def _pass_by(self, document: Input) -> Rows:
        """Yield the rows that the event time of a document completes that is not joined."""
        if self._options.lateness is not None and not isinstance(document, Refused):
            yield from self._advance(_time_us(document), document)

    def advance(self, time_us: int) -> Rows:
        """Yield the rows that are complete once event time has come this far."""
        self._published = []
        self._update()
        return self._advance(time_us, NOBODY)

    def _advance(self, time_us: int, document: Input) -> Rows:
        self._latest_us = max(self._latest_us, time_us)
        if self._joiner is None:
            return
        self._joiner.advance(time_us)
        yield from self._completed(document)

    def _completed(self, document: Input) -> Rows:
        assert self._joiner is not None, "there is something to complete"
        return self._rows(self._joiner.results(self.version), document)

    def end(self) -> Rows:
        """Yield the rows of what waited for a partner, and give up the state."""
        if self._joiner is not None:
            yield from self._rows(self._joiner.end(self.version), NOBODY)
        self.close()

    def end_stream(self, stream: str) -> None:
        """Do nothing: what waits depends on event time alone."""

    def published(self) -> Sequence[Input]:
        """Return the events that were published with the last list of rows."""
        documents, self._published = self._published, []
        return documents

    def publishes(self, stream: str) -> bool:
        """Return whether a stream is published."""
        return self._joiner is not None and self._joiner.publishes(stream)

    @property
    def delay_us(self) -> int:
        """How much later than its event time an event may be published, in microseconds."""
        return 0 if self._joiner is None else self._joiner.delay_us

    def publishing_us(self) -> int:
        """Return how far the documents of a published event lie apart at most."""
        spans = (_span_of(requested.program) for _, requested in self._known.values())
        return sum(span for span, is_publishing in spans if is_publishing)

    def needed_from(self) -> int:
        """Return the earliest event time, in microseconds, that a row to come may depend on.

        What a row is made of lies within the windows of its query, added up, and where events are
        published, within those of the queries that publish as well.
        """
        lateness_us = self._options.lateness_us
        if lateness_us is None:
            return FIRST_US
        spans = [_span_of(requested.program) for _, requested in self._known.values()]
        lasting = self.publishing_us()
        lasting += max((span for span, is_publishing in spans if not is_publishing), default=0)
        return max(FIRST_US, self._latest_us - lateness_us - lasting - 1)

    def interrupt(self) -> None:
        """End what is being joined, or what is joined next; whoever joins gets an error."""
        if self._joiner is not None:
            self._joiner.interrupt()

    def close(self) -> None:
        """Give up the state."""
        if self._joiner is not None:
            self._joiner.close()
            self._joiner = None

    def _rows(self, batches: Iterator[Sequence[Outcome]], document: Input) -> Rows:
        assert self._joiner is not None, "somebody joined"
        subscriber = self._joiner.subscriber
        # What joins alone has read its events already.
        has_readers = len(self._registry) > len(self._known)
        for batch in batches:
            rows, counts = [], dict[str, int]()
            for one in batch:
                if not isinstance(one, Found):
                    rows.append(error_row(one, document))
                    continue
                own = subscriber(one.joined.subscription)
                rows.append(found_row(own, one))
                if one.error is None:
                    counts[own.name] = counts.get(own.name, 0) + 1
                    if has_readers and own.output.publish is not None:
                        self._published.append(_published(own, own.output.publish, one))
                else:
                    self._account.note_failure(own.name, one.error)
            self._account.note_rows(counts)
            yield rows
        if suspended := self._account.end_document():
            yield [error_row(error, document) for error in suspended]


def found_row(subscriber: Subscriber, found: Found) -> Result:
    """Return the row of a result, or of the failure that took its place."""
    row = joined_row(subscriber.name, subscriber.output, found.joined, found.xml)
    return row if found.error is None else failed_row(row, found.error)


def _published(subscriber: Subscriber, stream: str, found: Found) -> PublishedInput:
    """Return the document that a result becomes."""
    joined = found.joined
    name = event_id(subscriber.name, joined.documents, joined.ranges)
    return PublishedInput(found.xml, name, stream, moment_of(joined.time_us))


def failed_row(row: Result, error: DocumentError) -> Result:
    """Return what stands for a row where its subscription failed: nothing of it but its id."""
    return replace(
        row,
        kind="error",
        name="",
        value=None,
        start=None,
        end=None,
        bindings=None,
        error=Fault.of(error),
    )


@lru_cache(maxsize=4096)
def _span_of(program: bytes) -> tuple[int, bool]:
    """Return how long the windows of a program are together, and whether it publishes."""
    windows = [row.window_us for row in read_records(program, Asked())[0].rows]
    span = sum(LAST_US - FIRST_US if window is None else window for window in windows)
    return span, is_publishing(program)


def _time_us(document: Input) -> int:
    return microseconds_of(document.event_time or datetime.now(UTC))


def joined_row(name: str, output: JoinOutput, joined: Joined, xml: str) -> Result:
    """Return the row of a joined event; its stream is that of the query's last block."""
    kind, root, start, end = "event", "event", None, None
    variables = output.event.select
    if output.event.content:
        kind, root = "message", ""
    if output.is_node:
        # A block by itself gives the nodes themselves, of a stream of their own.
        variables = ()
        (node,) = joined.nodes
        kind, root, start, end = node.kind, node.name, node.start, node.end
        is_xml = kind in ("element", "document")
        xml = node.text if is_xml else _unescaped(node.text)
    return make_row(
        subscription=name,
        stream=output.streams[-1] or "default",
        document=joined.latest,
        documents=joined.documents,
        ordinal=joined.ordinal,
        kind=kind,
        name=root,
        value=xml,
        start=start,
        end=end,
        decided_at=0,
        event_time=moment_of(joined.time_us),
        bindings={
            variable: node.place for variable, node in zip(variables, joined.nodes, strict=False)
        }
        or None,
        error=None,
        source=None,
        surroundings=ALONE,
    )


def lateness_error(lateness: timedelta | float | None) -> DocumentError:
    """Return what is wrong with a document that came too late."""
    reason = f"the document came more than {lateness} late and was not joined"
    return DocumentError("PJ0001", reason, 0, 0, "")


def _unescaped(text: str) -> str:
    """Return what the kernel's ``escape`` was given."""
    # `xml.sax.saxutils` has the same, and loads a client for HTTP.
    for reference, character in (("&lt;", "<"), ("&gt;", ">"), ("&#13;", "\r"), ("&amp;", "&")):
        text = text.replace(reference, character)
    return text
