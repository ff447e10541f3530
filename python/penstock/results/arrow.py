"""The rows as Arrow record batches; pyarrow is imported when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from typing import Any

from penstock import extras
from penstock.results.columns import COLUMNS, FAULT_FIELDS, Bindings, Fault, Texts
from penstock.results.rows import KINDS, Result

KEPT_ROWS_MIN = 1 << 10
"""Shorter arrays of equal values are made anew."""
_KEPT_ROWS_MAX = 128 << 10
_KEPT_TEXT_MAX = 1 << 10

_OF_MATCHES = {"ordinal": 0, "name": "", "value": "", "start": None, "end": None, "bindings": None}
"""What a row says that is nothing but a match."""
_CONVERSIONS: dict[Any, Callable[[Any], Any]] = {
    Bindings: lambda bindings: list(bindings.items()),
    Fault: Fault.as_dict,
}
"""What makes values such that Arrow takes them, where it does not yet."""


@cache
def schema() -> Any:
    """Return the Arrow schema of the rows.

    Raises:
        ImportError: pyarrow is not installed; ``pip install penstock-xml[arrow]`` does that.
    """
    return schema_of(COLUMNS)


def schema_of(columns: Mapping[str, Any]) -> Any:
    """Return the Arrow schema of columns whose types are named as those of the rows."""
    import pyarrow as pa

    text = pa.string()
    types = {
        str: text,
        int: pa.int64(),
        bytes: pa.binary(),
        datetime: pa.timestamp("us", tz="UTC"),
        Texts: pa.list_(text),
        Bindings: pa.map_(text, text),
    }
    types[Fault] = pa.struct([(name, types[type_]) for name, type_ in FAULT_FIELDS.items()])
    return pa.schema([(name, types[type_]) for name, type_ in columns.items()])


@cache
def kind_names() -> Any:
    """Return the kinds as an array that the kernel's codes index."""
    import pyarrow as pa

    return pa.array(KINDS, pa.string())


def load_arrow() -> None:
    """Load what batches need.

    Whoever calls this reports a missing pyarrow, and the first batch waits for no import.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    extras.load("pyarrow.compute", "arrow")
    schema()
    kind_names()


def columns_of(table: Any) -> dict[str, Any]:
    """Return the arrays of whatever Arrow reads as a record batch, by name."""
    import pyarrow as pa

    batch = pa.record_batch(table)
    return dict(zip(batch.schema.names, batch.columns, strict=True))


def kernel_arrays(columns: Any) -> dict[str, Any]:
    """Return the kernel's columns as arrays over the same memory.

    ``subscription``, ``document`` and ``kind`` are numbers yet. Columns that the kernel leaves out
    say of all rows what they say of a match.
    """
    arrays = columns_of(columns)
    for name, value in _OF_MATCHES.items():
        if name not in arrays:
            arrays[name] = constant(value, schema().field(name).type, len(columns))
    return arrays


def constant(value: object, type_: Any, length: int) -> Any:
    """Return an array of equal values; long ones are slices of one that is kept, if not texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if length < KEPT_ROWS_MIN or length > _KEPT_ROWS_MAX:
        return pa.repeat(pa.scalar(value, type_), length)
    if isinstance(value, str) and len(value) < _KEPT_TEXT_MAX:
        # Much faster than ``pa.repeat``, and document ids are hardly ever the same again.
        data = value.encode()
        offsets = pc.multiply(_kept_places().slice(0, length + 1), pa.scalar(len(data), pa.int32()))
        return pa.StringArray.from_buffers(
            length, offsets.buffers()[1], pa.py_buffer(data * length)
        )
    return _kept_constant(value, type_).slice(0, length)


@cache
def _kept_places() -> Any:
    import pyarrow as pa

    return pa.array(range(_KEPT_ROWS_MAX + 1), pa.int32())


def repeated(runs: Iterable[tuple[object, int]], type_: Any) -> Any:
    """Return an array of values, each so many times."""
    import pyarrow as pa

    merged: list[tuple[object, int]] = []
    for value, count in runs:
        if merged and merged[-1][0] == value:
            count += merged.pop()[1]
        merged.append((value, count))
    parts = [constant(value, type_, count) for value, count in merged]
    return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)


@lru_cache(maxsize=32)
def _kept_constant(value: object, type_: Any) -> Any:
    import pyarrow as pa

    return pa.repeat(pa.scalar(value, type_), _KEPT_ROWS_MAX)


def batch_of(rows: Sequence[Result]) -> Any:
    """Return rows as one record batch: the slow way, for a few rows such as errors."""
    import pyarrow as pa

    arrays = []
    for name, type_ in COLUMNS.items():
        values = [getattr(row, name) for row in rows]
        if convert := _CONVERSIONS.get(type_):
            values = [None if value is None else convert(value) for value in values]
        arrays.append(pa.array(values, schema().field(name).type))
    return pa.RecordBatch.from_arrays(arrays, schema=schema())
