"""Subscriptions to several streams on Spark: their bindings as documents, tuples as rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import NamedTuple

from penstock.engine.tuples import TUPLE_BYTES_MAX, TUPLES_MAX, Messages
from penstock.errors import DocumentError
from penstock.joins import Joined, Published, Subscribers, TupleBinding, WitnessReader
from penstock.kernel import Batch, Joins, Plan, WholeDocument, escape
from penstock.limits import Limits
from penstock.planning.bindings import BindingProgram
from penstock.planning.bindings.records import BINDING, DOCUMENT, KEY, BindingRecords
from penstock.planning.program import Request, request_of
from penstock.results import Result

Add = Callable[[Result, int | None], None]
"""Takes a row, and what tells it from others of its id where it may be found twice."""

_PREFIX = "\1"
"""What the id of a binding begins with: the number of its document, its own, the document's id."""

BUNDLE_BINDINGS = 1024
"""So many bindings become records together."""


class Bound(NamedTuple):
    """What one side bound in a document: its number among all sides, the number of the binding in
    the loop, values by key, fragment."""

    side: int
    number: int
    values: list[tuple[int, bytes]]
    fragment: bytes


class Origin(NamedTuple):
    """The document that a binding comes from."""

    number: int
    document: str
    time_us: int


@dataclass(slots=True)
class _Subscription:
    """A subscription to several streams."""

    name: str
    program: BindingProgram
    records: BindingRecords
    messages: Messages | None = None
    waiting: list[tuple[TupleBinding, ...]] = field(default_factory=list)
    """Tuples that are to become rows together: a message by itself costs much more."""
    waiting_bytes: int = 0
    parts: dict[tuple[str, ...], int] = field(default_factory=dict)
    """What tells the documents of a tuple that waits from others with their ids."""


