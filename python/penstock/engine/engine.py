"""The engine: evaluates a registry over documents."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakSet

from penstock.engine.assumed import joins_under
from penstock.engine.binding import new_stages
from penstock.engine.explaining import explain_joined, explain_streams
from penstock.engine.pool import Active, Pool
from penstock.engine.push import OpenDocument, PushedInput
from penstock.engine.readers import ReaderPool
from penstock.engine.reading import EACH_PIECE, Pace, Portion
from penstock.engine.rows import rows_of
from penstock.engine.settings import Order, is_document_order, used_schemas
from penstock.engine.silence import Listening, Silence
from penstock.engine.stages import JoinStages
from penstock.engine.suspension import SUSPEND_AFTER, Suspensions
from penstock.engine.usage import EngineStatistics, Usage
from penstock.errors import DocumentError, SettingError, refuse_gone
from penstock.joins import JoinOptions
from penstock.limits import Limits
from penstock.registry import AnyRegistry
from penstock.registry.circles import publishers_of
from penstock.results import Data, Document, Heartbeat, Result
from penstock.results.arrow import load_arrow
from penstock.results.documents import moment_of
from penstock.results.html import Text
from penstock.schemas import Schema
from penstock.sources import Input, Source
from penstock.sources.documents import input_of
from penstock.sources.intake import Damaged, Documents, Intake
from penstock.sources.paths import RecordPath

if TYPE_CHECKING:
    import pyarrow as pa

    from penstock.engine.asynchronous import AsyncSource
    from penstock.engine.matches import Matches
    from penstock.engine.tables import TableRows

Sources = Mapping[str, Source]

_GONE = {"broker": "small documents are asked in the one way that is fastest"}


class Engine:
    """Evaluates all subscriptions of a registry over documents, each read once.

    A change of the registry takes effect from the next document on. ``limits`` bound what one
    document may cost. ``lateness`` is how far the watermark of joins lies behind the latest event
    time of any document, in seconds: a document from before it gives an error row and is not
    joined. Without it nothing that a window may still need is dropped. ``joins`` says how joins
    run; a ``lateness`` beside it comes first. ``trust`` permits to stop reading a document when
    nothing of it can matter any more: what follows is not checked then. A subscription that passes
    a limit of its own on ``suspend_after`` documents in a row is suspended until ``resume``; None
    suspends nobody. ``streams`` gives streams other names, as ``{"doc.xml": "default"}``:
    ``doc("doc.xml")`` of a query in XQuery then reads the documents of ``default``. ``schemas`` are
    those of streams, as ``{"default": penstock.schema("shop.dtd")}``; the mode of each says whether
    it is trusted or checked.
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

    def __new__(cls, *_: object, **settings: object) -> Self:
        refuse_gone(settings, _GONE)
        return object.__new__(cls)

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
        self.trust = trust
        self.joins = joins or JoinOptions()
        if lateness is not None:
            self.joins = replace(self.joins, lateness=lateness)
        self.lateness = self.joins.lateness
        self.schemas = used_schemas(schemas)
        self._usage = Usage()
        joined = joins_under(registry, self.schemas)
        how = (joined, self.limits, self.joins, self._usage, self._suspensions)
        self._new_stages = partial(new_stages, *how)
        self._numbers = count()
        self._pushed_joins = self._new_joins(is_shared=True)
        self.streams = dict(streams or {})
        self._silence = Silence(registry, self.streams)
        self._intake = Intake(documents, damaged, record)
        pool = Pool(
            self.limits,
            self._usage,
            self._suspensions,
            self._active,
            self.streams,
            is_trusting=trust,
        )
        self._pool = pool
        rejects = self._intake.rejects
        self._readers = ReaderPool(registry, self.schemas, pool, self._suspensions, rejects=rejects)

    def run(
        self, source: Source | Sources, order: Order = "decided", ends: bool = False
    ) -> Iterator[Result]:
        """Yield the results of all subscriptions, while the source is still being read.

        With ``order="decided"`` a result comes as soon as it is decided and complete, with
        ``order="document"`` each subscription's results come in document order. A document that
        is malformed, passes a limit or cannot be read gives one error row, after the results
        that were decided before the error; the next document is not affected. Documents are
        joined as they are read; the joins of a run begin and end with it. What one subscription
        cannot do with what it joined is an error row of that subscription. A subscription that
        gave no row by the end of a run is warned of once (``PenstockWarning``).

        The source may be a mapping of streams to sources, as ``{"news": …, "blogs": …}``: they
        are read side by side, at the speed at which they arrive, and what they give are documents
        of these streams.

        With ``ends`` a row of the kind ``end`` follows the last row of each document, also of one
        without rows or with an error. Its ``ordinal`` is the number of the document in this run.
        """
        steps = self.steps(source, order, ends=ends)
        return (row for rows in steps for row in rows)

    def arun(
        self, source: AsyncSource, order: Order = "decided", ends: bool = False
    ) -> AsyncIterator[Result]:
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

        is_document_order(order)
        return rows_of(lambda given: self.steps(given, order, ends=ends), source)

    def steps(
        self,
        source: Source | Sources,
        order: Order = "decided",
        parts: bool = False,
        ends: bool = False,
    ) -> Iterator[list[Result]]:
        """Yield the same rows as lists, one for each piece of input that was read.

        Somebody who passes rows on in bulk knows by this that there is nothing more to wait for.
        ``parts`` is that of ``open``, ``ends`` that of ``run``.
        """
        is_ordered = is_document_order(order)
        listening = Listening(self._silence)
        if isinstance(source, Mapping):
            if self.schemas:
                message = "an engine with schemas reads one source; leave them away, or chain them"
                raise SettingError("PM0011", message)
            portions = self._beside(source, listening, in_document_order=is_ordered, in_parts=parts)
            return listening.rows(rows_of(portions, with_ends=ends))
        read = listening.documents(self._intake.items(source, self.limits))
        portions = self._portions(read, in_document_order=is_ordered, in_parts=parts)
        return listening.rows(rows_of(portions, with_ends=ends))

    def batches(self, source: Source, order: Order = "decided") -> Iterator[pa.RecordBatch]:
        """Yield the same rows as Arrow record batches.

        Small documents share a batch, so a batch may wait for the next document of the source.

        Raises:
            ImportError: pyarrow is not installed; ``pip install penstock-xml[arrow]`` does that.
        """
        from penstock.engine.batches import PACE, batches_of

        load_arrow()
        is_ordered = is_document_order(order)
        read = self._intake.items(source, self.limits)
        return batches_of(self._portions(read, PACE, in_document_order=is_ordered))

    def matches(self, source: Source) -> Iterator[Matches]:
        """Yield matches in bulk: which subscriptions matched, and each matching node once.

        It is for many subscriptions with many matches: nothing is made for each pair of a
        subscription and a node.

        Raises:
            RegistryError: A subscription joins documents; use ``run``. One that is added later
                raises from the iterator.
            ImportError: pyarrow is not installed; ``pip install penstock-xml[arrow]`` does that.
        """
        from penstock.engine.matches import PACE, matches_of, without_joins

        load_arrow()
        read = without_joins(self.registry, self._intake.inputs(source, self.limits))
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
            ImportError: pyarrow is not installed; ``pip install penstock-xml[arrow]`` does that.
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
            ImportError: pyarrow is not installed; ``pip install penstock-xml[arrow]`` does that.
        """
        load_arrow()
        from penstock.engine.tables import find_table

        return self.batches_of_table(source, find_table(self.registry, name))

    def batches_of_table(self, source: Source, rows: TableRows) -> Iterator[pa.RecordBatch]:
        """Yield the batches of ``table_batches``, for who takes errors in another way."""
        from penstock.engine.tables import PACE

        listening = Listening(self._silence, rows.name)
        # Joins may publish what the table reads.
        joins = bool(publishers_of(self.registry.snapshot()))
        read = listening.documents(self._intake.inputs(source, self.limits, rows.query))
        return listening.batches(rows.batches(self._portions(read, PACE, joins=joins)))

    def explain(self) -> Text:
        """Return how the subscriptions of the moment are evaluated, and by which structures."""
        joining, binder = self._new_stages()
        with closing(joining), closing(binder):
            follower = self._pool.new(self._readers.gathering)
            lines = [f"{len(self.registry):,} subscriptions, version {follower.version}"]
            lines += explain_joined(follower, joining, binder)
        how = (self._pool, self._readers, self.schemas)
        lines += explain_streams(*how, is_trusting=self.trust)
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
        follows a change adds a plan for the rest of the document. Documents are joined when they
        end; a join that comes later sees the next one.

        Raises:
            DocumentError: The encoding is unknown, or the time is no event time.
            RegistryError: With ``live``, a subscription joins streams (PR0011).
        """
        name = str(next(self._numbers)) if id is None else id
        event_time = None if time is None else Document(b"", time=time).event_time
        document = PushedInput(name, stream, event_time)
        document.encoding = encoding
        return self._readers.open(document, self._pushed_joins, parts=parts, live=live)

    def push(self, document: Document | Data) -> list[Result]:
        """Return the rows of a whole document, joined with all that were pushed before.

        They are those that ``run`` gives for it, error rows included; the document is evaluated as
        fast as there. Joined rows come last. What still waits for event time comes with a later
        document, with ``heartbeat`` or with ``close``. Documents without an id are numbered.

        Raises:
            DocumentError: The document's time is no event time.
        """
        portions = self._pushed([document], EACH_PIECE)
        return [row for rows in rows_of(portions) for row in rows]

    async def apush(self, document: Document | Data) -> list[Result]:
        """Return the rows of ``push``; the event loop stays free meanwhile."""
        import asyncio

        return await asyncio.to_thread(self.push, document)

    def push_many(self, documents: Iterable[Document | Data]) -> Matches:
        """Return what several whole documents give, in bulk, with joined rows beside.

        They are read in bundles, and joined in their order with all that were pushed before.

        Raises:
            DocumentError: The time of a document is no event time.
            ImportError: pyarrow is not installed; ``pip install penstock[arrow]`` does that.
        """
        from penstock.engine.matches import PACE, merged

        load_arrow()
        return merged(self._pushed(documents, PACE))

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

    def heartbeat(self, stream: str, time: datetime | float) -> list[Result]:
        """Return the joined rows that are complete once a stream has come to an event time.

        It is to ``push`` and ``open`` what a ``Heartbeat`` in the source is to ``run``.

        Raises:
            DocumentError: The time is no event time.
        """
        with self._readers.reader(EACH_PIECE, self._pushed_joins) as reader:
            portions = reader.read([Heartbeat(stream, time)])
            return [row for rows in rows_of(portions) for row in rows]

    def close(self) -> list[Result]:
        """End the joins of the documents pushed so far; return the rows of what still waited.

        What is pushed from now on joins nothing that was pushed before, and documents that are
        still open are not joined.
        """
        ended, self._pushed_joins = self._pushed_joins, self._new_joins(is_shared=True)
        with self._readers.reader(EACH_PIECE, ended) as reader:
            return [row for rows in rows_of(reader.end()) for row in rows]

    def halt(self) -> datetime | None:
        """End all joins, from any thread, without the rows of what still waits for event time.

        Runs end after the document under way. Return what ``needs_from`` returns at this moment:
        joins go on where they were if another engine reads the documents again whose event times
        are not earlier, in the same order, and its rows are left out as long as the documents are
        old ones.
        """
        needed = self.needs_from()
        for active in list(self._active):
            if isinstance(active, JoinStages):
                active.halt()
        ended, self._pushed_joins = self._pushed_joins, self._new_joins(is_shared=True)
        ended.halt()
        ended.close()
        return needed

    def needs_from(self) -> datetime | None:
        """Return the earliest event time that joins may still need; None: nothing is joined.

        It depends on the windows, and on ``lateness``: without it, and with a window that has no
        end, joins need all documents.
        """
        joins = [one for one in list(self._active) if isinstance(one, JoinStages)]
        times = [one.needed_from() for one in [*joins, self._pushed_joins]]
        known = [time for time in times if time is not None]
        return moment_of(min(known)) if known else None

    def __repr__(self) -> str:
        return f"<Engine of {self.registry!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        message = "an engine is of one process and is not copied or pickled; "
        raise TypeError(message + "make one in each process: penstock.Engine(registry)")

    def _new_joins(self, *, is_shared: bool = False) -> JoinStages:
        """Return the joins of a run, or those of all that is pushed."""
        return JoinStages(*self._new_stages(), is_shared=is_shared)

    def _portions(
        self,
        items: Iterable[Input | Heartbeat],
        pace: Pace = EACH_PIECE,
        *,
        joins: bool = True,
        **options: bool,
    ) -> Iterator[Portion]:
        stages = self._new_joins() if joins else JoinStages()
        self._active.add(stages)
        with closing(stages), self._readers.reader(pace, stages, **options) as reader:
            yield from reader.run(items)

    def _beside(self, sources: Sources, listening: Listening, **options: bool) -> Iterator[Portion]:
        """Yield what sources decide that are read side by side."""
        from penstock.engine.beside import read_beside

        read = partial(self._intake.items, limits=self.limits)
        joins = self._new_joins()
        self._active.add(joins)
        with closing(joins), self._readers.beside(joins, **options) as reader_of:
            yield from read_beside(sources, read, reader_of, listening.note, joins)

    def _pushed(self, documents: Iterable[Document | Data], pace: Pace) -> Iterator[Portion]:
        """Yield what pushed documents decide; those without an id are numbered."""
        numbered = (input_of(one, next(self._numbers)) for one in documents)
        with self._readers.reader(pace, self._pushed_joins) as reader:
            yield from reader.read(self._intake.items(numbered, self.limits))
