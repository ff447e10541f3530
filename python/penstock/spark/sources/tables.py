"""Rows of the sources, collected into Arrow record batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from penstock.errors import DocumentError
from penstock.results.columns import Fault

ROWS_MAX = 4096
"""A batch has at most this many rows …"""
BYTES_MAX = 4 << 20
"""… and ends with the row that takes its documents past this."""

Row = tuple[Any, ...]


def fault_of(error: DocumentError) -> dict[str, Any]:
    """Return an error as a value of the column ``fault``."""
    return Fault.of(error).as_dict()


def batches(
    rows: Iterable[Row], schema: Any, xml: int, places: Sequence[int] | None = None
) -> Iterator[Any]:
    """Yield record batches of rows, in which documents stand at the position ``xml``.

    ``places`` are the positions of the values that become columns: all unless given.
    """
    chosen = range(len(schema)) if places is None else places
    waiting: list[Row] = []
    waiting_bytes = 0
    for row in rows:
        waiting.append(row)
        waiting_bytes += len(row[xml] or b"")
        if len(waiting) >= ROWS_MAX or waiting_bytes >= BYTES_MAX:
            yield _batch(waiting, schema, chosen)
            waiting, waiting_bytes = [], 0
    if waiting:
        yield _batch(waiting, schema, chosen)


def _batch(rows: list[Row], schema: Any, places: Sequence[int]) -> Any:
    import pyarrow as pa

    arrays = [
        pa.array([row[place] for row in rows], field.type)
        for place, field in zip(places, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
