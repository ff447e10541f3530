"""Compressed bytes, recognised by their first ones: gzip, bzip2, xz and Zstandard."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

from penstock.errors import DocumentError
from penstock.kernel import CHUNK_BYTES
from penstock.sources.inputs import Piece

_WINDOW_BYTES_MAX = 256 << 20
"""A compressed file says how much memory it takes to read it; more than this is too much."""


class _Decompressor(Protocol):
    """One part of a compressed file, as ``bz2`` and ``lzma`` read it."""

    @property
    def eof(self) -> bool:
        """Whether the part has ended."""

    @property
    def needs_input(self) -> bool:
        """Whether nothing comes without further bytes."""

    @property
    def unused_data(self) -> bytes:
        """What follows the part."""

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """Return the next bytes, at most so many."""


class _Format(NamedTuple):
    name: str
    magic: bytes
    open: Callable[[], _Decompressor]


def _gzip() -> _Decompressor:
    return _Inflater(16 + zlib.MAX_WBITS)


def _bzip2() -> _Decompressor:
    import bz2

    return bz2.BZ2Decompressor()


def _xz() -> _Decompressor:
    import lzma

    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_WINDOW_BYTES_MAX)


def _zstd() -> _Decompressor:
    try:
        import zstandard
    except ImportError:
        reason = "the document is compressed with zstd; pip install 'penstock-xml[zstd]' to read it"
        raise DocumentError("PS0011", reason, 0, 0, "") from None
    return _Zstd(zstandard.ZstdDecompressor(max_window_size=_WINDOW_BYTES_MAX))


_FORMATS = (
    _Format("gzip", b"\x1f\x8b", _gzip),
    _Format("bzip2", b"BZh", _bzip2),
    _Format("xz", b"\xfd7zXZ\x00", _xz),
    _Format("zstd", b"\x28\xb5\x2f\xfd", _zstd),
)
MAGICS = tuple(form.magic for form in _FORMATS)
"""How compressed bytes begin; no XML begins like that."""
_MAGIC_BYTES_MAX = max(map(len, MAGICS))


def is_compressed(start: Piece | bytearray) -> bool:
    """Return whether bytes begin as compressed ones do."""
    return _format_of(start) is not None


def decompress(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Yield the pieces, decompressed if they are compressed; no piece is large.

    Raises:
        DocumentError: The compressed bytes are damaged or end too early, or what reads them is
            not installed.
    """
    first = next(pieces, b"")
    while _may_be_compressed(first) and (second := next(pieces, b"")):
        first = bytes(first) + bytes(second)
    form = _format_of(first)
    if form is not None:
        yield from _decompress(form, bytes(first), pieces)
    else:
        if first:
            yield first
        yield from pieces


def _format_of(start: Piece | bytearray) -> _Format | None:
    head = bytes(start[:_MAGIC_BYTES_MAX])
    return next((form for form in _FORMATS if head.startswith(form.magic)), None)


def _may_be_compressed(start: Piece) -> bool:
    """Return whether bytes are too few to tell: they begin a magic number, and do not end it."""
    return 0 < len(start) < _MAGIC_BYTES_MAX and any(
        len(start) < len(form.magic) and form.magic.startswith(bytes(start)) for form in _FORMATS
    )


def _decompress(form: _Format, first: bytes, pieces: Iterator[Piece]) -> Iterator[Piece]:
    part, count, data = form.open(), 0, first
    while True:
        try:
            output = part.decompress(data, CHUNK_BYTES)
        except MemoryError:
            raise
        except Exception as error:
            # Each library has an error of its own, some a bare Exception or OSError.
            raise _damaged(f"the {form.name} data is damaged: {error}", count) from None
        data = b""
        count += len(output)
        if output:
            yield output
        if part.eof:
            # Files may be put together from several parts, and filled up with zeros.
            data = part.unused_data.lstrip(b"\0")
            while not data and (piece := next(pieces, b"")):
                data = bytes(piece).lstrip(b"\0")
            if not data:
                return
            part = form.open()
        elif part.needs_input:
            data = bytes(next(pieces, b""))
            if not data:
                raise _damaged(f"the {form.name} data ends too early", count)


class _Inflater:
    """zlib with the interface of the others."""

    def __init__(self, bits: int) -> None:
        self._inflater = zlib.decompressobj(bits)

    @property
    def eof(self) -> bool:
        return self._inflater.eof

    @property
    def needs_input(self) -> bool:
        return not self._inflater.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._inflater.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        return self._inflater.decompress(self._inflater.unconsumed_tail + data, max_length)


class _Zstd:
    """Zstandard with the interface of the others.

    Its own object gives all output of its input at once, so input goes in small slices: four bytes
    may be a block of 128 KiB.
    """

    _SLICE_BYTES = 256

    def __init__(self, decompressor: Any) -> None:
        self._object = decompressor.decompressobj()
        self._input = memoryview(b"")
        self._output = b""

    @property
    def eof(self) -> bool:
        return bool(self._object.eof) and not self._output

    @property
    def needs_input(self) -> bool:
        return not self._output and not self._input

    @property
    def unused_data(self) -> bytes:
        return bytes(self._object.unused_data) + bytes(self._input)

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        if data:
            self._input = memoryview(bytes(self._input) + data)
        parts, length = [self._output], len(self._output)
        while self._input and length < max_length and not self._object.eof:
            output = self._object.decompress(self._input[: self._SLICE_BYTES])
            self._input = self._input[self._SLICE_BYTES :]
            parts.append(output)
            length += len(output)
        whole = b"".join(parts)
        self._output = whole[max_length:]
        return whole[:max_length]


def _damaged(reason: str, byte: int) -> DocumentError:
    return DocumentError("PS0002", reason, byte, 0, "")
