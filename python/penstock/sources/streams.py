"""Documents from open binary files: pipes, sockets, standard input."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import BinaryIO

from penstock.kernel import CHUNK_BYTES
from penstock.sources.compression import decompress
from penstock.sources.inputs import SOURCE_BYTES_MAX, Input, Piece, unreadable
from penstock.sources.memory import BytesInput


class StreamInput(Input):
    """A document that is read from an open binary file up to its end.

    What has arrived is read without waiting for more, where the file can do that. After an error
    the bytes read so far are the original, if they are not too many.
    """

    def __init__(
        self, file: BinaryIO, document: str, stream: str, event_time: datetime | None
    ) -> None:
        super().__init__(document, stream, event_time)
        self._file = file
        self._seen: bytearray | None = bytearray()

    def pieces(self) -> Iterator[Piece]:
        return decompress(self._read())

    def again(self) -> Input | None:
        if self._seen is None:
            return None
        return BytesInput(bytes(self._seen), self.document, self.stream, self.event_time)

    def original(self) -> bytes | None:
        return None if self._seen is None else bytes(self._seen)

    def _read(self) -> Iterator[Piece]:
        read: Callable[[int], bytes] = getattr(self._file, "read1", self._file.read)
        count = 0
        while True:
            try:
                piece = read(CHUNK_BYTES)
            except OSError as error:
                reason = f"the stream cannot be read: {error.strerror or error}"
                raise unreadable(reason, count) from None
            if not piece:
                return
            if isinstance(piece, str):
                raise TypeError("a document is read from a binary file; open it with mode 'rb'")
            count += len(piece)
            self._remember(piece)
            yield piece

    def _remember(self, piece: bytes) -> None:
        if self._seen is not None:
            self._seen += piece
            if len(self._seen) > SOURCE_BYTES_MAX:
                self._seen = None
