"""Documents that are read again to see why a query finds nothing in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from penstock.sources import Input, Piece

BYTES_MAX = 16 << 20
"""At most so many bytes of each document are looked at."""
DOCUMENTS_MAX = 1000
"""At most so many documents are looked at."""


class Samples:
    """Documents that can be read any number of times, up to bounds.

    ``bytes_max`` bounds each document and, unless ``is_each`` is true, all of them together.
    ``documents`` is how many there are, where that may be more than can be read again.
    """

    def __init__(
        self,
        read: Callable[[], Iterable[Input]],
        bytes_max: int = BYTES_MAX,
        *,
        is_each: bool = False,
        documents: int = 0,
    ) -> None:
        self._read = read
        self._bytes_max = bytes_max
        self._is_each = is_each
        self._documents = documents
        self.kept: dict[str, object] = {}
        """What was learnt about the samples, and need not be read again."""
        self.count = 0
        """How many documents the last pass had."""
        self.is_cut = False
        """Whether a document was looked at in part only."""
        self._has_more = False
        """Whether there are documents that were not looked at."""

    def __iter__(self) -> Iterator[Input]:
        self.count, rest = 0, self._bytes_max
        for document in self._read():
            if not self._is_each and (rest <= 0 or self.count == DOCUMENTS_MAX):
                self._has_more = True
                return
            self.count += 1
            beginning = Beginning(document, self._bytes_max if self._is_each else rest)
            yield beginning
            rest -= beginning.bytes
            self.is_cut = self.is_cut or beginning.is_cut

    @property
    def extent(self) -> str:
        """What was looked at, if that is not everything; then it precedes what is said of it."""
        part = ", looked at in part" if self.is_cut else ""
        if self._has_more or self.count < self._documents:
            documents = "document" if self.count == 1 else f"{self.count} documents"
            return f"in the first {documents}{part}: "
        return "in the part that was looked at: " if self.is_cut else ""


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
