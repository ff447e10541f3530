"""The bytes of programs that request records, written and read: varints, strings and lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from penstock.planning.program import many, varint

T = TypeVar("T")


def counted(content: bytes) -> bytes:
    """Return bytes with their length before them."""
    return varint(len(content)) + content


def string(text: str) -> bytes:
    """Return a string with its length before it."""
    return counted(text.encode("utf-8", "surrogatepass"))


def optional(text: str | None) -> bytes:
    """Return a string that may be missing."""
    return b"\0" if text is None else b"\1" + string(text)


def lists(items: Iterable[list[int]]) -> bytes:
    """Return lists of numbers."""
    encoded = [many(words) for words in items]
    return varint(len(encoded)) + b"".join(encoded)


class ByteReader:
    """Reads forward what the functions above wrote."""

    def __init__(self, data: bytes, start: int) -> None:
        self._data = data
        self._at = start

    @property
    def place(self) -> int:
        """Where the next thing begins."""
        return self._at

    def number(self) -> int:
        """Return a number."""
        number = shift = 0
        while True:
            byte = self._data[self._at]
            self._at += 1
            number |= (byte & 0x7F) << shift
            if byte <= 0x7F:
                return number
            shift += 7

    def counted(self) -> bytes:
        """Return bytes."""
        length = self.number()
        self._at += length
        return self._data[self._at - length : self._at]

    def string(self) -> str:
        """Return a string."""
        return self.counted().decode("utf-8", "surrogatepass")

    def optional(self) -> str | None:
        """Return a string that may be missing."""
        return self.string() if self.number() else None

    def many(self, read: Callable[[], T]) -> list[T]:
        """Return the entries of a list."""
        return [read() for _ in range(self.number())]

    def numbers(self) -> list[int]:
        """Return a list of numbers."""
        return self.many(self.number)
