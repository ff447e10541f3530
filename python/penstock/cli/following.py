"""Files that appear in folders, and a file that grows, until somebody interrupts."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import IO

from penstock.cli.files import documents, file_names
from penstock.results import Document

_SETTLED_SECONDS = 2.0
"""A file that was written to this long ago is taken to be complete."""


def new_files(
    arguments: Sequence[str],
    name_glob: str | None,
    poll_seconds: float,
    wait: Callable[[float], None] = time.sleep,
) -> Iterator[str]:
    """Yield files of folders and globs as they appear, each once, oldest first; without end.

    A file counts as complete when it has not changed since the last look, or for some seconds.
    """
    seen: set[str] = set()
    changing: dict[str, tuple[int, int]] = {}
    while True:
        ready = []
        for name in file_names(arguments, name_glob):
            if name in seen:
                continue
            try:
                found = os.stat(name)
            except OSError:
                continue  # it vanished, or a glob that fits nothing yet
            state = (found.st_size, found.st_mtime_ns)
            if changing.get(name) == state or time.time() - found.st_mtime > _SETTLED_SECONDS:
                ready.append((found.st_mtime_ns, name))
            changing[name] = state
        for _, name in sorted(ready):
            seen.add(name)
            changing.pop(name, None)
            yield name
        wait(poll_seconds)


def growing_documents(
    name: str, poll_seconds: float, wait: Callable[[float], None] = time.sleep
) -> Iterator[Document]:
    """Yield the document of a file that grows; a file that begins anew is another document."""
    while True:
        yield Document(GrowingFile(name, poll_seconds, wait), id=name)  # type: ignore[arg-type]


class GrowingFile:
    """A file whose end is waited for: it ends where it is replaced or cut off."""

    def __init__(self, name: str, poll_seconds: float, wait: Callable[[float], None]) -> None:
        self._name = name
        self._poll_seconds = poll_seconds
        self._wait = wait
        self._file: IO[bytes] | None = None

    def read(self, count: int = -1) -> bytes:
        """Return the next bytes as soon as there are some; none at the end."""
        while True:
            if self._file is None:
                self._file = self._opened()
            elif piece := self._file.read(count):
                return piece
            elif self._is_replaced(self._file):
                self._file.close()
                return b""
            if self._file is None or not self._has_more(self._file):
                self._wait(self._poll_seconds)

    def _opened(self) -> IO[bytes] | None:
        try:
            return open(self._name, "rb", buffering=0)
        except FileNotFoundError:
            return None

    def _has_more(self, file: IO[bytes]) -> bool:
        return os.fstat(file.fileno()).st_size > file.tell()

    def _is_replaced(self, file: IO[bytes]) -> bool:
        opened = os.fstat(file.fileno())
        if opened.st_size < file.tell():
            return True
        try:
            current = os.stat(self._name)
        except FileNotFoundError:
            return False  # moved away, and nothing in its place yet
        return (current.st_dev, current.st_ino) != (opened.st_dev, opened.st_ino)


def followed(
    arguments: Sequence[str], name_glob: str | None, poll_seconds: float
) -> Iterator[Document]:
    """Yield the documents of folders and globs, or of one file, as they come."""
    if len(arguments) == 1 and is_growing(arguments[0]):
        return growing_documents(arguments[0], poll_seconds)
    return documents(new_files(arguments, name_glob, poll_seconds))


def is_growing(argument: str) -> bool:
    """Return whether an argument is a file, and no folder or glob."""
    return os.path.isfile(argument)
