"""The engine: evaluates a registry over documents."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Literal, get_args
from weakref import WeakSet

from penstock.engine.assumed import AssumingRegistry, joins_under, rows_under
from penstock.engine.binding import Binder
from penstock.engine.checking import CheckingDriver, TrustingDriver
from penstock.engine.driver import EACH_PIECE, Driver, Pace, Portion
from penstock.engine.explaining import explain_stream
from penstock.engine.follower import Follower
from penstock.engine.gathering import GatheringRegistry
from penstock.engine.joining import Joining
from penstock.engine.pool import Active, Pool
from penstock.engine.push import OpenDocument, PushedInput
from penstock.engine.rows import rows_of
from penstock.engine.silence import Listening, Silence
from penstock.engine.streams import Streams, used_schemas
from penstock.engine.suspension import SUSPEND_AFTER, Suspensions
from penstock.engine.usage import EngineStatistics, Usage
from penstock.errors import DocumentError, SettingError
from penstock.joins import JoinOptions
from penstock.kernel import WHOLE_BYTES_MAX
from penstock.limits import Limits
from penstock.planning.brokering import BrokerOptions
from penstock.planning.program import Request
from penstock.registry import AnyRegistry
from penstock.registry.requests import require_requests
from penstock.registry.subscriptions import Snapshot
from penstock.results import Document, Heartbeat, Result
from penstock.results.arrow import load_arrow
from penstock.results.documents import microseconds_of
from penstock.results.html import Text
from penstock.schemas import Schema
from penstock.sources import Input, Source
from penstock.sources.intake import Damaged, Documents, Intake
from penstock.sources.paths import RecordPath

if TYPE_CHECKING:
    import pyarrow as pa

    from penstock.engine.asynchronous import AsyncSource
    from penstock.engine.matches import Matches
    from penstock.engine.tables import TableRows

Order = Literal["decided", "document"]
Sources = Mapping[str, Source]
"""Streams, each with its source."""


class Engine:
    """Evaluates all subscriptions of a registry over documents, each read once.

    A change of the registry takes effect from the next document on. ``limits`` bound what one
    document may cost. ``lateness`` is how far the watermark of joins lies behind the latest event
    time of any document, in seconds: a document from before it gives an error row and is not
    joined. Without it nothing that a window may still need is dropped. ``joins`` says how joins
    run. ``trust`` permits to stop reading a document when nothing of it can matter any more: what
    follows is not checked then. A subscription that passes a limit of its own on
    ``suspend_after`` documents in a row is suspended until ``resume``; None suspends nobody.
    ``streams`` gives streams other names, as ``{"doc.xml": "default"}``: ``doc("doc.xml")`` of a
    query in XQuery then reads the documents of ``default``. ``schemas`` are those of streams, as
    ``{"default": penstock.schema("shop.dtd")}``; the mode of each says whether it is trusted or
    checked. ``broker`` says how queries in XQuery of one form are asked of small documents.
    ``documents="many"`` reads several documents, one after the other, out of each input.
    ``damaged`` says what a document gives that is not well-formed: what was decided before the
    error (``"stop"``), nothing (``"reject"``), or all but the damaged records (``"skip"``);
    ``record`` is the path of these, which a table has itself.

    An engine may be used from several threads at once: each call of ``run``, ``batches`` or
    ``matches`` is a run of its own, and what it returns belongs to one thread at a time, as does
    an open document. Reading releases the interpreter's lock. The registry may change meanwhile.

    >>> import penstock
    >>> registry = penstock.Registry()
    >>> _ = registry.add("cheap", "//book[price < 11]/title")
    >>> shop = "<shop><book><title>Rivers</title><price>9.50</price></book></shop>"
    >>> for row in penstock.Engine(registry).run(shop):
    ...     print(row.subscription, row.value)
    cheap <title>Rivers</title>

    Raises:
        ValueError: The lateness is negative, or no number; ``suspend_after`` is below 1.
        SettingError: A schema is none; ``documents`` or ``damaged`` has another value.
        TypeError: The registry is none.
    """

    def __init__(
        self,
        registry: AnyRegistry,
        limits: Limits | None = None,
        lateness: timedelta | float | None = None,
        trust: bool = False,
        joins: JoinOptions | None = None,
        suspend_after: int | None = SUSPEND_AFTER,
        streams: Mapping[str, str] | None = None,
        schemas: Mapping[str, Schema] | None = None,
        broker: BrokerOptions | None = None,
        documents: Documents = "one",
        damaged: Damaged = "stop",
        record: RecordPath | str | None = None,
    ) -> None:
        if not hasattr(registry, "snapshot"):
            raise TypeError(
                f"an engine takes a registry, not {registry!r}: registry = penstock.Registry(); "
                "registry.add('name', '//book'); penstock.Engine(registry)"
            )
        self.registry = registry
        self._suspensions = Suspensions(registry, suspend_after)
        self._active: Active = WeakSet()
        self.limits = limits or Limits()
        self.lateness = lateness
        self.trust = trust
        self.joins = replace(joins or JoinOptions(), lateness=lateness)
        self.schemas = used_schemas(schemas)
        self._under: dict[str, AssumingRegistry] = {
            stream: rows_under(registry, one, is_fed=False) for stream, one in self.schemas.items()
        }
        self._fed_under: dict[str, AssumingRegistry] = {
            stream: rows_under(registry, one, is_fed=True, with_end=trust)
            for stream, one in self.schemas.items()
            if one.mode == "trust"
        }
        self._joined = joins_under(registry, self.schemas)
        self._gathering = GatheringRegistry(registry, is_served=not self.schemas)
        self._usage = Usage()
        self._pushed = count()
        self._joining = self._new_joining()
        self._binder = Binder(self.limits, self.joins)
        self._silence = Silence(registry)
        self.streams = dict(streams or {})
        self.broker = broker or BrokerOptions()
        self._intake = Intake(documents, damaged, record)
        self._pool = Pool(
            self.limits,
            self._usage,
            self._suspensions,
            self._active,
            self.streams,
            self.broker,
            is_trusting=trust,
        )

    def run(self, source: Source | Sources, order: Order = "decided") -> Iterator[Result]:
        """Yield the results of all subscriptions, while the source is still being read.

        With ``order="decided"`` a result comes as soon as it is decided and complete, with
        ``order="document"`` each subscription's results come in document order. A document that
        is malformed, passes a limit or cannot be read gives one error row, after the results
        that were decided before the error; the next document is not affected. Documents are
        joined as they are read; the joins of a run begin and end with it. What one subscription
        cannot do with what it joined is an error row of that subscription. A subscription that
        gave no row by the end of a run is warned of with the likely reason, once
        (``PenstockWarning``).

        The source may be a mapping of streams to sources, as ``{"news": …, "blogs": …}``: they
        are read side by side, at the speed at which they arrive, and what they give are documents
        of these streams.
        """
        steps = self.steps(source, order)
        return (row for rows in steps for row in rows)

    def arun(self, source: AsyncSource, order: Order = "decided") -> AsyncIterator[Result]:
        """Return the rows of ``run`` for ``async for``; the event loop stays free.

        The source may be an asynchronous iterable of documents, or have an asynchronous ``read``.
        The documents are read in a thread of this run. Leaving the loop early ends the run.

        >>> import asyncio, penstock
        >>> registry = penstock.Registry()
        >>> _ = registry.add("b", "//b")
        >>> async def main():
        ...     return [row.value async for row in penstock.Engine(registry).arun("<a><b/></a>")]
        >>> asyncio.run(main())
        ['<b/>']
        """
        from penstock.engine.asynchronous import rows_of

        _is_document_order(order)
        return rows_of(lambda given: self.steps(given, order), source)

    def steps(
        self, source: Source | Sources, order: Order = "decided", parts: bool = False
    ) -> Iterator[list[Result]]:
        """Yield the same rows as lists, one for each piece of input that was read.

        Somebody who passes rows on in bulk knows by this that there is nothing more to wait for.
        ``parts`` is that of ``open``.
        """
        is_ordered = _is_document_order(order)
        listening = Listening(self._silence)
        if isinstance(source, Mapping):
            if self.schemas:
                message = "an engine with schemas reads one source; leave them away, or chain them"
                raise SettingError("PM0011", message)
            portions = self._beside(source, listening, in_document_order=is_ordered, in_parts=parts)
            return listening.rows(rows_of(portions))
        read = listening.documents(self._intake.items(source, self.limits))
        portions = self._portions(read, in_document_order=is_ordered, in_parts=parts)
        return listening.rows(rows_of(portions))

    def batches(self, source: Source, order: Order = "decided") -> Iterator[pa.RecordBatch]:
        """Yield the same rows as Arrow record batches.

        Small documents share a batch, so a batch may wait for the next document of the source.

        Raises:
            ImportError: pyarrow is not installed; ``pip install penstock[arrow]`` does that.
        """
        from penstock.engine.batches import PACE, batches_of

        load_arrow()
        is_ordered = _is_document_order(order)
        read = self._intake.items(source, self.limits)
        return batches_of(self._portions(read, PACE, in_document_order=is_ordered))

    def matches(self, source: Source) -> Iterator[Matches]:
        """Yield matches in bulk: which subscriptions matched, and each matching node once.

        It is for many subscriptions with many matches: nothing is made for each pair of a
        subscription and a node.

        Raises:
            RegistryError: A subscription joins documents; use ``run``. One that is added later
                raises from the iterator.
            ImportError: pyarrow is not installed; ``pip install penstock[arrow]`` does that.
        """
        from penstock.engine.matches import PACE, matches_of

        load_arrow()
        _require_rows(self.registry.snapshot())
        read = self._without_joins(self._intake.inputs(source, self.limits))
        return matches_of(self._portions(read, PACE, joins=False))

    def table(self, source: Source, name: str | None = None) -> pa.Table:
        """Return the rows of a table over all documents, with its typed columns.

        ``name`` is that of the subscription; without it there has to be one table. The schema is
        that of the query, whatever the documents have.

        >>> import penstock
        >>> registry = penstock.Registry()
        >>> _ = registry.add("books", penstock.table("//book", {"price": ("price", "double")}))
        >>> table = penstock.Engine(registry).table("<a><book><price>9.5</price></book></a>")
        >>> table.column("price").to_pylist()
        [9.5]

        Raises:
            DocumentError: A document is not well-formed, passes a limit, or with
                ``on_error="raise"`` has a value that does not fit. With ``on_error="quarantine"``
                such documents are warned of instead (``PenstockWarning``), and their rows end
                where they failed.
            RegistryError: There is no such table.
            ImportError: pyarrow is not installed; ``pip install penstock[arrow]`` does that.
        """
        load_arrow()
        import pyarrow as pa

        from penstock.engine.tables import find_table

        rows = find_table(self.registry, name)
        return pa.Table.from_batches(self.batches_of_table(source, rows), rows.schema)

    def table_batches(self, source: Source, name: str | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of ``table`` as record batches, while the documents are read.

        A batch has some thousand rows: 16,384, or those of four megabytes of values.

        Raises:
            DocumentError: As ``table`` does, from the iterator.
            RegistryError: There is no such table.
            ImportError: pyarrow is not installed; ``pip install penstock[arrow]`` does that.
        """
        load_arrow()
        from penstock.engine.tables import find_table

        return self.batches_of_table(source, find_table(self.registry, name))

    def batches_of_table(self, source: Source, rows: TableRows) -> Iterator[pa.RecordBatch]:
        """Yield the batches of ``table_batches``, for who takes errors in another way."""
        from penstock.engine.tables import PACE

        listening = Listening(self._silence, rows.name)
        read = listening.documents(self._intake.inputs(source, self.limits, rows.query))
        return listening.batches(rows.batches(self._portions(read, PACE, joins=False)))

    def explain(self) -> Text:
        """Return how the subscriptions of the moment are evaluated, and by which structures."""
        follower = self._pool.new(self._gathering)
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
        if operators := follower.session.broker_operators():
            lines.append(f"queries of one form, strategy {self.broker.strategy}:")
            lines += [f"  {count:,} of {name}" for name, count in operators.items() if count]
        for stream, under in self._under.items():
            fed = self._fed_under.get(stream) if self.trust else None
            lines += explain_stream(stream, self.schemas[stream], under, fed)
        return Text("\n".join(lines))

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

        >>> import penstock
        >>> registry = penstock.Registry()
        >>> _ = registry.add("b", "//b")
        >>> with penstock.Engine(registry).open() as document:
        ...     [row.value for row in document.feed(b"<a><b>1</b><b>")]
        ...     [row.value for row in document.feed(b"2</b></a>")]
        ['<b>1</b>']
        ['<b>2</b>']

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
        name = str(next(self._pushed)) if id is None else id
        event_time = None if time is None else Document(b"", time=time).event_time
        document = PushedInput(name, stream, event_time)
        document.encoding = encoding
        # What is pushed hands out rows before its end, so a schema is trusted or not used.
        under = self._fed_under.get(stream, self._gathering)
        under = self._gathering if live else under
        idle = [] if live else self._pool.idle_ones(under, in_parts=parts)
        follower = self._pool.borrow(idle, under, in_parts=parts, is_live=live)
        release = _drop if live else partial(self._pool.release, idle)
        rejects = self._intake.rejects
        return OpenDocument(follower, document, self._joining, self._binder, release, rejects)

    def cancel(self) -> None:
        """End all runs and all open documents of this engine, from any thread.

        It takes effect in the middle of a document: who waits for rows gets ``CancelledError``.
        What begins afterwards is not affected.
        """
        for active in list(self._active):
            active.interrupt()

    def suspended(self) -> dict[str, DocumentError]:
        """Return the subscriptions that are suspended, by name, and why."""
        return self._suspensions.reasons()

    def resume(self, name: str) -> None:
        """Let a suspended subscription go on, from the next document on.

        Raises:
            RegistryError: There is no such subscription, or it is not suspended.
        """
        self._suspensions.resume(name)

    def advance(self, heartbeat: Heartbeat) -> list[Result]:
        """Return the joined rows that are complete once event time has come to a heartbeat.

        It is to ``open`` what a heartbeat in the source is to ``run``.

        Raises:
            DocumentError: The time is no event time.
        """
        time_us = microseconds_of(heartbeat.event_time)
        with self._joining.lock:
            self._joining.follow()
            joined = [row for rows in self._joining.advance(time_us) for row in rows]
        with self._binder.lock:
            return joined + [row for rows in self._binder.advance(time_us) for row in rows]

    def close(self) -> list[Result]:
        """End the joins of the documents pushed so far; return the rows of what still waited.

        What is opened from now on joins nothing that was pushed before, and documents that are
        still open are not joined.
        """
        ended, self._joining = self._joining, self._new_joining()
        bound, self._binder = self._binder, Binder(self.limits, self.joins)
        with ended.lock:
            joined = [row for rows in ended.end() for row in rows]
        with bound.lock:
            return joined + [row for rows in bound.end() for row in rows]

    def __repr__(self) -> str:
        return f"<Engine of {self.registry!r}>"

    def _new_joining(self) -> Joining:
        return Joining(self._joined, self.limits, self.joins)

    def _portions(
        self,
        items: Iterable[Input | Heartbeat],
        pace: Pace = EACH_PIECE,
        *,
        joins: bool = True,
        **options: bool,
    ) -> Iterator[Portion]:
        joining = self._new_joining()
        binder = Binder(self.limits, self.joins)
        self._active.add(joining)
        self._active.add(binder)
        with closing(joining), closing(binder), ExitStack() as followers:
            pace = replace(pace, rejects=self._intake.rejects)
            how = (pace, joining if joins else None, self._suspensions)

            def follower_of(registry: AnyRegistry) -> Follower:
                return followers.enter_context(self._pool.followed(registry, **options))

            if joins:
                plain = Driver(follower_of(self._gathering), *how, binder)
            else:
                plain = Driver(follower_of(self.registry), *how)
            # All are there from the start, so that ``cancel`` reaches them.
            drivers: dict[str | None, Driver] = {None: plain}
            for stream, under in self._under.items():
                if stream in self._fed_under:
                    fed = Driver(follower_of(self._fed_under[stream]), *how)
                    drivers[stream] = TrustingDriver(follower_of(under), fed, *how)
                else:
                    drivers[stream] = CheckingDriver(follower_of(under), plain, *how)
            yield from Streams(drivers).run(items) if self.schemas else plain.run(items)

    def _beside(self, sources: Sources, listening: Listening, **options: bool) -> Iterator[Portion]:
        """Yield what sources decide that are read side by side."""
        from penstock.engine.beside import read_beside
        from penstock.engine.pieces import PieceDriver

        pace = replace(EACH_PIECE, rejects=self._intake.rejects)
        joining, binder = self._new_joining(), Binder(self.limits, self.joins)
        self._active.add(joining)
        self._active.add(binder)
        with closing(joining), closing(binder), ExitStack() as followers:

            def driver_of() -> PieceDriver:
                follower = followers.enter_context(self._pool.followed(self._gathering, **options))
                return PieceDriver(follower, pace, joining, self._suspensions, binder)

            read = partial(self._intake.items, limits=self.limits)
            yield from read_beside(sources, read, driver_of, listening.note, binder.end_stream)

    def _without_joins(self, documents: Iterable[Input]) -> Iterator[Input]:
        """Yield the documents; raise as soon as a subscription joins them."""
        checked = self.registry.snapshot()
        for document in documents:
            snapshot = self.registry.snapshot()
            if snapshot is not checked:
                _require_rows(snapshot)
                checked = snapshot
            yield document


def _require_rows(snapshot: Snapshot) -> None:
    served = (Request.ROWS, Request.MESSAGES)
    require_requests(snapshot, served, "Engine.matches", "Engine.run")


def _drop(follower: Follower) -> None:
    """Leave a live session alone: its plans belong to the document that has ended."""


def _is_document_order(order: Order) -> bool:
    if order not in get_args(Order):
        raise ValueError(f"there is no order {order!r}; use `decided` or `document`")
    return order == "document"
