"""The rows of all subscriptions in the native joins, and what becomes of their results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from penstock.errors import DocumentError
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
    """An event that becomes a document of a stream; ``numbers`` are those of its documents."""

    document: str
    stream: str
    xml: str
    time_us: int
    numbers: tuple[int, ...]


class Found(NamedTuple):
    """A result with its XML, or with what is wrong with the document that it should become.

    ``record`` is that document as joins read it, empty if there is none that joins anything.
    """

    joined: Joined
    xml: str
    error: DocumentError | None = None
    record: bytes = b""


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

    def take(self, number_of: Callable[[Published], int], version: int) -> list[Found]:
        """Return the results that wait, and what they publish as records for ``push``.

        A published event is a document: it may pass a limit, and then it is its subscription's
        failure and nobody else's.
        """
        found = []
        for joined in self._take():
            subscriber = self._subscribers[joined.subscription]
            xml = subscriber.render(joined.nodes)
            if subscriber.publish is None:
                found.append(Found(joined, xml))
                continue
            key = event_id(subscriber.name, joined.documents, joined.ranges)
            event = Published(key, subscriber.publish, xml, joined.time_us, joined.numbers)
            try:
                record = self._read(event, number_of(event), version)
            except DocumentError as error:
                found.append(Found(joined, xml, error))
            else:
                found.append(Found(joined, xml, record=record))
        return found

    def _read(self, event: Published, number: int, version: int) -> bytes:
        joins = self._joins
        joins.begin(event.stream)
        joins.feed(event.xml.encode("utf-8", "surrogatepass"))
        return joins.finish(number, event.document, event.time_us, version)

    def _take(self) -> Iterator[Joined]:
        rows, events, documents, texts, _ = self._joins.take()
        made: dict[int, Joined] = {}
        known: dict[tuple[int, ...], JoinedNode] = {}

        def node_of(document: int, start: int, end: int, text: int, value: int) -> JoinedNode:
            # The document that came last is a part of most events, with the same nodes.
            key = (document, start, end, text, value)
            node = known.get(key)
            if node is None:
                id_ = documents[document][2]
                node = known[key] = JoinedNode.of(id_, start, end, texts[text], texts[value])
            return node

        for subscription, number in rows:
            joined = made.get(number)
            if joined is None or joined.subscription != subscription:
                time_us, ordinal, parts, nodes = events[number]
                of_parts = [documents[part] for part in parts]
                joined = made[number] = Joined(
                    subscription,
                    tuple([document[2] for document in of_parts]),
                    tuple([document[0] for document in of_parts]),
                    tuple([document[1] for document in of_parts]),
                    time_us,
                    ordinal,
                    tuple([node_of(parts[part], *rest) for part, *rest in nodes]),
                )
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
