"""The rows of all subscriptions in the native joins, and what becomes of their results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.joins.programs import JoinOutput, is_publishing, output_of
from penstock.joins.results import Joined, JoinedNode, Renderer, renderer_of
from penstock.kernel import Joins
from penstock.results import event_id

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
    """An event that becomes a document of a stream."""

    document: str
    stream: str
    xml: str
    time_us: int


class Subscribers:
    """The subscriptions of some joins, by their numbers."""

    def __init__(self, joins: Joins) -> None:
        self._joins = joins
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

    def take(self) -> Iterator[tuple[Joined, str, Published | None]]:
        """Yield the results that wait, each with its XML and with what it publishes."""
        for joined in self._take():
            subscriber = self[joined.subscription]
            xml = subscriber.render(joined.nodes)
            published = None
            if subscriber.output.publish is not None:
                key = event_id(subscriber.name, joined.documents, joined.ranges)
                published = Published(key, subscriber.output.publish, xml, joined.time_us)
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
