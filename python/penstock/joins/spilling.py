"""What does not fit into memory: segments of records in files that are mapped."""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import IO

from penstock.kernel import JoinState

QUEUE_BYTES_MAX = 4 << 20
"""Records that wait to be joined are in memory up to this size."""


class Queue:
    """Records that wait to be joined, one after the other; more of them go to a file."""

    def __init__(self) -> None:
        self._records: list[bytes] = []
        self._bytes = 0
        self._files = ExitStack()
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Queue:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def put(self, record: bytes) -> None:
        """Add a record."""
        self._records.append(record)
        self._bytes += len(record)
        if self._bytes > QUEUE_BYTES_MAX:
            if self._file is None:
                file = tempfile.TemporaryFile()  # noqa: SIM115  # the stack closes it
                self._file = self._files.enter_context(file)
            for one in self._records:
                self._file.write(len(one).to_bytes(8, "little") + one)
            self._records, self._bytes = [], 0

    def __iter__(self) -> Iterator[bytes]:
        if self._file is not None:
            self._file.seek(0)
            while length := self._file.read(8):
                yield self._file.read(int.from_bytes(length, "little"))
        yield from self._records


class Spill:
    """A folder of segments, which lives as long as the joins do."""

    def __init__(self, joins: JoinState) -> None:
        self._joins = joins
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def relieve(self) -> None:
        """Write what is in memory to a file, if it is more than it should be."""
        if self._joins.is_over_memory():
            sealed = self._joins.seal()
            if sealed is not None:
                self._put(*sealed)
        for number in self._joins.take_dropped():
            with suppress(FileNotFoundError):
                os.unlink(self._path(number))

    def close(self) -> None:
        """Remove the files; the joins must not be used any more."""
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _put(self, number: int, segment: bytes) -> None:
        path = self._path(number)
        with open(path, "wb") as file:
            file.write(segment)
        with open(path, "rb") as file:
            self._joins.attach(number, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

    def _path(self, number: int) -> str:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="penstock-joins-")
        return os.path.join(self._folder.name, f"{number}.segment")
