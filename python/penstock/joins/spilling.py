"""What does not fit into memory: segments of records in files that are mapped."""

from __future__ import annotations

import mmap
import os
import tempfile
from contextlib import suppress

from penstock.kernel import JoinState


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
