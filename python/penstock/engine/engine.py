"""Subscriptions meet documents."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Literal, get_args

from penstock.engine.feeding import error_row, feed
from penstock.engine.origin import Origin
from penstock.engine.push import OpenDocument
from penstock.errors import DocumentError
from penstock.kernel import Session
from penstock.limits import Limits
from penstock.registry import Registry, Snapshot
from penstock.results import Document, Result
from penstock.sources import Input, Source, inputs

if TYPE_CHECKING:
    import pyarrow as pa

Order = Literal["decided", "document"]

_IDLE_MAX = 16


class Engine:
    """Evaluates all subscriptions of a registry over documents, each read once.

    A change of the registry takes effect from the next document on. ``limits`` bound what one
    document may cost. ``lateness`` bounds how late a document may arrive for a join; no
    subscription joins documents yet. ``trust`` permits skipping what nobody asks about; for now
    every byte is checked all the same.
    """

    def __init__(
        self,
        registry: Registry,
        limits: Limits | None = None,
        lateness: timedelta | float | None = None,
        trust: bool = False,
    ) -> None:
        self.registry = registry
        self.limits = limits or Limits()
        self.lateness = lateness
        self.trust = trust
        self._idle: dict[bool, list[Session]] = {True: [], False: []}
        self._pushed = count()

    def run(self, source: Source, order: Order = "decided") -> Iterator[Result]:
        """Yield the results of all subscriptions, while the source is still being read.

        With ``order="decided"`` a result comes as soon as it is decided and complete, with
        ``order="document"`` each subscription's results come in document order. A document that
        is malformed, passes a limit or cannot be read gives one error row, after the results
        that were decided before the error; the next document is not affected.
        """
        steps = self.steps(source, order)
        return (row for rows in steps for row in rows)

    def steps(
        self, source: Source, order: Order = "decided", parts: bool = False
    ) -> Iterator[list[Result]]:
        """Yield the same rows as lists, one for each piece of input that was read.

        Somebody who passes rows on in bulk knows by this that there is nothing more to wait for.
        ``parts`` is that of ``open``.
        """
        options = {"in_document_order": _is_document_order(order), "in_parts": parts}
        return _steps(self.registry, self.limits, source, options)

    def batches(self, source: Source, order: Order = "decided") -> Iterator[pa.RecordBatch]:
        """Yield the same rows as Arrow record batches.

        Small documents share a batch, so a batch may wait for the next document of the source.

        Raises:
            ImportError: pyarrow is not installed; ``pip install penstock[arrow]`` does that.
        """
        from penstock.engine.batches import run_batches

        return run_batches(self.registry, self.limits, source, _is_document_order(order))

    def open(
        self,
        id: str | None = None,  # noqa: A002  # the word that users know
        stream: str = "default",
        time: datetime | float | None = None,
        encoding: str | None = None,
        parts: bool = False,
    ) -> OpenDocument:
        """Open a document that the caller pushes in; any number can be open at once.

        ``encoding`` overrides what the document says of itself. With ``parts`` an element that
        is decided is handed out before it is complete: rows with a piece of its value and no
        ``end``, the last one with its end.

        Raises:
            DocumentError: The encoding is unknown.
        """
        snapshot = self.registry.snapshot()
        idle = self._idle[parts]
        session = idle.pop() if idle else Session(snapshot.plan, self.limits, in_parts=parts)
        session.adopt(snapshot.plan)
        session.begin(encoding)
        document = str(next(self._pushed)) if id is None else id
        event_time = Document(b"", time=time).event_time
        origin = Origin(snapshot.names, document, stream, event_time)
        return OpenDocument(session, origin, lambda session: _release(idle, session))


def _release(idle: list[Session], session: Session) -> None:
    if len(idle) < _IDLE_MAX:
        idle.append(session)


def _steps(
    registry: Registry, limits: Limits, source: Source, options: dict[str, bool]
) -> Iterator[list[Result]]:
    snapshot: Snapshot | None = None
    for document in inputs(source):
        current = registry.snapshot()
        if snapshot is None:
            session = Session(current.plan, limits, **options)
        elif current is not snapshot:
            session.adopt(current.plan)
        snapshot = current
        yield from _read(session, snapshot, document)


def _read(session: Session, snapshot: Snapshot, document: Input) -> Iterator[list[Result]]:
    origin = Origin(snapshot.names, document.document, document.stream, document.event_time)
    failure: DocumentError | None = None
    with closing(feed(session, document)) as pieces:
        while failure is None:
            try:
                next(pieces)
            except StopIteration:
                break
            except DocumentError as error:
                failure = error
            else:
                yield origin.take(session)
    rows = origin.take(session)
    if failure is not None:
        rows.append(error_row(failure, document))
    yield rows


def _is_document_order(order: Order) -> bool:
    if order not in get_args(Order):
        raise ValueError(f"there is no order {order!r}; use `decided` or `document`")
    return order == "document"
