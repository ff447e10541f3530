"""Documents in files, read piece by piece."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import datetime

from penstock.kernel import CHUNK_BYTES, WHOLE_BYTES_MAX
from penstock.sources.compression import decompress, is_compressed
from penstock.sources.inputs import SOURCE_BYTES_MAX, Input, Piece, unreadable


class FileInput(Input):
    """A document in a file, compressed or not."""

    def __init__(
        self,
        path: os.PathLike[str],
        document: str | None,
        stream: str,
        event_time: datetime | None,
    ) -> None:
        super().__init__(document or os.fspath(path), stream, event_time)
        self._path = path

    def whole(self) -> Piece | None:
        try:
            found = os.stat(self._path)
            if not stat.S_ISREG(found.st_mode) or found.st_size > WHOLE_BYTES_MAX:
                return None
            with open(self._path, "rb") as file:
                data = file.read(WHOLE_BYTES_MAX + 1)
        except OSError:
            return None  # who takes the pieces hears why
        return None if len(data) > WHOLE_BYTES_MAX or is_compressed(data) else data

    def pieces(self) -> Iterator[Piece]:
        return decompress(self._read())

    def again(self) -> Input:
        return self

    def original(self) -> bytes | None:
        try:
            if os.path.getsize(self._path) > SOURCE_BYTES_MAX:
                return None
            with open(self._path, "rb") as file:
                return file.read(SOURCE_BYTES_MAX)
        except OSError:
            return None

    def _read(self) -> Iterator[Piece]:
        count = 0
        try:
            with open(self._path, "rb", buffering=0) as file:
                while piece := file.read(CHUNK_BYTES):
                    count += len(piece)
                    yield piece
        except OSError as error:
            reason = f"{os.fspath(self._path)} cannot be read: {error.strerror or error}"
            raise unreadable(reason, count) from None
