"""The rows that a task finds, and the records that it sends to buckets, wherever they go."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from penstock.engine.joining import found_row
from penstock.engine.push import PushedInput
from penstock.engine.rows import error_row
from penstock.errors import DocumentError
from penstock.joins import Found, Published
from penstock.joins.spilling import Queue
from penstock.kernel import error_of
from penstock.results import Result
from penstock.spark.joins.bindings import Bound, Origin, source_of
from penstock.spark.joins.planned import Planned


class Outlet(Protocol):
    """Where a task puts what it finds."""

    def send(self, buckets: list[int], record: bytes) -> None:
        """Take a record for buckets."""

    def add(self, row: Result, parts: int | None = None) -> None:
        """Take a row; ``parts`` tells rows apart that other tasks may have found as well."""

    def add_batch(self, batch: Any) -> None:
        """Take rows that are columns already."""


class Findings:
    """What a task finds in one bucket, or in documents as they come."""

    def __init__(self, planned: Planned, buckets: int, version: int, outlet: Outlet) -> None:
        self._planned = planned
        self._buckets = buckets
        self._version = version
        self.outlet = outlet

    def send_bound(self, bound: Iterable[tuple[Origin, Sequence[Bound]]]) -> None:
        """Send what documents bind to its buckets."""
        for record in self._planned.bound.records(bound, self._version):
            if isinstance(record, DocumentError):
                self.add_failure(record)
            else:
                self._route(record)

    def send(self, record: bytes) -> None:
        """Take what a record gives by itself, and send it to its buckets."""
        failure = self._planned.joins.report_alone(record)
        if failure is not None:
            self.add_failure(error_of(failure))
        self._route(record)

    def add_failure(self, error: DocumentError, document: str = "") -> None:
        """Add the row of something that passed a limit while it was joined."""
        self.outlet.add(error_row(error, PushedInput(source_of(document), "default", None)))

    def settle(self) -> None:
        """Take all results that wait, and send off what they publish and lead to."""
        joins, subscribers = self._planned.joins, self._planned.subscribers
        is_derived = False
        while joins.has_results():
            with Queue() as published:
                while joins.has_results():
                    for one in subscribers.take(_published_number, self._version):
                        if not isinstance(one, Found):
                            self.add_failure(one)
                            continue
                        self._add(one, is_derived)
                        for record in one.records:
                            published.put(record)
                for record in published:
                    self.send(record)
            # Several tasks may publish one event, and each asks what it gives by itself.
            is_derived = True
        self._planned.bound.flush(self.outlet.add, self._may_repeat)
        for record in joins.take_partials():
            self._route(record)

    def _route(self, record: bytes) -> None:
        self.outlet.send(self._planned.joins.route(record, self._buckets), record)

    def _add(self, found: Found, is_derived: bool) -> None:
        number, bound = found.joined.subscription, self._planned.bound
        subscriber = self._planned.subscribers[number]
        is_repeated = is_derived or subscriber.output.may_repeat
        if number in bound and found.error is None:
            bound.add(found.joined, is_repeated, self.outlet.add)
            return
        parts = _digest(found.joined.numbers) if is_repeated else None
        self.outlet.add(found_row(subscriber, found), parts)

    def _may_repeat(self, number: int) -> bool:
        return self._planned.subscribers[number].output.may_repeat


def document_number(stream: str, document: str, time_us: int, content: bytes) -> int:
    """Return what tells a document from all others, whoever reads it and however often."""
    told = repr((stream, document, time_us)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(told + content, digest_size=8).digest(), "little")


def _published_number(event: Published) -> int:
    """Return the number of a published event: its own, even among documents of one id."""
    content = _digest(event.numbers).to_bytes(8, "little", signed=True)
    return document_number(event.stream, event.document, event.time_us, content)


def _digest(numbers: tuple[int, ...]) -> int:
    """Return what tells the documents of one result from others with the same ids."""
    digest = hashlib.blake2b(repr(numbers).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)
