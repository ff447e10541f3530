"""Small files of stores, fetched while others are read: a store takes its time for each request."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from penstock.sources.listing import Listed
from penstock.sources.stores.base import Opened, Opener, State
from penstock.sources.stores.choosing import has_store

FILES_AHEAD = 16
"""So many files are fetched at once …"""
BYTES_AHEAD = 32 << 20
"""… as long as they are no larger than this together."""
FILE_BYTES_MAX = 8 << 20
"""Larger files are read in blocks when it is their turn."""


class ReadAhead:
    """Opens the files of a task in their order, each as often as it is asked for.

    A small file of a store is in memory by then. It is forgotten when a later one is opened.
    """

    def __init__(self, stores: Opener, files: Iterable[Listed]) -> None:
        self._stores = stores
        self._waiting = deque(
            file for file in files if has_store(file.path) and file.size <= FILE_BYTES_MAX
        )
        self._coming: dict[str, tuple[int, Future[_Held]]] = {}
        self._bytes = 0
        self._pool = ThreadPoolExecutor(FILES_AHEAD, "penstock-read-ahead")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def open(self, path: str) -> Opened:
        """Return a file.

        Raises:
            OSError: It cannot be opened.
            StoreError: Its store does not answer.
        """
        self._forget_before(path)
        self._fetch()
        coming = self._coming.get(path)
        return self._stores.open(path) if coming is None else coming[1].result()

    def _forget_before(self, path: str) -> None:
        if path in self._coming:
            for name in list(self._coming):
                if name == path:
                    break
                size, _ = self._coming.pop(name)
                self._bytes -= size

    def _fetch(self) -> None:
        while self._waiting and len(self._coming) < FILES_AHEAD:
            file = self._waiting[0]
            if self._coming and self._bytes + file.size > BYTES_AHEAD:
                return
            self._waiting.popleft()
            self._bytes += file.size
            self._coming[file.path] = file.size, self._pool.submit(self._held, file.path)

    def _held(self, path: str) -> _Held:
        with self._stores.open(path) as opened:
            # A file may have become larger since it was listed; then it is read as it comes.
            size = opened.state.size
            if size > FILE_BYTES_MAX:
                return _Held(self._stores, path, opened.state, None)
            return _Held(self._stores, path, opened.state, opened.read_at(0, size))


class _Held(Opened):
    """A file whose content is in memory, unless it is too large."""

    def __init__(self, stores: Opener, path: str, state: State, data: bytes | None) -> None:
        self._stores = stores
        self._path = path
        self._data = data
        self.state = state

    def read_at(self, start: int, end: int) -> bytes:
        if self._data is not None:
            return self._data[start:end]
        with self._stores.open(self._path) as opened:
            return opened.read_at(start, end)

    def look_again(self) -> State | None:
        if self._data is not None:
            return self.state  # it came with one request
        with self._stores.open(self._path) as opened:
            return opened.state
