"""The documents of a record batch, read where they lie in Arrow's memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

from penstock.kernel import WHOLE_BYTES_MAX
from penstock.sources.compression import MAGICS
from penstock.sources.inputs import Input, Piece, unreadable
from penstock.sources.packs import Pack


def documents_of(
    column: Any, is_text: bool, streams: Sequence[str] | None = None
) -> Iterator[Input | Pack]:
    """Yield the documents of a column; neighbours that are plain come as a pack."""
    import pyarrow as pa

    if not len(column):
        return
    is_large = pa.types.is_large_binary(column.type) or pa.types.is_large_string(column.type)
    _, offsets, values = column.buffers()
    places = memoryview(offsets).cast("q" if is_large else "i")[column.offset :]
    data = memoryview(b"") if values is None else memoryview(values).cast("B")
    documents = Pack(data, places[: len(column) + 1], is_text, streams)
    start = 0
    for odd in _odd_ones(column, is_text):
        if start < odd:
            yield documents[start:odd]
        yield documents[odd] if column[odd].is_valid else NullInput("", "default", None)
        start = odd + 1
    if start < len(column):
        yield documents[start:]


def _odd_ones(column: Any, is_text: bool) -> list[int]:
    """Return the places of what is null, large, compressed, or text without a tag."""
    import pyarrow.compute as pc

    if is_text:
        is_odd = pc.invert(pc.match_substring(column, "<"))
    else:
        is_odd = reduce(pc.or_, (pc.starts_with(column, magic) for magic in MAGICS))
    is_odd = pc.or_(is_odd, pc.greater(pc.binary_length(column), WHOLE_BYTES_MAX))
    places: list[int] = pc.indices_nonzero(pc.fill_null(is_odd, True)).to_pylist()
    return places


class NullInput(Input):
    """A document that is null."""

    def pieces(self) -> Iterator[Piece]:
        raise unreadable("the document is null")

    def original(self) -> bytes | None:
        return None
