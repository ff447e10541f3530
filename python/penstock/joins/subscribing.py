"""The rows of all subscriptions in the native joins, and what becomes of their results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from penstock.errors import DocumentError, LimitError
from penstock.joins.reading import WitnessReader
from penstock.joins.results import Joined, JoinedNode, Renderer, renderer_of
from penstock.kernel import Batch, Joins, error_of
from penstock.limits import Limits
from penstock.planning.records import JoinOutput, is_publishing, output_of
from penstock.results import event_id

_Parts = tuple[tuple[str, ...], tuple[int, ...], tuple[int, ...]]
"""Ids, numbers and event times of the documents of a result, in block order."""
Delay = tuple[int, int]
"""Microseconds, and how many absences stand one before the other."""
NO_DELAY: Delay = (0, 0)


@dataclass(frozen=True, slots=True)
class Subscriber:
    """A subscription: what becomes of its results, and how they become XML."""

    name: str
    output: JoinOutput
    render: Renderer


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

    ``records`` are that document as joins read it, none if it joins nothing.
    """

    joined: Joined
    xml: str
    error: DocumentError | None = None
    records: Sequence[bytes] = ()


Outcome = Found | DocumentError
"""A result, or what ended the results before their end."""

Bind = Callable[[Batch, Published, int, int], Iterator[bytes | DocumentError]]
"""Makes records of what a published event binds, by its number and version."""


