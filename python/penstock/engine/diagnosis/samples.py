"""Documents that are read again to see why a query finds nothing in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from penstock.sources import Input, Piece

BYTES_MAX = 16 << 20
"""So much of each document is looked at."""


class Samples:
    """Documents that can be read any number of times, each up to a number of bytes."""

    def __init__(self, read: Callable[[], Iterable[Input]], bytes_max: int = BYTES_MAX) -> None:
        self._read = read
        self._bytes_max = bytes_max
        self.kept: dict[str, object] = {}
        """What was learnt about the samples, and need not be read again."""
        self.count = 0
        """How many documents the last pass had."""
        self.is_cut = False
        """Whether a document was longer than the bound."""

    def __iter__(self) -> Iterator[Input]:
        self.count = 0
        for document in self._read():
            self.count += 1
            beginning = Beginning(document, self._bytes_max)
            yield beginning
            self.is_cut = self.is_cut or beginning.is_cut


class Beginning(Input):
    """The first pieces of a document, up to a number of bytes."""

    def __init__(self, document: Input, bytes_max: int) -> None:
        super().__init__(document.document, document.stream, document.event_time)
        self.encoding = document.encoding
        self._document = document
        self._bytes_max = bytes_max
        self.bytes = 0
        self.is_cut = False

    def pieces(self) -> Iterator[Piece]:
        for piece in self._document.pieces():
            if self.bytes >= self._bytes_max:
                self.is_cut = True
                return
            self.bytes += len(piece)
            yield piece

    def original(self) -> bytes | None:
        return self._document.original()
