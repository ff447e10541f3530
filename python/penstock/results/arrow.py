"""The rows as Arrow record batches; pyarrow is imported when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from typing import Any

from penstock.results.columns import COLUMNS, FAULT_FIELDS, Bindings, Fault, Texts
from penstock.results.rows import KINDS, Result

KEPT_ROWS_MIN = 1 << 10
"""Shorter arrays of equal values are made anew."""
_KEPT_ROWS_MAX = 128 << 10
_KEPT_TEXT_MAX = 1 << 10

_CONVERSIONS: dict[Any, Callable[[Any], Any]] = {
    Bindings: lambda bindings: list(bindings.items()),
    Fault: Fault.as_dict,
}
"""What makes values such that Arrow takes them, where it does not yet."""


@cache
def schema() -> Any:
    """Return the Arrow schema of the rows.

    Raises:
        ImportError: pyarrow is not installed; ``pip install penstock[arrow]`` does that.
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


def _bindings(columns: Mapping[str, Any], length: int) -> Any:
    """Return the column of values beside results from the kernel's buffers."""
    import pyarrow as pa

    type_ = schema().field("bindings").type
    if "bindings_offsets" not in columns:
        return constant(None, type_, length)

    def buffer(name: str) -> Any:
        return pa.py_buffer(columns[f"bindings_{name}"])

    offsets = buffer("offsets")
    (count,) = memoryview(offsets).cast("i")[-1:]
    names = pa.StringArray.from_buffers(count, buffer("name_offsets"), buffer("name_bytes"))
    values = pa.StringArray.from_buffers(
        count, buffer("value_offsets"), buffer("value_bytes"), buffer("value_valid")
    )
    fields = [type_.key_field, type_.item_field]
    pairs = pa.StructArray.from_arrays([names, values], fields=fields)
    return pa.Array.from_buffers(type_, length, [buffer("valid"), offsets], children=[pairs])


def load_arrow() -> None:
    """Load what batches need.

    A missing pyarrow is reported by whoever calls this, and the first batch waits for no import.
    """
    import pyarrow.compute  # noqa: F401

    schema()
    kind_names()


def kernel_arrays(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return the kernel's columns as arrays over the same memory.

    ``subscription``, ``document`` and ``kind`` are numbers yet. Columns that are empty, though
    there are rows, say of all of them what they say of a match.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    length = columns["length"]

    def numbers(name: str, type_: Any) -> Any:
        return pa.Array.from_buffers(type_, length, [None, pa.py_buffer(columns[name])])

    is_bare = length > 0 and not len(columns["ordinal"])

    def strings(name: str) -> Any:
        if is_bare:
            return constant("", pa.string(), length)
        offsets, data = (pa.py_buffer(columns[f"{name}_{part}"]) for part in ("offsets", "bytes"))
        return pa.StringArray.from_buffers(length, offsets, data)

    def offsets(name: str) -> Any:
        if is_bare:
            return constant(None, pa.int64(), length)
        found = numbers(name, pa.int64())
        if not length:
            return found
        # Rows are mostly of one kind: all of them have a place, or none.
        least, most = pc.min_max(found).as_py().values()
        if least >= 0:
            return found
        return constant(None, pa.int64(), length) if most < 0 else _places_only(found)

    return {
        "subscription": numbers("subscription", pa.uint32()),
        "document": numbers("document", pa.uint32()),
        "ordinal": constant(0, pa.int64(), length) if is_bare else numbers("ordinal", pa.int64()),
        "kind": numbers("kind", pa.uint8()),
        "name": strings("name"),
        "value": strings("value"),
        "start": offsets("start"),
        "end": offsets("end"),
        "decided_at": numbers("decided_at", pa.int64()),
        "bindings": _bindings(columns, length),
    }


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


def _places_only(offsets: Any) -> Any:
    import pyarrow.compute as pc

    return pc.if_else(pc.equal(offsets, -1), None, offsets)


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
