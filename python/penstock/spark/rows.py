"""The kernel's columns, and documents that failed, as record batches with what came along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from penstock.errors import DocumentError
from penstock.kernel import Columns
from penstock.registry.plans.names import look_up
from penstock.results import Fault
from penstock.results.arrow import kernel_arrays, kind_names, schema
from penstock.sources.inputs import SOURCE_BYTES_MAX

if TYPE_CHECKING:
    import pyarrow as pa

COUNT = "count"
"""The kind of a row that counts documents: ``ordinal`` of them, with ``end`` bytes."""

TOLD = "told"
"""The kind of a row that says, as its value, what a task found for the joins."""

USAGE = "usage"
"""The kind of a row that says what a subscription cost in a task: ``end`` microseconds of core
time. The row of nobody has the whole evaluation."""

SILENT = (COUNT, TOLD, USAGE)
"""The kinds of rows that are for the driver."""


def result_batch(columns: Columns, names: Sequence[str], inputs: Any) -> pa.RecordBatch:
    """Return the rows of documents; ``inputs`` are the documents, by their numbers."""
    import pyarrow as pa

    arrays = kernel_arrays(columns)
    arrays["subscription"] = look_up(names, arrays["subscription"]).cast(pa.string())
    arrays["kind"] = kind_names().take(arrays["kind"])
    return assemble(arrays, _besides(inputs).take(arrays.pop("document")))


def error_batch(
    failures: Sequence[tuple[int, DocumentError]],
    inputs: Any,
    faults: Any = None,
    columns: Any = None,
) -> pa.RecordBatch:
    """Return one row for each document that failed, or subscription that failed at one.

    ``columns`` are the columns of the rows as a schema, by default those of ``match``.

    The row of a subscription has its name and no source: all others have read the document.
    ``faults`` are what sources said of documents that they could not read, by their numbers.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    places = pa.array([number for number, _ in failures], pa.uint32())
    failed = inputs.take(places)
    length = len(failures)
    errors = [Fault.of(error).as_dict() for _, error in failures]
    found = pa.array(errors, schema().field("error").type)
    subscriptions = pa.array([error.subscription for _, error in failures], pa.string())
    is_document = subscriptions.is_null()
    if faults is not None:
        told = faults.take(places).cast(found.type)
        found = pc.if_else(pc.and_(is_document, told.is_valid()), told, found)
    source = failed.column(0).cast(pa.binary())
    is_small = pc.less_equal(pc.binary_length(source), SOURCE_BYTES_MAX)
    made = {
        "subscription": subscriptions,
        "ordinal": pa.array([error.ordinal for _, error in failures], pa.int64()),
        "kind": pa.repeat("error", length),
        "name": pa.repeat("", length),
        "decided_at": pa.array([error.byte for _, error in failures], pa.int64()),
        "error": found,
        "source": pc.if_else(pc.and_(is_document, is_small), source, None),
    }
    return assemble(made, _besides(failed), columns)


def count_batch(inputs: Any) -> pa.RecordBatch:
    """Return one row that says how many the documents are, and how many bytes they have."""
    import pyarrow as pa
    import pyarrow.compute as pc

    sizes = pc.sum(pc.binary_length(inputs.column(0)), min_count=0).as_py()
    made = {
        "ordinal": pa.array([inputs.num_rows], pa.int64()),
        "kind": pa.array([COUNT]),
        "name": pa.array([""]),
        "start": pa.array([0], pa.int64()),
        "end": pa.array([sizes], pa.int64()),
    }
    return assemble(made, _besides(inputs.slice(0, 1)))


def usage_batch(seconds: float, shares: Mapping[str, float], inputs: Any) -> pa.RecordBatch:
    """Return rows that say what an evaluation cost, and what part of it subscriptions did."""
    import pyarrow as pa

    costs = [seconds, *(share * seconds for share in shares.values())]
    count = len(costs)
    made = {
        "subscription": pa.array([None, *shares], pa.string()),
        "kind": pa.array([USAGE] * count),
        "name": pa.array([""] * count),
        "end": pa.array([round(cost * 1e6) for cost in costs], pa.int64()),
    }
    first = _besides(inputs.slice(0, 1))
    return assemble(made, first.take(pa.array([0] * count)))


def told_batch(told: str, inputs: Any) -> pa.RecordBatch:
    """Return one row that says what a task found for the joins."""
    import pyarrow as pa

    made = {"kind": pa.array([TOLD]), "name": pa.array([""]), "value": pa.array([told])}
    return assemble(made, _besides(inputs.slice(0, 1)))


def _besides(inputs: Any) -> Any:
    """Return everything of the inputs but the documents, of which a row has no use."""
    return inputs.select(range(1, inputs.num_columns))


def assemble(made: dict[str, Any], inputs: Any, columns: Any = None) -> pa.RecordBatch:
    """Return the columns in order: those made, those of the input, and nulls for the others.

    ``columns`` is a schema of all but those that come along, by default that of rows.
    """
    import pyarrow as pa

    id_, event_time, stream, *kept = inputs.columns
    of_input = {"document": id_, "event_time": event_time, "stream": stream}
    arrays = []
    columns = schema() if columns is None else columns
    for field in columns:
        if field.name in made:
            arrays.append(made[field.name])
        elif field.name in of_input:
            arrays.append(of_input[field.name].cast(field.type))
        else:
            arrays.append(pa.nulls(inputs.num_rows, field.type))
    kept_names = inputs.schema.names[-len(kept) :] if kept else []
    return pa.RecordBatch.from_arrays([*arrays, *kept], names=[*columns.names, *kept_names])
