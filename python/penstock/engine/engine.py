"""Subscriptions meet documents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Literal, get_args

from penstock.engine.feeding import error_row, feed
from penstock.engine.follower import Follower
from penstock.engine.joining import Joining
from penstock.engine.origin import Origin
from penstock.engine.push import OpenDocument
from penstock.engine.usage import EngineStatistics, Usage
from penstock.errors import DocumentError
from penstock.joins import JoinOptions
from penstock.limits import Limits
from penstock.registry import AnyRegistry
from penstock.results import Document, Heartbeat, Result
from penstock.results.documents import microseconds_of
from penstock.sources import Input, Source, items
from penstock.sources.inputs import WHOLE_BYTES_MAX

if TYPE_CHECKING:
    import pyarrow as pa

    from penstock.engine.matches import Matches

Order = Literal["decided", "document"]

_IDLE_MAX = 16


class Engine:
    """Evaluates all subscriptions of a registry over documents, each read once.

    A change of the registry takes effect from the next document on. ``limits`` bound what one
    document may cost. ``lateness`` is how far the watermark of joins lies behind the latest event
    time of any document, in seconds: a document from before it gives an error row and is not
    joined. Without it nothing that a window may still need is dropped. ``joins`` says how joins
    run. ``trust`` permits to stop reading a document when nothing of it can matter any more: what
    follows is not checked then.

    Raises:
        ValueError: The lateness is negative, or no number.
    """

    def __init__(
        self,
        registry: AnyRegistry,
        limits: Limits | None = None,
        lateness: timedelta | float | None = None,
        trust: bool = False,
        joins: JoinOptions | None = None,
    ) -> None:
        self.registry = registry
        self.limits = limits or Limits()
        self.lateness = lateness
        self.trust = trust
        self.joins = replace(joins or JoinOptions(), lateness=lateness)
        self._idle: defaultdict[frozenset[str], list[Follower]] = defaultdict(list)
        self._usage = Usage()
        self._pushed = count()

    def run(self, source: Source, order: Order = "decided") -> Iterator[Result]:
        """Yield the results of all subscriptions, while the source is still being read.

        With ``order="decided"`` a result comes as soon as it is decided and complete, with
        ``order="document"`` each subscription's results come in document order. A document that
        is malformed, passes a limit or cannot be read gives one error row, after the results
        that were decided before the error; the next document is not affected. Documents are
        joined as they are read; the joins of a run begin and end with it. What one subscription
        cannot do with what it joined is an error row of that subscription.
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
        return self._steps(source, options)

    def batches(self, source: Source, order: Order = "decided") -> Iterator[pa.RecordBatch]:
        """Yield the same rows as Arrow record batches.

        Small documents share a batch, so a batch may wait for the next document of the source.

        Raises:
            ImportError: pyarrow is not installed; ``pip install penstock[arrow]`` does that.
        """
        from penstock.engine.batches import batch_rows, run_batches

        if self.registry.is_joining():
            return batch_rows(self.steps(source, order))
        in_order = _is_document_order(order)
        return run_batches(self._followed(in_document_order=in_order), source)

    def matches(self, source: Source) -> Iterator[Matches]:
        """Yield what documents gave in bulk: who found something, and each node once.

        It is for many subscriptions that find much: nothing is made for each pair of a
        subscription and a node. Subscriptions that join documents have no part in it.

        Raises:
            ImportError: pyarrow is not installed; ``pip install penstock[arrow]`` does that.
        """
        from penstock.engine.matches import run_matches

        return run_matches(self._followed(), source)

    def explain(self) -> str:
        """Return how the subscriptions of the moment are evaluated, and by which structures."""
        follower = self._follower()
        lines = [f"{len(self.registry):,} subscriptions, version {follower.version}"]
        tiers = [tier for tier in follower.session.structures() if any(tier)]
        for number, (asked, matched) in enumerate(tiers, start=1):
            lines.append(f"tier {number}")
            if asked:
                lines.append(f"  {asked:,} questions: asked of each small document as a whole")
            if matched:
                lines.append(f"  {matched:,} questions: matched event by event")
        if tiers:
            lines.append(f"documents above {WHOLE_BYTES_MAX:,} bytes, and those that are fed:")
            lines.append("  all questions: matched event by event")
        return "\n".join(lines)

    def statistics(self) -> EngineStatistics:
        """Return what each subscription did in this engine, and what it cost.

        Matches are counted always, the work is sampled. Other processes count for themselves.
        """
        return self._usage.statistics()

    def open(
        self,
        id: str | None = None,  # noqa: A002  # the word that users know
        stream: str = "default",
        time: datetime | float | None = None,
        encoding: str | None = None,
        parts: bool = False,
        live: bool = False,
    ) -> OpenDocument:
        """Open a document that the caller pushes in; any number can be open at once.

        ``encoding`` overrides what the document says of itself. With ``parts`` an element that
        is decided is handed out before it is complete: rows with a piece of its value and no
        ``end``, the last one with its end.

        With ``live`` the document is a stream that does not end: what is added to the registry is
        active from the next start tag that is fed, for elements opened from then on, and what is
        removed is silent from the next piece on. A subscription that comes later knows the names
        and attributes of the elements that are open, not what they contained. Each piece that
        follows a change adds a plan for the rest of the document.

        Raises:
            DocumentError: The encoding is unknown, or the time is no event time.
        """
        idle = [] if live else self._idle_ones(in_parts=parts)
        follower = self._borrow(idle, in_parts=parts, is_live=live)
        follower.session.begin(encoding)
        document = str(next(self._pushed)) if id is None else id
        event_time = Document(b"", time=time).event_time
        origin = Origin(follower.names, document, stream, event_time)
        return OpenDocument(follower, origin, lambda one: None if live else _release(idle, one))

    def _follower(self, **options: bool) -> Follower:
        return Follower(self.registry, self.limits, self._usage, is_trusting=self.trust, **options)

    @contextmanager
    def _followed(self, **options: bool) -> Iterator[Follower]:
        """Give a follower for the time of a run.

        One that comes to the end of its run is kept for the next: it knows the plan already.
        """
        idle = self._idle_ones(**options)
        follower = self._borrow(idle, **options)
        try:
            yield follower
        except BaseException:
            # In the middle of a document a session is of no use to anybody else.
            follower.settle()
            raise
        _release(idle, follower)

    def _borrow(self, idle: list[Follower], **options: bool) -> Follower:
        try:
            follower = idle.pop()
        except IndexError:  # another thread may have been faster
            follower = self._follower(**options)
        follower.advance()
        return follower

    def _idle_ones(self, **options: bool) -> list[Follower]:
        return self._idle[frozenset(name for name, is_on in options.items() if is_on)]

    def _steps(self, source: Source, options: dict[str, bool]) -> Iterator[list[Result]]:
        joining = Joining(self.registry, self.limits, self.joins)
        with self._followed(**options) as follower, closing(joining):
            for item in items(source):
                follower.advance()
                joining.follow(follower.snapshot)
                if isinstance(item, Heartbeat):
                    yield joining.advance(microseconds_of(item.event_time))
                else:
                    yield from _read(follower, item, joining)
            yield joining.end()


def _release(idle: list[Follower], follower: Follower) -> None:
    if len(idle) < _IDLE_MAX:
        idle.append(follower)
    else:
        follower.settle()


def _read(follower: Follower, document: Input, joining: Joining) -> Iterator[list[Result]]:
    session = follower.session
    origin = Origin(follower.names, document.document, document.stream, document.event_time)
    failure: DocumentError | None = None
    joined: list[Result] = []
    fed = feed(session, document, joining.reader, is_trusting=follower.is_trusting)
    with closing(fed) as pieces:
        while failure is None:
            try:
                next(pieces)
            except StopIteration:
                break
            except DocumentError as error:
                failure = error
            else:
                yield origin.take(session)
    if failure is None:
        try:
            joined = joining.finish(document)
        except DocumentError as error:
            failure = error
    rows = origin.take(session) + joined
    if failure is not None:
        rows += [error_row(failure, document), *joining.pass_by(document)]
    yield rows


def _is_document_order(order: Order) -> bool:
    if order not in get_args(Order):
        raise ValueError(f"there is no order {order!r}; use `decided` or `document`")
    return order == "document"
