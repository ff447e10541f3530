"""Compressed bytes, told by their first two."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from penstock.errors import DocumentError
from penstock.kernel import CHUNK_BYTES
from penstock.sources.inputs import Piece

MAGIC = b"\x1f\x8b"
_GZIP = 16 + zlib.MAX_WBITS


def is_compressed(start: Piece | bytearray) -> bool:
    """Return whether bytes begin as gzip does; no XML begins like that."""
    return start[:2] == MAGIC


def inflate_if_compressed(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Yield the pieces, decompressed if they are gzip.

    Raises:
        DocumentError: The compressed bytes are damaged or end too early.
    """
    first = next(pieces, b"")
    while 0 < len(first) < len(MAGIC):
        second = next(pieces, b"")
        if not second:
            break
        first = bytes(first) + bytes(second)
    if is_compressed(first):
        yield from _inflate(first, pieces)
    else:
        if first:
            yield first
        yield from pieces


def _inflate(first: Piece, pieces: Iterator[Piece]) -> Iterator[Piece]:
    inflater = zlib.decompressobj(_GZIP)
    count = 0
    piece: Piece = first
    while piece:
        try:
            inflated = inflater.decompress(piece, CHUNK_BYTES)
        except zlib.error as error:
            raise _damaged(f"the gzip data is damaged: {error}", count) from None
        count += len(inflated)
        if inflated:
            yield inflated
        piece = inflater.unconsumed_tail
        if inflater.eof:
            # Files may be put together from several parts, and filled up with zeros.
            piece = inflater.unused_data.lstrip(b"\0")
            piece = piece or bytes(next(pieces, b"")).lstrip(b"\0")
            if piece:
                inflater = zlib.decompressobj(_GZIP)
        elif not piece:
            piece = next(pieces, b"")
    if not inflater.eof:
        raise _damaged("the gzip data ends too early", count)


def _damaged(reason: str, byte: int) -> DocumentError:
    return DocumentError("PS0002", reason, byte, 0, "")
