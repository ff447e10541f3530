"""The rows of all subscriptions in the native joins, and what becomes of their results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from penstock.joins.results import Joined, JoinedNode, Renderer, renderer_of
from penstock.joins.writing import RowWriter
from penstock.kernel import Joins
from penstock.planning.templates import JoinQuery
from penstock.planning.templates.compiling import compile_join
from penstock.planning.templates.texts import JoinTexts
from penstock.results import event_id
from penstock.twigs import Event, Fragments, JoinKind, Query


@dataclass(frozen=True, slots=True)
class Subscriber:
    """A subscription: how its results become XML, and the stream that they are published on.

    Where state is divided, several parts of it may find one and the same result of a subscription
    that ``may_repeat``.
    """

    name: str
    query: Query
    render: Renderer
    publish: str | None
    may_repeat: bool


@dataclass(frozen=True, slots=True)
class Published:
    """An event that becomes a document of a stream."""

    document: str
    stream: str
    xml: str
    time_us: int


class Subscribers:
    """The subscriptions of some joins, by their numbers."""

    def __init__(self, joins: Joins) -> None:
        self._joins = joins
        self.writer = RowWriter(joins)
        self._subscribers: dict[int, Subscriber] = {}
        self._publishers: dict[str, set[int]] = {}

    def __getitem__(self, number: int) -> Subscriber:
        return self._subscribers[number]

    def add(self, number: int, version: int, name: str, query: Query) -> None:
        """Add a subscription, which sees documents read under a version from this on.

        Raises:
            QueryError: The query needs something that is not evaluated yet.
        """
        compiled = compile_query(query)
        self.writer.add(number, version, compiled)
        event = compiled.event
        self._subscribers[number] = Subscriber(
            name, query, renderer_of(event), event.publish, _may_repeat(compiled)
        )
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
        delays: dict[str, tuple[int, int]] = {}
        # Streams do not go round in a circle, so delays settle within as many rounds.
        for _ in range(len(self._publishers) + 1):
            before = dict(delays)
            for stream, publishers in self._publishers.items():
                own = [(0, 0), *(self._joins.delay_of(number) for number in publishers)]
                time, depth = max(one[0] for one in own), max(one[1] for one in own)
                delays[stream] = (time, depth)
                self._joins.delay_stream(stream, time, depth)
            if delays == before:
                break

    def take(self) -> Iterator[tuple[Joined, str, Published | None]]:
        """Yield the results that wait, each with its XML and with what it publishes."""
        for joined in self._take():
            subscriber = self._subscribers[joined.subscription]
            xml = subscriber.render(joined.nodes)
            published = None
            if subscriber.publish is not None:
                key = event_id(subscriber.name, joined.documents, joined.ranges)
                published = Published(key, subscriber.publish, xml, joined.time_us)
            yield joined, xml, published

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


_TEXTS = JoinTexts()
"""Remembers shapes for the whole process; a query is compiled when it is added and when it runs."""


def compile_query(query: Query) -> JoinQuery:
    """Return the rows of a query that joins documents.

    Raises:
        QueryError: It needs something that is not evaluated yet.
    """
    if isinstance(query.output, Fragments):
        # A block of a stream by itself reports events of one node.
        return compile_join(replace(query, output=Event((query.output.variable,))))
    if query.language == "xscl" and query.text:
        compiled = _TEXTS.compile(query.text, query.options)
        if isinstance(compiled, JoinQuery):
            return compiled
    return compile_join(query)


def _may_repeat(query: JoinQuery) -> bool:
    is_absence = any(row.kind is JoinKind.NOT_FOLLOWED_BY for row in query.rows)
    return is_absence or len(query.rows) > 1
