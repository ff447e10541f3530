"""The documents of one run, joined."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from xml.sax.saxutils import unescape

from penstock.engine.feeding import error_row
from penstock.errors import DocumentError
from penstock.joins import Found, Joined, Joiner, JoinOptions, Subscriber
from penstock.limits import Limits
from penstock.registry import AnyRegistry
from penstock.registry.standing import START, Standing
from penstock.registry.subscriptions import Snapshot
from penstock.results import Fault, Result
from penstock.results.documents import FIRST_US, microseconds_of, moment_of
from penstock.results.serialization import CHARACTERS
from penstock.sources import Input, Refused
from penstock.twigs import Event
from penstock.twigs.outputs import Output


class Joining:
    """Joins the documents that a run reads, for the subscriptions that ask for it.

    State begins with the run and ends with it: at the end of the source nothing comes any more,
    so whatever waits for a partner is reported. Event time goes on with every document that has
    one, whatever is subscribed, and whatever is wrong with the document.
    """

    def __init__(self, registry: AnyRegistry, limits: Limits, options: JoinOptions) -> None:
        self._registry = registry
        self._limits = limits
        self._options = options
        self._joiner: Joiner | None = None
        self._known: dict[str, tuple[int, Standing]] = {}
        """The subscriptions that are joined, by name, with their numbers."""
        self._next = 0
        self._snapshot: Snapshot | None = None
        self._read = START
        self._version = 0
        """Grows with every change, whatever becomes of the registry's own version."""
        self._latest_us = FIRST_US

    def follow(self, snapshot: Snapshot) -> None:
        """Take over the subscriptions of a snapshot: they see what is read from now on."""
        if snapshot is self._snapshot:
            return
        self._snapshot = snapshot
        changes = self._registry.joining_since(self._read)
        self._read = changes.read
        listed = dict(changes.listed)
        if changes.is_complete:
            listed = dict.fromkeys(self._known) | listed
        changed = {name: one for name, one in listed.items() if one != self._standing(name)}
        if not changed:
            return
        if self._joiner is None:
            self._joiner = Joiner(self._options, self._limits)
            self._joiner.advance(self._latest_us)
        self._version += 1
        for name in changed:
            if name in self._known:
                self._joiner.remove(self._known.pop(name)[0])
        for name, standing in changed.items():
            if standing is not None:
                self._joiner.add(self._next, self._version, name, standing.program)
                self._known[name] = (self._next, standing)
                self._next += 1
        self._joiner.settle()

    def _standing(self, name: str) -> Standing | None:
        return self._known[name][1] if name in self._known else None

    @property
    def reader(self) -> Joiner | None:
        """What documents are to be fed to, if anything."""
        return self._joiner

    def finish(self, document: Input) -> list[Result]:
        """Return what a document completes, now that it has been read.

        Raises:
            DocumentError: The document is not complete.
            LimitError: The document passed a limit.
        """
        if self._joiner is None:
            return self.pass_by(document)
        if not self._joiner.finish(document.document, _time_us(document), self._version):
            return [error_row(lateness_error(self._options.lateness), document)]
        return self._completed()

    def pass_by(self, document: Input) -> list[Result]:
        """Return what the event time of a document completes that is not joined."""
        if self._options.lateness is None or isinstance(document, Refused):
            return []
        return self.advance(_time_us(document))

    def advance(self, time_us: int) -> list[Result]:
        """Return what is complete now that event time has come this far."""
        if self._joiner is None:
            self._latest_us = max(self._latest_us, time_us)
            return []
        self._joiner.advance(time_us)
        return self._completed()

    def _completed(self) -> list[Result]:
        assert self._joiner is not None, "there is something to complete"
        return list(self._rows(self._joiner.results(self._version)))

    def end(self) -> list[Result]:
        """Return what waited for a partner in vain, and give up the state."""
        if self._joiner is None:
            return []
        rows = list(self._rows(self._joiner.end(self._version)))
        self.close()
        return rows

    def close(self) -> None:
        """Give up the state."""
        if self._joiner is not None:
            self._joiner.close()
            self._joiner = None

    def _rows(self, found: Iterator[Found]) -> Iterator[Result]:
        for one in found:
            assert self._joiner is not None, "somebody joined"
            yield found_row(self._joiner.subscriber(one.joined.subscription), one)


def found_row(subscriber: Subscriber, found: Found) -> Result:
    """Return the row of a result, or of the failure that took its place."""
    output = subscriber.output
    row = joined_row(subscriber.name, output.streams[-1], output.output, found.joined, found.xml)
    return row if found.error is None else failed_row(row, found.error)


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


def joined_row(name: str, stream: str | None, output: Output, joined: Joined, xml: str) -> Result:
    """Return the row of a joined event; ``stream`` is that of the query's last block."""
    kind, root, start, end = "event", "event", None, None
    variables: tuple[str, ...] = ()
    if isinstance(output, Event):
        variables = output.select
        if output.content:
            kind, root = "message", ""
    else:
        # A bare block: the nodes themselves, of a stream of their own.
        (node,) = joined.nodes
        kind, root, start, end = node.kind, node.name, node.start, node.end
        is_xml = kind in ("element", "document")
        xml = node.text if is_xml else unescape(node.text, CHARACTERS)
    return Result(
        subscription=name,
        stream=stream or "default",
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
            variable: f"{document}[{start}-{end}]"
            for variable, (document, start, end) in zip(variables, joined.ranges, strict=False)
        }
        or None,
    )


def lateness_error(lateness: timedelta | float | None) -> DocumentError:
    """Return what is wrong with a document that came too late."""
    reason = f"the document came more than {lateness} late and was not joined"
    return DocumentError("PJ0001", reason, 0, 0, "")
