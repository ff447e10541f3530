"""Stage 1 in Spark's workers: record batches of documents in, their witnesses out.

Each document is read once. Its witnesses are rows of several kinds in one relation, which the
relations of stage 2 are taken from.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from papers.mmqjp.spark.paths import Paths
from penstock.errors import DocumentError
from penstock.joins import WitnessReader
from penstock.kernel import witness_columns
from penstock.limits import Limits
from penstock.results.arrow import columns_of
from penstock.results.documents import check_event_time
from penstock.spark.joins.reading import read_each
from penstock.spark.rows import error_batch
from penstock.spark.times import event_times, times_of

if TYPE_CHECKING:
    import pyarrow as pa

DOCUMENT, BINDING, EDGE, NODE, ERROR = "document", "binding", "edge", "node", "error"
"""The kinds of rows."""

FAULT = "struct<code: string, reason: string, byte: bigint, line: bigint, path: string>"
SCHEMA = (
    "kind string, document bigint, time bigint, variable int, edge int, above int, node int, "
    "start bigint, end bigint, value string, text string, id string, stream string, "
    f"event_time timestamp, error {FAULT}, source binary"
)

RECORD_BYTES_MAX = 4 << 20
"""Records of so many bytes are written at a time …"""
DOCUMENTS_MAX = 4 << 10
"""… or of so many documents."""
_READERS_KEPT = 4

_idle: OrderedDict[tuple[str, Limits], WitnessReader] = OrderedDict()
"""Readers that no task uses; the oldest goes first."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a task needs to know; ``name`` tells paths apart."""

    name: str
    paths: Paths
    limits: Limits
    is_text: bool
    has_faults: bool = False
    """Whether the last column says why a source could not read a document."""


def read(reading: Reading, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the witnesses of documents, and what is wrong with those that failed.

    The columns of a batch are document, id, time, stream, number and time in microseconds.
    """
    with reader_of(reading) as reader:
        for batch in batches:
            times = event_times(times_of(batch.column(2)))
            timed = batch.set_column(2, batch.schema.names[2], times)
            yield from _read(reading, reader, timed)


@contextmanager
def reader_of(reading: Reading) -> Iterator[WitnessReader]:
    """Give a reader of documents, which is kept for the next task."""
    key = (reading.name, reading.limits)
    reader = _idle.pop(key) if key in _idle else reading.paths.load(reading.limits)
    yield reader
    _idle[key] = reader
    while len(_idle) > _READERS_KEPT:
        _idle.popitem(last=False)


def _read(
    reading: Reading, reader: WitnessReader, batch: pa.RecordBatch
) -> Iterator[pa.RecordBatch]:
    faults = batch.column(6) if reading.has_faults else None
    documents: list[tuple[int, int, str]] = []
    records: list[bytes] = []
    failures: list[tuple[int, DocumentError]] = []
    size = 0
    found = read_each(reader, _readable(batch, faults), reading.is_text, 0)
    witnesses = ((one.document, one.witness) for one in found)
    cells = zip(*(batch.column(place).to_pylist() for place in (4, 5, 1)), strict=True)
    for place, (cell, (_, witness)) in enumerate(zip(cells, witnesses, strict=True)):
        try:
            check_event_time(cell[1])
        except DocumentError as error:
            witness = error
        if isinstance(witness, DocumentError):
            failures.append((place, witness))
        elif record := reader.joins.record(witness, 0, "", 0, 0):
            documents.append(cell)
            records.append(record)
            size += len(record)
        if size > RECORD_BYTES_MAX or len(records) > DOCUMENTS_MAX:
            yield from _batches(reading, documents, records)
            documents, records, size = [], [], 0
    if records:
        yield from _batches(reading, documents, records)
    if failures:
        rows = error_batch(failures, batch.select(range(4)), faults)
        kept = {name: rows.column(name) for name in ("stream", "event_time", "error", "source")}
        yield _batch(ERROR, rows.num_rows, id=rows.column("document"), **kept)


def _readable(batch: pa.RecordBatch, faults: Any) -> pa.RecordBatch:
    """Return a batch without the documents that their source could not read."""
    import pyarrow.compute as pc

    if faults is None or faults.null_count == len(faults):
        return batch
    documents = pc.if_else(faults.is_null(), batch.column(0), None)
    return batch.set_column(0, batch.schema.names[0], documents)


def _batches(
    reading: Reading, documents: list[tuple[int, int, str]], records: list[bytes]
) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    numbers, times, ids = (pa.array(cells) for cells in zip(*documents, strict=True))
    yield _batch(DOCUMENT, len(ids), document=numbers, time=times, id=ids)
    tables = witness_columns(records, reading.paths.pairs)
    nodes, bindings, edges = (columns_of(table) for table in tables)
    places = nodes["document"]
    nodes |= {"document": numbers.take(places), "time": times.take(places)}
    yield _batch(NODE, len(places), **nodes)
    for kind, rows in ((BINDING, bindings), (EDGE, edges)):
        row = rows.pop("row")
        for name in ("document", "time", "node", "value"):
            rows[name] = nodes[name].take(row)
        yield _batch(kind, len(row), **rows)


def _batch(kind: str, length: int, **columns: Any) -> pa.RecordBatch:
    """Return rows of one kind; columns that they do not have are null."""
    import pyarrow as pa

    columns["kind"] = pa.repeat(kind, length)
    arrays = [
        columns[field.name].cast(field.type)
        if field.name in columns
        else pa.nulls(length, field.type)
        for field in _schema()
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=_schema())


def _schema() -> pa.Schema:
    import pyarrow as pa

    from penstock.results.arrow import schema

    rows = schema()
    int_, long, text = pa.int32(), pa.int64(), pa.string()
    return pa.schema(
        {
            "kind": text,
            "document": long,
            "time": long,
            "variable": int_,
            "edge": int_,
            "above": int_,
            "node": int_,
            "start": long,
            "end": long,
            "value": text,
            "text": text,
            "id": text,
            "stream": text,
            "event_time": rows.field("event_time").type,
            "error": rows.field("error").type,
            "source": pa.binary(),
        }
    )
