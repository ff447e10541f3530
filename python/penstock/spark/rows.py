"""The kernel's columns, and documents that failed, as record batches with what came along."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.errors import DocumentError
from penstock.kernel import Column
from penstock.results import COLUMNS
from penstock.results.arrow import bindings_of, kind_names, schema
from penstock.sources.inputs import SOURCE_BYTES_MAX

if TYPE_CHECKING:
    import pyarrow as pa


def result_batch(columns: dict[str, int | Column], names: Any, inputs: Any) -> pa.RecordBatch:
    """Return the rows of documents; ``inputs`` are the documents, by their numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    length = columns["length"]
    assert isinstance(length, int)

    def numbers(name: str, type_: Any) -> Any:
        return pa.Array.from_buffers(type_, length, [None, pa.py_buffer(columns[name])])

    def strings(name: str) -> Any:
        offsets, data = (pa.py_buffer(columns[f"{name}_{part}"]) for part in ("offsets", "bytes"))
        return pa.StringArray.from_buffers(length, offsets, data)

    def offsets(name: str) -> Any:
        found = numbers(name, pa.int64())
        if pc.min(found).as_py() >= 0:
            return found
        return pc.if_else(pc.equal(found, -1), None, found)

    made = {
        "subscription": names.take(numbers("subscription", pa.uint32())),
        "ordinal": numbers("ordinal", pa.int64()),
        "kind": kind_names().take(numbers("kind", pa.uint8())),
        "name": strings("name"),
        "value": strings("value"),
        "start": offsets("start"),
        "end": offsets("end"),
        "decided_at": numbers("decided_at", pa.int64()),
        "bindings": bindings_of(columns, length),
    }
    # A document that was fed by itself has no number.
    is_single = inputs.num_rows == 1
    places = pa.repeat(0, length) if is_single else numbers("document", pa.uint32())
    return _assemble(made, _besides(inputs).take(places))


def error_batch(failures: list[tuple[int, DocumentError]], inputs: Any) -> pa.RecordBatch:
    """Return one row for each document that failed."""
    import pyarrow as pa
    import pyarrow.compute as pc

    failed = inputs.take(pa.array([number for number, _ in failures], pa.uint32()))
    errors = [error for _, error in failures]
    length = len(errors)
    bytes_ = pa.array([error.byte for error in errors], pa.int64())
    parts = [
        pa.array([error.code for error in errors], pa.string()),
        pa.array([error.reason for error in errors], pa.string()),
        bytes_,
        pa.array([error.line for error in errors], pa.int64()),
        pa.array([error.path for error in errors], pa.string()),
    ]
    source = failed.column(0).cast(pa.binary())
    is_small = pc.less_equal(pc.binary_length(source), SOURCE_BYTES_MAX)
    made = {
        "ordinal": pa.repeat(pa.scalar(0, pa.int64()), length),
        "kind": pa.repeat("error", length),
        "name": pa.repeat("", length),
        "decided_at": bytes_,
        "error": pa.StructArray.from_arrays(parts, fields=list(schema().field("error").type)),
        "source": pc.if_else(is_small, source, None),
    }
    return _assemble(made, _besides(failed))


def _besides(inputs: Any) -> Any:
    """Return everything of the inputs but the documents, of which a row has no use."""
    return inputs.select(range(1, inputs.num_columns))


def _assemble(made: dict[str, Any], inputs: Any) -> pa.RecordBatch:
    """Return the columns in order: those made, those of the input, and nulls for the others."""
    import pyarrow as pa

    id_, event_time, stream, *kept = inputs.columns
    of_input = {"document": id_, "event_time": event_time, "stream": stream}
    arrays = []
    for name in COLUMNS:
        type_ = schema().field(name).type
        if name in made:
            arrays.append(made[name])
        elif name in of_input:
            arrays.append(of_input[name].cast(type_))
        else:
            arrays.append(pa.nulls(inputs.num_rows, type_))
    kept_names = inputs.schema.names[-len(kept) :] if kept else []
    return pa.RecordBatch.from_arrays([*arrays, *kept], names=[*COLUMNS, *kept_names])
