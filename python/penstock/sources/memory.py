"""Documents in memory: bytes, or text that needs no encoding."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from penstock.errors import DocumentError
from penstock.kernel import CHUNK_BYTES, WHOLE_BYTES_MAX
from penstock.sources.compression import decompress, is_compressed
from penstock.sources.inputs import SOURCE_BYTES_MAX, Input, Piece

_TAG = re.compile(b"<")


class BytesInput(Input):
    """A document in bytes, compressed or not."""

    def __init__(
        self,
        data: bytes | bytearray | memoryview,
        document: str,
        stream: str,
        event_time: datetime | None,
    ) -> None:
        super().__init__(document, stream, event_time)
        self._data: Piece = data if isinstance(data, bytes) else _flat(data)

    def whole(self) -> Piece | None:
        if len(self._data) > WHOLE_BYTES_MAX or is_compressed(self._data):
            return None
        self.keep()
        return self._data

    def keep(self) -> None:
        if isinstance(self._data, memoryview) and not self._data.readonly:
            self._data = bytes(self._data)

    def again(self) -> Input:
        return self

    def pieces(self) -> Iterator[Piece]:
        return decompress(_split(self._data))

    def original(self) -> bytes | None:
        return None if len(self._data) > SOURCE_BYTES_MAX else bytes(self._data)


class TextInput(BytesInput):
    """A document in text, which may be encoded in UTF-8 already.

    What it declares as its encoding does not matter.
    """

    encoding = "utf-8"

    def __init__(
        self, text: str | memoryview, document: str, stream: str, event_time: datetime | None
    ) -> None:
        # A lone surrogate is no character; the kernel says so, and where.
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        super().__init__(data, document, stream, event_time)

    def whole(self) -> Piece | None:
        return super().whole() if self._has_tag() else None

    def pieces(self) -> Iterator[Piece]:
        if not self._has_tag():
            # Somebody who passes the name of a file should not have to guess.
            reason = "a str is XML text and this one has no tag; pass a pathlib.Path for a file"
            raise DocumentError("PS0003", reason, 0, 1, "")
        return super().pieces()

    def _has_tag(self) -> bool:
        return _TAG.search(self._data) is not None


def _flat(data: bytearray | memoryview) -> Piece:
    """Return a view of single bytes."""
    return memoryview(data).cast("B") if len(data) else b""


def _split(data: Piece) -> Iterator[Piece]:
    view = memoryview(data)
    for start in range(0, len(view), CHUNK_BYTES):
        yield view[start : start + CHUNK_BYTES]
