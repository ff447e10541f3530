"""Joins in the engine: documents in, rows of joined events out."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import RLock
from typing import TYPE_CHECKING

from penstock.engine.rows import error_row, rows_of
from penstock.errors import DocumentError
from penstock.joins import Found, Joined, Joiner, JoinOptions, Outcome, Subscriber
from penstock.kernel import ALONE, Joins, Witness
from penstock.limits import Limits
from penstock.planning.records import JoinOutput
from penstock.registry import AnyRegistry
from penstock.registry.requests import Requested, requests_of, requests_since
from penstock.registry.subscriptions import Snapshot
from penstock.results import Fault, Result, event_id, make_row
from penstock.results.documents import FIRST_US, microseconds_of, moment_of
from penstock.sources import Input, Piece, Refused
from penstock.sources.memory import TextInput

if TYPE_CHECKING:
    from penstock.engine.binding import Binder
    from penstock.engine.driver import Driver, Portion

Rows = Generator[list[Result], None, None]
"""Rows in lists of bounded size."""


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
    call. Threads that share the joins hold ``lock`` meanwhile.

    Events that are published join others by themselves. Whatever else is subscribed reads them in
    ``published``, to be called after each list of rows.
    """

    def __init__(self, registry: AnyRegistry, limits: Limits, options: JoinOptions) -> None:
        self.lock = RLock()
        self._registry = registry
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
        self._reading: Callable[[], AbstractContextManager[Driver]] | None = None
        self._binder: Binder | None = None

    def publish_to(
        self, reading: Callable[[], AbstractContextManager[Driver]], binder: Binder
    ) -> None:
        """Let a driver read what is published, which may come late to the binder."""
        self._reading = reading
        self._binder = binder

    def end_stream(self, stream: str) -> None:
        """Let a stream end for the binder, unless it is published as well."""
        assert self._binder is not None, "a run has a binder"
        if self._joiner is None or not self._joiner.publishes(stream):
            self._binder.end_stream(stream)

    def published(self) -> Iterator[Portion]:
        """Yield what the events decide that were published since the last call."""
        if not self._published or self._reading is None:
            return
        documents, self._published = self._published, []
        with self._reading() as driver:
            yield from driver.read(documents)

    def with_published(self, joined: Rows) -> Rows:
        """Yield lists of joined rows, each before the rows of the events that they publish.

        Who closes the iterator gives up the events that are not read.
        """
        try:
            with closing(joined):
                for rows in joined:
                    yield rows
                    yield from filter(None, rows_of(self.published()))
        finally:
            self._published = []

    def follow(self) -> Joins | None:
        """Take over the current subscriptions, which see what is read from now on.

        Returns what sessions are to listen for, if anything.
        """
        older, snapshot = self._snapshot, self._registry.snapshot()
        if snapshot is not older:
            self._snapshot = snapshot
            self._take_over(
                requests_of(snapshot) if older is None else requests_since(older, snapshot)
            )
        return None if self._joiner is None else self._joiner.joins

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
        if self._binder is not None:
            self._binder.delay_us = self._joiner.delay_us

    def _requested(self, name: str) -> Requested | None:
        return self._known[name][1] if name in self._known else None

    @property
    def is_idle(self) -> bool:
        """Whether nothing joins, and nobody needs to know how far event time has come."""
        return self._joiner is None and self._options.lateness is None

    def finish(self, document: Input, witness: Witness | None, version: int | None = None) -> Rows:
        """Yield the rows that a document completes; it was read under ``version``, or just now.

        A document that came too late to be joined is an error row. One that passes a limit while
        it is joined is one as well: then it is not joined, but for the time that it brings. If its
        results pass a limit, those before it are rows, and the document is joined.
        """
        if self._joiner is None or witness is None:
            yield from self.pass_by(document)
            return
        time_us, read_under = _time_us(document), self.version if version is None else version
        try:
            is_in_time = self._joiner.join(witness, document.document, time_us, read_under)
        except DocumentError as error:
            yield [error_row(error, document)]
        else:
            if not is_in_time:
                yield [error_row(lateness_error(self._options.lateness), document)]
                return
        yield from self._completed(document)

    def pass_by(self, document: Input) -> Rows:
        """Yield the rows that the event time of a document completes that is not joined."""
        if self._options.lateness is not None and not isinstance(document, Refused):
            yield from self.advance(_time_us(document), document)

    def advance(self, time_us: int, document: Input = NOBODY) -> Rows:
        """Yield the rows that are complete once event time has come this far."""
        if self._joiner is None:
            self._latest_us = max(self._latest_us, time_us)
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
        has_readers = self._reading is not None and len(self._registry) > len(self._known)
        for batch in batches:
            rows = [
                found_row(subscriber(one.joined.subscription), one)
                if isinstance(one, Found)
                else error_row(one, document)
                for one in batch
            ]
            if has_readers:
                found = [one for one in batch if isinstance(one, Found) and one.error is None]
                events = (_published(subscriber(one.joined.subscription), one) for one in found)
                self._published += filter(None, events)
            yield rows


def found_row(subscriber: Subscriber, found: Found) -> Result:
    """Return the row of a result, or of the failure that took its place."""
    row = joined_row(subscriber.name, subscriber.output, found.joined, found.xml)
    return row if found.error is None else failed_row(row, found.error)


def _published(subscriber: Subscriber, found: Found) -> Input | None:
    """Return the document that a result becomes, if it is published."""
    stream, joined = subscriber.output.publish, found.joined
    if stream is None:
        return None
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
