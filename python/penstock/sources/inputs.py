"""What every source yields: a document to be read, piece by piece."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from datetime import datetime

from penstock.errors import DocumentError

SOURCE_BYTES_MAX = 8 << 20
"""The row of a failed document carries its bytes up to this size, and none beyond it."""

Piece = bytes | memoryview


class Input(ABC):
    """A document with everything but its bytes, which come in pieces."""

    encoding: str | None = None
    """What the bytes are, whatever the document says of itself."""

    def __init__(self, document: str, stream: str, event_time: datetime | None) -> None:
        self.document = document
        self.stream = stream
        self.event_time = event_time

    def whole(self) -> Piece | None:
        """Return all bytes of a document that is small and at hand; None: take the pieces."""
        return None

    def keep(self) -> None:  # noqa: B027  # most inputs have nothing to copy
        """Copy what the caller may overwrite before the document is read."""

    def again(self) -> Input | None:
        """Return the same document to be read once more; None where that cannot be done."""
        return None

    @abstractmethod
    def pieces(self) -> Iterator[Piece]:
        """Yield the bytes of the document, decompressed. To be called once.

        Raises:
            DocumentError: The bytes cannot be read.
        """

    @abstractmethod
    def original(self) -> bytes | None:
        """Return the bytes as they came, or None if they are too many."""


class Refused(Input):
    """A document that is not read, because its event time is none."""

    def __init__(self, document: Input, error: DocumentError) -> None:
        super().__init__(document.document, document.stream, None)
        self._document = document
        self._error = error

    def pieces(self) -> Iterator[Piece]:
        raise self._error

    def original(self) -> bytes | None:
        return self._document.original()


def unreadable(reason: str, byte: int = 0) -> DocumentError:
    """Return the error for bytes that cannot be had."""
    return DocumentError("PS0001", reason, byte, 0, "")


def changed() -> DocumentError:
    """Return the error for a file that is not what it was."""
    return DocumentError("PS0004", "the file changed while it was being read", 0, 0, "")
