"""Documents in, joined events out: the native joins with names, files and published streams."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal

from penstock.joins.results import Joined, JoinedNode, Renderer, renderer_of
from penstock.joins.spilling import Spill
from penstock.joins.writing import RowWriter
from penstock.kernel import Joins, JoinStatistics
from penstock.limits import Limits
from penstock.planning.templates import JoinQuery
from penstock.planning.templates.compiling import compile_join
from penstock.planning.templates.texts import JoinTexts
from penstock.results import event_id
from penstock.twigs import Event, Fragments, Query

MICROSECONDS = 1_000_000

Strategy = Literal["shared", "sequential", "mmqjp", "views"]
"""How rows are found: ``shared`` is the one to use, the others are there to be compared with."""


@dataclass(frozen=True, slots=True)
class JoinOptions:
    """How joins run.

    ``lateness`` bounds how much later than a younger document one may come, in seconds; without
    it nothing is ever late and nothing that a window may need is dropped. Records beyond
    ``memory_bytes_max`` go to files.
    """

    lateness: timedelta | float | None = None
    memory_bytes_max: int = 1 << 30
    strategy: Strategy = "shared"
    views_max: int = 1 << 16
    hash_bits: int = 64

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


def is_joining(query: Query) -> bool:
    """Return whether a query is evaluated by joins: it has events, or a stream of its own."""
    if isinstance(query.output, Event):
        return True
    return query.language == "xscl" and query.blocks[0].stream is not None


@dataclass(frozen=True, slots=True)
class _Subscriber:
    name: str
    render: Renderer
    publish: str | None


class Joiner:
    """Joins the documents of all streams for all subscriptions.

    Read a document with ``begin``, ``feed`` and ``finish``; then ``results`` yields what it
    completed. A late document is refused by ``finish``, and counted.
    """

    def __init__(self, options: JoinOptions | None = None, limits: Limits | None = None) -> None:
        self.options = options or JoinOptions()
        self._joins = Joins(
            limits,
            lateness=self.options.lateness_us,
            memory_bytes_max=self.options.memory_bytes_max,
            strategy=self.options.strategy,
            views_max=self.options.views_max,
            hash_bits=self.options.hash_bits,
        )
        self._writer = RowWriter(self._joins)
        self._spill = Spill(self._joins)
        self._subscribers: dict[int, _Subscriber] = {}
        self._publishers: dict[str, set[int]] = {}
        self._documents = 0
        self.late = 0
        self.begin = self._joins.begin
        self.feed = self._joins.feed

    def add(self, number: int, version: int, name: str, query: Query) -> None:
        """Add a subscription, which sees documents read under a version from this on.

        Raises:
            QueryError: The query needs something that is not evaluated yet.
        """
        compiled = compile_query(query)
        self._writer.add(number, version, compiled)
        event = compiled.event
        self._subscribers[number] = _Subscriber(name, renderer_of(event), event.publish)
        if event.publish is not None:
            self._publishers.setdefault(event.publish, set()).add(number)

    def remove(self, number: int) -> None:
        """Remove a subscription."""
        self._joins.remove(number)
        del self._subscribers[number]
        for publishers in self._publishers.values():
            publishers.discard(number)

    def settle(self) -> None:
        """Take note of all changes: how much later than its event time a stream may come."""
        delays: dict[str, int] = {}
        # Streams do not go round in a circle, so delays settle within as many rounds.
        for _ in range(len(self._publishers) + 1):
            before = dict(delays)
            for stream, publishers in self._publishers.items():
                delays[stream] = max((self._joins.delay_of(n) for n in publishers), default=0)
                self._joins.delay_stream(stream, delays[stream])
            if delays == before:
                break

    def finish(self, document: str, time_us: int, version: int) -> bool:
        """End the document and join it; returns False if it came too late for that.

        Raises:
            DocumentError: The document is not complete.
            LimitError: The document passed a limit.
        """
        record = self._joins.finish(self._documents, document, time_us, version)
        self._documents += 1
        if record and not self._joins.push(record, False):
            self.late += 1
            return False
        return True

    def results(self, version: int) -> Iterator[tuple[Joined, str]]:
        """Yield what the last document completed, each result with its XML.

        What subscriptions publish is joined on the way.
        """
        yield from self._settled(version)
        while self._joins.release():
            yield from self._settled(version)
        self._spill.relieve()

    def end(self, version: int) -> Iterator[tuple[Joined, str]]:
        """Yield what waited for a partner: none comes any more."""
        self._joins.end()
        yield from self.results(version)

    def statistics(self) -> JoinStatistics:
        """Return the counters so far."""
        return self._joins.statistics()

    def close(self) -> None:
        """Give up files; the joiner must not be used any more."""
        self._spill.close()

    def _settled(self, version: int) -> Iterator[tuple[Joined, str]]:
        """Yield the results that wait, and those of what they publish."""
        while self._joins.result_count():
            published: dict[str, tuple[str, str, int]] = {}
            for joined in self._take():
                subscriber = self._subscribers[joined.subscription]
                xml = subscriber.render(joined.nodes)
                yield joined, xml
                if subscriber.publish is not None:
                    key = event_id(subscriber.name, joined.documents, joined.ranges)
                    published[key] = (subscriber.publish, xml, joined.time_us)
            for key, (stream, xml, time_us) in published.items():
                self._publish(key, stream, xml, time_us, version)

    def _publish(self, key: str, stream: str, xml: str, time_us: int, version: int) -> None:
        self._joins.begin(stream)
        self._joins.feed(xml.encode("utf-8", "surrogatepass"))
        record = self._joins.finish(self._documents, key, time_us, version)
        self._documents += 1
        if record:
            self._joins.push(record, True)

    def _take(self) -> Iterator[Joined]:
        rows, events, documents, texts, _ = self._joins.take()
        made: dict[int, Joined] = {}
        for subscription, number in rows:
            joined = made.get(number)
            if joined is None or joined.subscription != subscription:
                time_us, ordinal, parts, nodes = events[number]
                ids = tuple(documents[part][2] for part in parts)
                joined = Joined(
                    subscription,
                    ids,
                    tuple(documents[part][1] for part in parts),
                    time_us,
                    ordinal,
                    tuple(
                        JoinedNode(ids[part], start, end, texts[text], texts[value])
                        for part, start, end, text, value in nodes
                    ),
                )
                made[number] = joined
            yield joined


def check_join(query: Query) -> None:
    """See whether a query can be joined.

    Raises:
        QueryError: It needs something that is not evaluated yet.
    """
    RowWriter(Joins()).add(0, 0, compile_query(query))


_TEXTS = JoinTexts()
"""Remembers shapes for the whole process; a query is compiled when it is added and when it runs."""


def compile_query(query: Query) -> JoinQuery:
    """Return the rows of a query that ``is_joining``.

    Raises:
        QueryError: The normal form of a path would be too large.
    """
    if isinstance(query.output, Fragments):
        # A block of a stream by itself reports events of one node.
        return compile_join(replace(query, output=Event((query.output.variable,))))
    if query.language == "xscl" and query.text:
        compiled = _TEXTS.compile(query.text, query.options)
        if isinstance(compiled, JoinQuery):
            return compiled
    return compile_join(query)
