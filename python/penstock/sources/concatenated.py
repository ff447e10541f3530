"""Several documents in one file or pipe, one after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import BinaryIO, cast

from penstock.errors import DocumentError
from penstock.kernel import WHOLE_BYTES_MAX, Cutter
from penstock.results import Heartbeat
from penstock.sources.inputs import Input, Piece, Refused
from penstock.sources.memory import BytesInput
from penstock.sources.streams import StreamInput

_START, _END = object(), object()


def separated(items: Iterable[Input | Heartbeat]) -> Iterator[Input | Heartbeat]:
    """Yield the documents that stand in each of the inputs, one after the other.

    The id of a document is that of its input with ``#`` and its number, from 0 on. A document
    begins at its declaration, its document type or its root element, whatever was before; what
    follows a root element belongs to it. White space alone is no document.
    """
    for item in items:
        if isinstance(item, Heartbeat | Refused):
            yield item
            continue
        for number, data in enumerate(separate(item.pieces())):
            yield _input(item, number, data)


def separate(pieces: Iterator[Piece]) -> Iterator[bytes | Iterator[Piece]]:
    """Yield the documents of one input: their bytes if they are at hand, or else their pieces.

    Pieces that are not read when the next document is asked for are skipped. An error of the
    input is that of its last document.
    """
    cuts = _Cuts(pieces)
    while cuts.begin():
        data = cuts.whole()
        if data is not None:
            yield data
            continue
        yield cuts.rest()
        with suppress(DocumentError):  # nobody wanted to read so far
            for _ in cuts.rest():
                pass


def _input(whole: Input, number: int, data: bytes | Iterator[Piece]) -> Input:
    about = (f"{whole.document}#{number}", whole.stream, whole.event_time)
    made: Input
    if isinstance(data, bytes):
        made = BytesInput(data, *about)
    else:
        made = StreamInput(cast("BinaryIO", _File(data)), *about)
    made.encoding = whole.encoding
    return made


class _File:
    """Pieces as a binary file."""

    def __init__(self, pieces: Iterator[Piece]) -> None:
        self._pieces = pieces

    def read(self, count: int = -1) -> bytes:
        return bytes(next(self._pieces, b""))


class _Cuts:
    """The pieces of an input, with marks where documents begin."""

    def __init__(self, pieces: Iterator[Piece]) -> None:
        self._pieces = pieces
        self._cutter = Cutter()
        self._waiting: deque[bytes | object] = deque()
        self._uncertain = b""
        self._base = 0
        """The offset of the first byte that is uncertain."""

    def begin(self) -> bool:
        """Go to the beginning of the next document; return whether there is one."""
        while True:
            match self._next():
                case bytes(data):
                    if data := data.lstrip(b" \t\r\n"):
                        self._waiting.appendleft(data)
                        return True
                case DocumentError() as error:
                    self._waiting.appendleft(error)
                    return True
                case end if end is _END:
                    return False

    def whole(self) -> bytes | None:
        """Take the document that has begun, if its end is at hand and it is small."""
        count = 0
        for place, entry in enumerate(self._waiting):
            if not isinstance(entry, bytes):
                if isinstance(entry, DocumentError):
                    return None
                parts = [cast("bytes", self._waiting.popleft()) for _ in range(place)]
                return b"".join(parts)
            count += len(entry)
            if count > WHOLE_BYTES_MAX:
                break
        return None

    def rest(self) -> Iterator[bytes]:
        """Yield the rest of the document that has begun."""
        while isinstance(entry := self._next(), bytes):
            yield entry
        if isinstance(entry, DocumentError):
            raise entry
        self._waiting.appendleft(entry)

    def _next(self) -> bytes | object:
        while not self._waiting:
            self._read()
        return self._waiting.popleft()

    def _read(self) -> None:
        end: object = _END
        try:
            piece = next(self._pieces, b"")
        except DocumentError as error:
            piece, end = b"", error
        if not piece:
            if self._uncertain:
                self._waiting.append(self._uncertain)
                self._base += len(self._uncertain)
                self._uncertain = b""
            self._waiting.append(end)
            return
        starts, certain = self._cutter.feed(piece)
        data = self._uncertain + bytes(piece)
        place = 0
        for start in starts:
            if start - self._base > place:
                self._waiting.append(data[place : start - self._base])
            self._waiting.append(_START)
            place = start - self._base
        upto = certain - self._base
        if upto > place:
            self._waiting.append(data[place:upto])
        self._uncertain = data[upto:]
        self._base = certain
