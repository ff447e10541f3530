"""The readers of an engine: which plan reads which documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from itertools import groupby

from penstock.engine.assumed import AssumingRegistry, rows_under
from penstock.engine.gathering import GatheringRegistry
from penstock.engine.pool import Pool
from penstock.engine.push import PACE, OpenDocument
from penstock.engine.reading import EACH_PIECE, Pace, Portion, Reader
from penstock.engine.stages import JoinStages
from penstock.engine.suspension import Suspensions
from penstock.registry import AnyRegistry
from penstock.results import Heartbeat
from penstock.schemas import Schema
from penstock.sources import Input


class Readers:
    """Gives each document to the reader of its stream, in the order of their arrival.

    ``readers`` are those of streams with a schema; that of None reads all other streams.
    """

    def __init__(self, readers: Mapping[str | None, Reader]) -> None:
        self._readers = readers
        self._last: str | None = None

    def run(self, items: Iterable[Input | Heartbeat]) -> Iterator[Portion]:
        """Yield what the documents decide, in portions."""
        yield from self.read(items)
        yield from self.end()

    def end(self) -> Iterator[Portion]:
        """Yield what waited in joins for a partner."""
        yield from self._readers[None].end()

    def read(self, items: Iterable[Input | Heartbeat]) -> Iterator[Portion]:
        """Yield what the documents decide; others may follow."""
        for stream, group in groupby(items, self._stream):
            reader = self._readers[stream]
            yield from reader.read(group)
            if reader.is_halted:
                return

    def _stream(self, item: Input | Heartbeat) -> str | None:
        # A heartbeat belongs to the reader of the document before it.
        if isinstance(item, Input):
            self._last = item.stream if item.stream in self._readers else None
        return self._last


class ReaderPool:
    """Gives readers for the time of a run, and those of documents that are pushed."""

    def __init__(
        self,
        registry: AnyRegistry,
        schemas: Mapping[str, Schema],
        pool: Pool,
        suspensions: Suspensions,
        *,
        rejects: bool,
    ) -> None:
        self._rejects = rejects
        self._registry = registry
        self._pool = pool
        self._suspensions = suspensions
        self.gathering = GatheringRegistry(registry, is_served=not schemas)
        self.under: dict[str, AssumingRegistry] = {
            stream: rows_under(registry, one, is_fed=False) for stream, one in schemas.items()
        }
        """By stream: what reads its documents at hand."""
        self.fed_under: dict[str, AssumingRegistry] = {
            stream: rows_under(registry, one, is_fed=True, with_end=pool.is_trusting)
            for stream, one in schemas.items()
            if one.mode == "trust"
        }
        """By stream: what reads its documents that come in pieces, if the schema is trusted."""

    @contextmanager
    def reader(self, pace: Pace, joins: JoinStages, **options: bool) -> Iterator[Reader | Readers]:
        """Give a reader of documents of all streams."""
        pace = self._paced(pace)
        with ExitStack() as followers:
            beside = self._beside(followers, pace, joins, **options)

            def reader_of(
                registry: AnyRegistry, other: Reader | None = None, *, is_checked: bool = False
            ) -> Reader:
                # All followers are there from the start, so that ``cancel`` reaches them.
                follower = followers.enter_context(self._pool.followed(registry, **options))
                how = (pace, joins, self._suspensions, other, beside)
                return Reader(follower, *how, is_checked=is_checked)

            plain = reader_of(self.gathering if joins.stages else self._registry)
            readers: dict[str | None, Reader] = {None: plain}
            for stream, under in self.under.items():
                if stream in self.fed_under:
                    readers[stream] = reader_of(under, reader_of(self.fed_under[stream]))
                else:
                    readers[stream] = reader_of(under, plain, is_checked=True)
            yield Readers(readers) if self.under else plain

    @contextmanager
    def beside(self, joins: JoinStages, **options: bool) -> Iterator[Callable[[], Reader]]:
        """Give what makes readers of sources that are read beside each other."""
        pace = self._paced(EACH_PIECE)
        with ExitStack() as followers:
            published = self._beside(followers, pace, joins, **options)

            def reader_of() -> Reader:
                follower = followers.enter_context(self._pool.followed(self.gathering, **options))
                return Reader(follower, pace, joins, self._suspensions, beside=published)

            yield reader_of

    def open(self, document: Input, joins: JoinStages, *, parts: bool, live: bool) -> OpenDocument:
        """Return a document that is open."""
        # What is pushed hands out rows before its end, so a schema is trusted or not used.
        under = self.gathering if live else self.fed_under.get(document.stream, self.gathering)
        idle = [] if live else self._pool.idle_ones(under, in_parts=parts)
        follower = self._pool.borrow(idle, under, in_parts=parts, is_live=live)
        followers = ExitStack()

        def release(is_sound: bool) -> None:
            followers.close()
            follower.settle()
            # The plans of a live session belong to its document.
            if is_sound and not live:
                self._pool.release(idle, follower)

        beside = self._beside(followers, EACH_PIECE, joins)
        reader = Reader(follower, self._paced(PACE), joins, self._suspensions, beside=beside)
        return OpenDocument(reader, document, release)

    def _paced(self, pace: Pace) -> Pace:
        return replace(pace, rejects=True) if self._rejects else pace

    def _beside(
        self, followers: ExitStack, pace: Pace, joins: JoinStages, **options: bool
    ) -> Callable[[], Reader]:
        """Return what gives the reader of published events: it is made for the first, and kept."""

        @cache
        def beside() -> Reader:
            follower = followers.enter_context(self._pool.followed(self.gathering, **options))
            return Reader(follower, pace, joins.beside(), self._suspensions)

        return beside