class BoundSubscriptions:
    """The subscriptions to several streams among those of some joins, by their numbers.

    ``lower`` gives the program that the joins evaluate. Sessions that read documents have the
    plan of all sides; ``records`` makes records of what they bind. A result of the joins is a tuple
    of bindings, and goes to ``add``.
    """

    def __init__(self, joins: Joins, limits: Limits) -> None:
        self._limits = limits
        self._joins = joins
        self._subscriptions: dict[int, _Subscription] = {}
        self._sides: dict[bytes, dict[str, int]] = {}
        """By program: the streams of its bindings, each with the number of sides that read it."""
        self._reader: WitnessReader | None = None

    def __contains__(self, number: int) -> bool:
        return number in self._subscriptions

    def lower(self, number: int, name: str, program: bytes) -> bytes:
        """Return the program of a subscription as joins of documents evaluate it."""
        if request_of(program) is not Request.BINDINGS:
            return program
        bound = BindingProgram.read(program)
        one = _Subscription(name, bound, BindingRecords.of(bound))
        self._subscriptions[number] = one
        for side, stream in zip(bound.sides, one.records.streams, strict=True):
            streams = self._sides.setdefault(side.program, {})
            streams[stream] = streams.get(stream, 0) + 1
        return one.records.program

    def remove(self, number: int) -> None:
        """Forget a subscription, if it is one to several streams."""
        one = self._subscriptions.pop(number, None)
        if one is None:
            return
        for side, stream in zip(one.program.sides, one.records.streams, strict=True):
            streams = self._sides[side.program]
            streams[stream] -= 1
            if not streams[stream]:
                del streams[stream]
            if not streams:
                del self._sides[side.program]

    @property
    def sides(self) -> tuple[bytes, ...]:
        """The programs of all sides, each once, in the order of their numbers."""
        return tuple(self._sides)

    def plan(self) -> Plan:
        """Return the plan of all sides."""
        return Plan.build([*self._sides])

    def failures(self, side: int, error: DocumentError) -> Iterator[DocumentError]:
        """Yield the error of a side, by its number, for each subscription that it belongs to."""
        program = self.sides[side]
        for one in self._subscriptions.values():
            if any(own.program == program for own in one.program.sides):
                yield copy(error).of_subscription(one.name)

    def bind_published(self, subscribers: Subscribers) -> None:
        """Let the sides read what subscribers publish; to be called after every change."""
        session = subscribers.reader.session
        session.adopt(self.plan())

        def bind(
            batch: Batch, event: Published, number: int, version: int
        ) -> Iterator[bytes | DocumentError]:
            for _, side, failure in session.take_failing():
                yield from self.failures(side, failure)
            found = [
                Bound(side, at, values, fragment)
                for _, side, at, values, fragment in batch.take_bindings(0).bindings()
            ]
            origin = Origin(number, event.document, event.time_us)
            yield from self.records([(origin, found)], version)

        subscribers.bind = bind

    def records(
        self, bound: Iterable[tuple[Origin, Sequence[Bound]]], version: int
    ) -> Iterator[bytes | DocumentError]:
        """Yield the records of what documents bind, or what is wrong with one."""
        streams = [tuple(own) for own in self._sides.values()]
        has_documents = any(any(one.program.by_document) for one in self._subscriptions.values())
        bundle: list[tuple[str, bytes, int, str, int]] = []
        for origin, bindings in bound:
            for side, at, values, fragment in bindings:
                source = origin.number if has_documents else None
                document = binding_document(values, fragment, source)
                id_ = f"{_PREFIX}{origin.number} {at} {origin.document}"
                for stream in streams[side]:
                    number = _number(stream, id_, origin.time_us)
                    bundle.append((stream, document, number, id_, origin.time_us))
            if len(bundle) >= BUNDLE_BINDINGS:
                yield from self._records(bundle, version)
                bundle = []
        if bundle:
            yield from self._records(bundle, version)

    def _records(
        self, bundle: Sequence[tuple[str, bytes, int, str, int]], version: int
    ) -> Iterator[bytes | DocumentError]:
        if self._reader is None:
            # A fragment passed the limits already, and lies two elements deeper now.
            limits = replace(self._limits, depth_max=self._limits.depth_max + 2)
            self._reader = WitnessReader(self._joins, limits)
        session = self._reader.session
        documents: list[WholeDocument] = [
            (document, None, stream) for stream, document, _, _, _ in bundle
        ]
        count, errors = session.read(documents)
        assert count == len(documents), "nothing but witnesses is asked for"
        yield from (error for _, error in errors)
        for place, witness in session.take().witnesses():
            _, _, number, id_, time_us = bundle[place]
            record = self._joins.record(witness, number, id_, time_us, version)
            # What has no value for one of its keys joins nothing.
            if record:
                yield record

    def add(self, joined: Joined, is_repeated: bool, add: Add) -> None:
        """Take a tuple of bindings; hand out the rows of those that wait, if they are many."""
        one = self._subscriptions[joined.subscription]
        ids = [id_[len(_PREFIX) :].split(" ", 2) for id_ in joined.documents]
        by_side = sorted(zip(one.records.order, ids, joined.times_us, strict=True))
        within = one.program.within_us
        if within is not None and max(joined.times_us) - min(joined.times_us) > within:
            # Joined one by one, the first and the last may be further apart.
            return
        documents = tuple([id_ for _, (_, _, id_), _ in by_side])
        numbers = [number for _, (number, _, _), _ in by_side]
        parts = _digest(" ".join(numbers))
        if one.parts.setdefault(documents, parts) != parts:
            self._flush(one, is_repeated, add)
            one.parts[documents] = parts
        made = []
        for (_, (_, at, id_), time_us), node in zip(by_side, joined.nodes, strict=True):
            fragment = node.text.encode("utf-8", "surrogatepass")
            made.append(TupleBinding(id_, int(at), time_us, fragment))
            one.waiting_bytes += len(fragment)
        one.waiting.append(tuple(made))
        if len(one.waiting) == TUPLES_MAX or one.waiting_bytes >= TUPLE_BYTES_MAX:
            self._flush(one, is_repeated, add)

    def flush(self, add: Add, is_repeated: Callable[[int], bool]) -> None:
        """Hand out the rows of all tuples that wait."""
        for number, one in self._subscriptions.items():
            if one.waiting:
                self._flush(one, is_repeated(number), add)

    def _flush(self, one: _Subscription, is_repeated: bool, add: Add) -> None:
        if one.messages is None:
            last = one.program.sides[-1].stream
            one.messages = Messages({one.name: one.program.message}, last, self._limits)
        waiting, parts = one.waiting, one.parts
        one.waiting, one.waiting_bytes, one.parts = [], 0, {}
        for row in one.messages.rows(waiting):
            add(row, parts[row.documents or ()] if is_repeated else None)


def source_of(id_: str) -> str:
    """Return the id of a document, or of that which a binding comes from."""
    return id_.split(" ", 2)[2] if id_.startswith(_PREFIX) else id_


def binding_document(
    values: Iterable[tuple[int, bytes]], fragment: bytes, source: int | None = None
) -> bytes:
    """Return the document of a binding, of the values of its keys and its fragment.

    ``source`` is the number of the document that it is from, where that is asked for.
    """
    parts = [f"<{BINDING}>".encode(), fragment]
    if source is not None:
        parts.append(f"<{DOCUMENT}>{source}</{DOCUMENT}>".encode())
    for key, value in values:
        text = escape(value.decode("utf-8", "surrogatepass")).encode("utf-8", "surrogatepass")
        name = f"{KEY}{key}".encode()
        parts.append(b"<%s>%s</%s>" % (name, text, name))
    parts.append(f"</{BINDING}>".encode())
    return b"".join(parts)


def _number(stream: str, id_: str, time_us: int) -> int:
    """Return what tells a binding from all others, whoever reads it and however often."""
    told = f"{stream} {time_us} {id_}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(told, digest_size=8).digest(), "little")


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)
