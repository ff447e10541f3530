"""Rows as Arrow record batches, made of the kernel's columns without touching a row."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING, Any

from penstock.engine.messages import MessagePage
from penstock.engine.reading import Pace, Portion
from penstock.kernel import BUNDLE_DOCUMENTS_MAX
from penstock.registry.plans.names import look_up
from penstock.results.arrow import (
    KEPT_ROWS_MIN,
    batch_of,
    constant,
    kernel_arrays,
    kind_names,
    repeated,
    schema,
)

if TYPE_CHECKING:
    import pyarrow as pa

PACE = Pace(
    rows_max=16 << 10,
    value_bytes_max=4 << 20,
    documents_max=16 << 10,
    linger_seconds=0.05,
    bundle_documents_max=BUNDLE_DOCUMENTS_MAX,
)

_BATCH_ROWS = 64 << 10
"""A bundle's rows become batches of this size: an array costs as much as some thousand rows."""


def batches_of(portions: Iterable[Portion]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of portions as record batches; an error comes behind its document's rows."""
    for portion in portions:
        errors = [number for number, _ in portion.errors]
        is_page = isinstance(portion.joined, MessagePage)
        further = portion.error_rows() if is_page else portion.further_rows()
        while (columns := portion.batch.next_columns(_BATCH_ROWS)) is not None:
            arrays = kernel_arrays(columns)
            numbers = arrays["document"]
            batch, start = _batch(portion, arrays), 0
            while errors and errors[0] < numbers[-1].as_py():
                end = bisect_right(numbers, errors.pop(0), key=methodcaller("as_py"))
                if end > start:
                    yield batch.slice(start, end - start)
                yield batch_of([further.pop(0)])
                start = end
            yield batch.slice(start)
        if further:
            yield batch_of(further)
        if isinstance(portion.joined, MessagePage):
            yield portion.joined.batch()


def _runs(numbers: Any) -> list[tuple[int, int]]:
    """Return the distinct numbers of a sorted array, and how often each of them is there."""
    runs, start = [], 0
    while start < len(numbers):
        number = numbers[start].as_py()
        end = bisect_right(numbers, number, start, key=methodcaller("as_py"))
        runs.append((number, end - start))
        start = end
    return runs


def _batch(portion: Portion, arrays: dict[str, Any]) -> pa.RecordBatch:
    import pyarrow as pa
    import pyarrow.compute as pc

    length = len(arrays["kind"])

    def named(names_of: Callable[[Any], Any], numbers: Any) -> Any:
        # Mostly all rows of a large batch have one kind, and often one subscription.
        if length >= KEPT_ROWS_MIN:
            bounds = pc.min_max(numbers)
            if bounds["min"] == bounds["max"]:
                return constant(names_of(numbers.slice(0, 1))[0].as_py(), pa.string(), length)
        return names_of(numbers).cast(pa.string())

    def of_documents(field: str) -> Any:
        type_ = schema().field(field).type
        values = [getattr(document, field) for document in portion.documents]
        return repeated(((values[number], count) for number, count in runs), type_)

    runs = _runs(arrays["document"])
    arrays["subscription"] = named(partial(look_up, portion.names), arrays["subscription"])
    arrays["kind"] = named(kind_names().take, arrays["kind"])
    for field in ("stream", "document", "event_time"):
        arrays[field] = of_documents(field)
    columns = [
        arrays[field.name] if field.name in arrays else constant(None, field.type, length)
        for field in schema()
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema())
