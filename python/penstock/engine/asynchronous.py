"""Rows for ``async for``: the engine works in a thread of its own, the event loop stays free."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from inspect import iscoroutinefunction
from threading import Lock
from typing import Any, BinaryIO, cast

from penstock.results import Data, Document, Heartbeat, Result
from penstock.sources import Input, Source

AsyncSource = Source | AsyncIterable[Document | Data | Heartbeat | Input]
"""What ``run`` takes, or an asynchronous iterable of it.

The data of a document may have an asynchronous ``read``, as an ``asyncio.StreamReader`` does.
"""

_END: Any = object()


async def rows_of(
    steps: Callable[[Source], Iterator[list[Result]]], source: AsyncSource
) -> AsyncIterator[Result]:
    """Yield the rows of a source, evaluated in a thread.

    Whoever stops early, or is cancelled, waits for the piece of input that is under way.
    """
    bridge = _Bridge(asyncio.get_running_loop())
    loop = bridge.loop
    with ThreadPoolExecutor(1, "penstock") as thread:
        portions = steps(bridge.source(source))
        try:
            while True:
                future = loop.run_in_executor(thread, next, portions, _END)
                try:
                    rows = await asyncio.shield(future)
                except asyncio.CancelledError:
                    bridge.stop()
                    await asyncio.wait([future])
                    if not future.cancelled():
                        future.exception()  # it is ours, and nobody else looks at it
                    raise
                if rows is _END:
                    return
                for row in rows:
                    yield row
        finally:
            bridge.stop()
            await loop.run_in_executor(thread, _close, portions)
            await bridge.close()


def _close(portions: Iterator[list[Result]]) -> None:
    portions.close()  # type: ignore[attr-defined]


class _Bridge:
    """Lets a thread wait for what the event loop brings."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._lock = Lock()
        self._waiting: Future[Any] | None = None
        self._is_stopped = False
        self._iterator: AsyncIterator[Any] | None = None

    def source(self, source: AsyncSource) -> Source:
        """Return a source that a thread can read."""
        if _is_reader(source):
            return Document(cast("BinaryIO", _Reader(source, self)))
        if isinstance(source, AsyncIterable) and not hasattr(source, "read"):
            return self._items(source)
        if isinstance(source, Document):
            return self._document(source)
        return cast("Source", source)

    def wait(self, coroutine: Any) -> Any:
        """Return what a coroutine returns; called from the thread.

        Raises:
            asyncio.CancelledError: Nobody wants it any more.
        """
        # The coroutine may run, and be cancelled, before this thread does anything else.
        with self._lock:
            if self._is_stopped:
                coroutine.close()
                raise asyncio.CancelledError
            self._waiting = asyncio.run_coroutine_threadsafe(coroutine, self.loop)
        return self._waiting.result()

    def stop(self) -> None:
        """End what is waited for."""
        with self._lock:
            self._is_stopped = True
            if self._waiting is not None:
                self._waiting.cancel()

    async def close(self) -> None:
        """End an asynchronous generator that was not read to its end."""
        close = getattr(self._iterator, "aclose", None)
        if close is not None:
            await close()

    def _items(self, source: AsyncIterable[Any]) -> Iterator[Any]:
        self._iterator = items = aiter(source)
        while True:
            item = self.wait(_next(items))
            if item is _END:
                return
            yield self._item(item)

    def _item(self, item: Any) -> Any:
        if _is_reader(item):
            return Document(cast("BinaryIO", _Reader(item, self)))
        return self._document(item) if isinstance(item, Document) else item

    def _document(self, document: Document) -> Document:
        if not _is_reader(document.data):
            return document
        return replace(document, data=cast("BinaryIO", _Reader(document.data, self)))


class _Reader:
    """An asynchronous reader, read by a thread."""

    def __init__(self, reader: Any, bridge: _Bridge) -> None:
        self._reader = reader
        self._bridge = bridge

    def read(self, count: int = -1) -> bytes:
        piece: bytes = self._bridge.wait(self._reader.read(count))
        return piece


async def _next(items: AsyncIterator[Any]) -> Any:
    # StopAsyncIteration cannot cross a future.
    return await anext(items, _END)


def _is_reader(data: object) -> bool:
    return iscoroutinefunction(getattr(data, "read", None))
