"""Rows as Arrow record batches, made of the kernel's columns without touching a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from penstock.engine.driver import Pace, Portion
from penstock.registry.plans.names import look_up
from penstock.results.arrow import batch_of, kernel_arrays, kind_names, schema

if TYPE_CHECKING:
    import pyarrow as pa

PACE = Pace(rows_max=16 << 10, value_bytes_max=4 << 20, documents_max=16 << 10, linger_seconds=0.05)

_KEPT_ROWS_MIN = 1 << 10
_KEPT_ROWS_MAX = 2 * PACE.rows_max


def batches_of(portions: Iterable[Portion]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of portions as record batches."""
    for portion in portions:
        if portion.batch.row_count:
            yield _batch(portion)
        further = portion.further_rows()
        if further:
            yield batch_of(further)


def _batch(portion: Portion) -> pa.RecordBatch:
    import pyarrow as pa
    import pyarrow.compute as pc

    arrays = kernel_arrays(portion.batch.columns())
    length = portion.batch.row_count

    def named(values_at: Callable[[Any], Any], places: Any, type_: Any) -> Any:
        # Mostly all rows of a large batch have one subscription, one kind and one document.
        if length >= _KEPT_ROWS_MIN:
            bounds = pc.min_max(places)
            if bounds["min"] == bounds["max"]:
                return _constant(values_at(places.slice(0, 1))[0].as_py(), type_, length)
        return values_at(places).cast(type_)

    def of_documents(field: str) -> Any:
        type_ = schema().field(field).type
        values = pa.array([getattr(document, field) for document in portion.documents], type_)
        return named(values.take, numbers, type_)

    numbers = arrays["document"]
    subscriptions = partial(look_up, portion.names)
    arrays["subscription"] = named(subscriptions, arrays["subscription"], pa.string())
    arrays["kind"] = named(kind_names().take, arrays["kind"], pa.string())
    for field in ("stream", "document", "event_time"):
        arrays[field] = of_documents(field)
    columns = [
        arrays[field.name] if field.name in arrays else pa.nulls(length, field.type)
        for field in schema()
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema())


def _constant(value: object, type_: Any, length: int) -> Any:
    """Return an array of equal values; long ones are slices of one that is kept."""
    import pyarrow as pa

    if value is None:
        return pa.nulls(length, type_)
    if length < _KEPT_ROWS_MIN or length > _KEPT_ROWS_MAX:
        return pa.repeat(pa.scalar(value, type_), length)
    return _kept_constant(value, type_).slice(0, length)


@lru_cache(maxsize=16)
def _kept_constant(value: object, type_: Any) -> Any:
    import pyarrow as pa

    return pa.repeat(pa.scalar(value, type_), _KEPT_ROWS_MAX)