class Subscribers:
    """The subscriptions of some joins, by their numbers."""

    def __init__(self, joins: Joins, limits: Limits | None = None) -> None:
        self._joins = joins
        self._limits = limits or Limits()
        self.reader = WitnessReader(joins, limits)
        self.bind: Bind | None = None
        """Set where bindings are joined as documents, which the reader's plan gathers."""
        self._programs: dict[int, tuple[str, bytes]] = {}
        self._subscribers: dict[int, Subscriber] = {}
        """Those that had results so far: what becomes of results takes room."""
        self._publishers: dict[str, set[int]] = {}
        self._delays: dict[str, Delay] = {}
        self._unsettled: list[tuple[str, int]] = []
        self._is_settled = True

    def __getitem__(self, number: int) -> Subscriber:
        if number not in self._subscribers:
            name, program = self._programs[number]
            output = output_of(program)
            self._subscribers[number] = Subscriber(name, output, renderer_of(output.event))
        return self._subscribers[number]

    def add(self, number: int, version: int, name: str, program: bytes) -> None:
        """Add a subscription, which sees documents read under a version from this on."""
        self._joins.add(number, version, program)
        self._programs[number] = (name, program)
        stream = self._published_by(number)
        if stream is not None:
            self._publishers.setdefault(stream, set()).add(number)
            self._unsettled.append((stream, number))

    def remove(self, number: int) -> None:
        """Remove a subscription."""
        stream = self._published_by(number)
        del self._programs[number]
        self._subscribers.pop(number, None)
        if stream is not None:
            self._publishers[stream].discard(number)
            if not self._publishers[stream]:
                del self._publishers[stream]
            # A stream comes as late as the latest of its publishers: others may go unnoticed.
            own, known = self._joins.delay_of(number), self._delays.get(stream, NO_DELAY)
            is_latest = own[0] >= known[0] or own[1] >= known[1]
            self._is_settled &= known == NO_DELAY or not is_latest
        self._joins.remove(number)

    def _published_by(self, number: int) -> str | None:
        return self[number].output.publish if is_publishing(self._programs[number][1]) else None

    def publishes(self, stream: str) -> bool:
        """Return whether a stream is published."""
        return stream in self._publishers

    @property
    def delay_us(self) -> int:
        """How much later than its event time a published stream may come, in microseconds."""
        return max((time_us for time_us, _ in self._delays.values()), default=0)

    def settle(self) -> None:
        """Take note of all changes: how much later than its event time a stream may come."""
        for stream, number in self._unsettled:
            if number in self._publishers.get(stream, ()):
                own, known = self._joins.delay_of(number), self._delays.get(stream, NO_DELAY)
                self._is_settled &= own[0] <= known[0] and own[1] <= known[1]
        self._unsettled.clear()
        if not self._is_settled:
            self._settle()

    def _settle(self) -> None:
        self._is_settled = True
        streams = dict.fromkeys([*self._publishers, *self._delays])
        # Streams do not go round in a circle, so delays settle within as many rounds.
        for _ in range(len(streams) + 1):
            before = dict(self._delays)
            for stream in streams:
                publishers = self._publishers.get(stream, ())
                own = [NO_DELAY, *(self._joins.delay_of(number) for number in publishers)]
                time, depth = max(one[0] for one in own), max(one[1] for one in own)
                self._delays[stream] = (time, depth)
                self._joins.delay_stream(stream, time, depth)
            if self._delays == before:
                break
        self._delays = {stream: one for stream, one in self._delays.items() if one != NO_DELAY}

    def take(self, number_of: Callable[[Published], int], version: int) -> list[Outcome]:
        """Return the next batch of the results that wait, and what they publish as records.

        A published event is a document: it may pass a limit, and then it is its subscription's
        failure and nobody else's. A subscription that has more results than ``results_max`` ends
        with a failure, and results that cost more than a limit end with an error.
        """
        rows, failure = self._take()
        found: list[Outcome] = []
        for joined, is_beyond in rows:
            subscriber = self[joined.subscription]
            if is_beyond:
                found.append(Found(joined, "", self._too_many))
                continue
            xml = subscriber.render(joined.nodes)
            stream = subscriber.output.publish
            if stream is None:
                found.append(Found(joined, xml))
                continue
            key = event_id(subscriber.name, joined.documents, joined.ranges)
            event = Published(key, stream, xml, joined.time_us, joined.numbers)
            try:
                read = self._read(event, number_of(event), version)
            except DocumentError as error:
                found.append(Found(joined, xml, error))
            else:
                records = [one for one in read if isinstance(one, bytes)]
                found.append(Found(joined, xml, records=records))
                found += [one for one in read if isinstance(one, DocumentError)]
        if failure is not None:
            found.append(failure)
        return found

    def _read(self, event: Published, number: int, version: int) -> list[bytes | DocumentError]:
        data = event.xml.encode("utf-8", "surrogatepass")
        witness, batch = self.reader.read_all(event.stream, [data])
        record = self._joins.record(witness, number, event.document, event.time_us, version)
        found: list[bytes | DocumentError] = [record] if record else []
        if self.bind is not None:
            found += self.bind(batch, event, number, version)
        return found

    def _take(self) -> tuple[Iterator[tuple[Joined, bool]], DocumentError | None]:
        rows, events, documents, texts, _, beyond, failure = self._joins.take()
        error = None if failure is None else error_of(failure)
        joined = self._joined(rows, events, documents, texts)
        ends = set(beyond)
        return ((one, at in ends) for at, one in enumerate(joined)), error

    @property
    def _too_many(self) -> LimitError:
        reason = f"the subscription has more than {self._limits.results_max} results at once"
        return LimitError("PL0016", reason, 0, 0, "", limit="results_max")

    def _joined(
        self,
        rows: Sequence[tuple[int, int]],
        events: Sequence[Any],
        documents: Sequence[tuple[int, int, str]],
        texts: Sequence[str],
    ) -> Iterator[Joined]:
        made: dict[int, Joined] = {}
        known: dict[tuple[int, ...], JoinedNode] = {}
        shared: dict[tuple[int, ...], _Parts] = {}

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
                key = tuple(parts)
                of_parts = shared.get(key)
                if of_parts is None:
                    numbers, times_us, ids = zip(*(documents[part] for part in parts), strict=True)
                    of_parts = shared[key] = ids, numbers, times_us
                joined = made[number] = Joined(
                    subscription,
                    *of_parts,
                    time_us,
                    ordinal,
                    tuple([node_of(parts[part], *rest) for part, *rest in nodes]),
                )
            yield joined
