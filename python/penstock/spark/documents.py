"""The documents of a record batch, read where they lie in Arrow's memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise, repeat
from typing import Any

from penstock.sources.inputs import Input, Piece, unreadable
from penstock.sources.memory import BytesInput, TextInput


def documents_of(
    column: Any, is_text: bool, names: Iterable[tuple[str, str]] = repeat(("", "default"))
) -> Iterator[Input]:
    """Yield the documents of a column; ``names`` are their ids and streams."""
    import pyarrow as pa

    is_large = pa.types.is_large_binary(column.type) or pa.types.is_large_string(column.type)
    _, offsets, values = column.buffers()
    numbers = pa.int64() if is_large else pa.int32()
    places = pa.Array.from_buffers(numbers, len(column) + 1, [None, offsets], offset=column.offset)
    data = memoryview(b"") if values is None else memoryview(values).cast("B")
    make = TextInput if is_text else BytesInput
    ranges = pairwise(places.to_pylist())
    for (start, end), is_there, name in zip(
        ranges, column.is_valid().to_pylist(), names, strict=False
    ):
        yield make(data[start:end], *name, None) if is_there else NullInput(*name, None)


class NullInput(Input):
    """A document that is null."""

    def pieces(self) -> Iterator[Piece]:
        raise unreadable("the document is null")

    def original(self) -> bytes | None:
        return None
