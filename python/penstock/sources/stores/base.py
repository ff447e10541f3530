"""What a store of files can do."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from penstock.errors import SettingError
from penstock.sources.inputs import changed

BLOCK_BYTES = 8 << 20
"""A file that is read from its beginning is asked for in blocks of this size."""
_FIRST_BYTES = 256 << 10
"""The first block is smaller: a small file needs no more, and a head is often enough."""

STORE_CODES = {
    "PS0020": "a scheme of a path that nothing reads",
    "PS0021": "a store that does not answer, or refuses to",
    "PS0022": "a setting of a store that is not supported",
}
"""The codes of errors of stores and what each names."""


class StoreError(SettingError, RuntimeError):
    """A store cannot be used. A task that gets it fails, and Spark tries it again."""


class State(NamedTuple):
    """What a file was like when somebody looked: size, time of its last change, and its mark.

    Where a store has marks (ETags), two contents never have the same one.
    """

    size: int
    mtime_ns: int
    mark: str = ""


class Opened(AbstractContextManager["Opened"], ABC):
    """An open file, read at any place."""

    state: State

    @abstractmethod
    def read_at(self, start: int, end: int) -> bytes:
        """Return the bytes of a range, fewer only if the file has no more.

        Raises:
            OSError: The file is not there any more.
            StoreError: The store does not answer.
        """

    @abstractmethod
    def look_again(self) -> State | None:
        """Return what the file is like now, or None if it is not there.

        Raises:
            StoreError: The store does not answer.
        """

    def stream(self) -> io.BufferedIOBase:
        """Return the file as something to read from its beginning, and to seek in.

        What is read to the end is of one content, or ends with a ``DocumentError``.
        """
        return _Stream(self)

    def __exit__(self, *error: object) -> None:
        """Close it."""


class Entry(NamedTuple):
    """A file or a folder of a store, by its path below a root."""

    path: str
    is_folder: bool
    size: int
    mtime_ns: int


class Opener(Protocol):
    """What opens files by their paths."""

    def open(self, path: str) -> Opened:
        """Return a file.

        Raises:
            OSError: It cannot be opened.
            StoreError: Its store does not answer, or there is none for it.
        """


class Store(ABC):
    """The files of one bucket, container or name node; paths are given below its root.

    Every method raises ``StoreError`` if the store does not answer.
    """

    @abstractmethod
    def look(self, path: str) -> Entry | None:
        """Return what lies at a path, or None."""

    @abstractmethod
    def walk(self, folder: str, is_recursive: bool) -> Iterator[Entry]:
        """Yield the files in a folder, or everything below it; nothing if it is not there."""

    @abstractmethod
    def open(self, path: str) -> Opened:
        """Return a file.

        Raises:
            FileNotFoundError: It is not there.
        """


class _Stream(io.BufferedIOBase):
    """An open file that is read block by block."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._block = b""
        self._start = 0
        self._at = 0
        self._requests = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._opened.state.size}
        self._at = max(0, base[whence] + offset)
        return self._at

    def read1(self, size: int | None = -1) -> bytes:
        if not self._start <= self._at < self._start + len(self._block):
            self._block, self._start = self._next(), self._at
        begin = self._at - self._start
        data = self._block[begin : None if size is None or size < 0 else begin + size]
        self._at += len(data)
        return data

    def _next(self) -> bytes:
        size = self._opened.state.size
        if self._at >= size:
            # What one request brings is of one content.
            if self._requests > 1 and self._opened.look_again() != self._opened.state:
                raise changed()
            self._requests = 0
            return b""
        end = min(self._at + (BLOCK_BYTES if self._at else _FIRST_BYTES), size)
        block = self._opened.read_at(self._at, end)
        self._requests += 1
        if len(block) < end - self._at:
            raise changed()
        return block

    def read(self, size: int | None = -1) -> bytes:
        wanted = None if size is None or size < 0 else size
        parts: list[bytes] = []
        while wanted is None or wanted > 0:
            part = self.read1(wanted)
            if not part:
                break
            parts.append(part)
            wanted = None if wanted is None else wanted - len(part)
        return b"".join(parts)
