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

from penstock.errors import DocumentError
from penstock.joins import WitnessReader
from penstock.kernel import witness_columns
from penstock.limits import Limits
from penstock.results.documents import check_event_time
from penstock.sources.inputs import SOURCE_BYTES_MAX, Input, unreadable
from penstock.sources.memory import BytesInput, TextInput
from penstock.spark.joins.batch.paths import Paths
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
            table = _Table(reading, reader)
            times = event_times(times_of(batch.column(2)))
            timed = batch.set_column(2, batch.schema.names[2], times)
            for row in zip(*timed.columns, strict=True):
                table.read(*(cell.as_py() for cell in row))
                if table.is_full:
                    yield from table.take()
            yield from table.take()


@contextmanager
def reader_of(reading: Reading) -> Iterator[WitnessReader]:
    """Give a reader of documents, which is kept for the next task."""
    key = (reading.name, reading.limits)
    reader = _idle.pop(key) if key in _idle else reading.paths.load(reading.limits)
    yield reader
    _idle[key] = reader
    while len(_idle) > _READERS_KEPT:
        _idle.popitem(last=False)


def read_input(reader: WitnessReader, document: Input) -> bytes:
    """Return the record of a document, empty if nothing in it joins.

    Raises:
        DocumentError: The document is not well-formed or cannot be read.
        LimitError: The document passed a limit.
    """
    witness = reader.read(document.stream, document.pieces(), document.encoding)
    return reader.joins.record(witness, 0, "", 0, 0)


class _Table:
    """Documents that were read and not yet written."""

    def __init__(self, reading: Reading, reader: WitnessReader) -> None:
        self._reading = reading
        self._reader = reader
        self._pairs = reading.paths.pairs
        self._clear()

    def _clear(self) -> None:
        self._documents: list[tuple[int, int, str]] = []
        self._records: list[bytes] = []
        self._bytes = 0
        self._failed: list[dict[str, Any]] = []

    @property
    def is_full(self) -> bool:
        """Whether it is time to write."""
        return self._bytes > RECORD_BYTES_MAX or len(self._records) > DOCUMENTS_MAX

    def read(
        self,
        data: Any,
        id_: str,
        event_time: Any,
        stream: str,
        number: int,
        time_us: int,
        fault: dict[str, Any] | None = None,
    ) -> None:
        """Read a document."""
        record = b""
        try:
            if fault is None:
                check_event_time(time_us)
                record = self._record(data, stream)
        except DocumentError as error:
            names = ("code", "reason", "byte", "line", "path")
            fault = {name: getattr(error, name) for name in names}
        if fault is not None:
            source = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
            is_small = source is not None and len(source) <= SOURCE_BYTES_MAX
            row = {"id": id_, "stream": stream, "event_time": event_time, "error": fault}
            self._failed.append({**row, "source": source if is_small else None})
        elif record:
            self._documents.append((number, time_us, id_))
            self._records.append(record)
            self._bytes += len(record)

    def _record(self, data: Any, stream: str) -> bytes:
        if data is None:
            raise unreadable("the document is null")
        make = TextInput if self._reading.is_text else BytesInput
        return read_input(self._reader, make(data, "", stream, None))

    def take(self) -> Iterator[pa.RecordBatch]:
        """Yield what was read, one batch for each kind of row."""
        import pyarrow as pa

        if self._records:
            yield from _batches(self._documents, witness_columns(self._records, self._pairs))
        if self._failed:
            type_ = _schema().field("error").type
            yield _batch(
                ERROR,
                len(self._failed),
                id=pa.array([row["id"] for row in self._failed]),
                stream=pa.array([row["stream"] for row in self._failed]),
                event_time=pa.array([row["event_time"] for row in self._failed]),
                error=pa.array([row["error"] for row in self._failed], type_),
                source=pa.array([row["source"] for row in self._failed], pa.binary()),
            )
        self._clear()


def _batches(
    documents: list[tuple[int, int, str]], columns: dict[str, Any]
) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    def numbers(name: str) -> Any:
        buffer = pa.py_buffer(columns[name])
        return pa.Array.from_buffers(pa.uint32(), buffer.size // 4, [None, buffer])

    def strings(name: str) -> Any:
        import pyarrow.compute as pc

        parts = ("offsets", "bytes", "valid")
        offsets, data, valid = (pa.py_buffer(columns[f"{name}_{part}"]) for part in parts)
        found = pa.StringArray.from_buffers(valid.size, offsets, data)
        is_there = pa.Array.from_buffers(pa.uint8(), valid.size, [None, valid])
        return pc.if_else(pc.equal(is_there, 1), found, None)

    ids = pa.array([id_ for _, _, id_ in documents], pa.string())
    documents_ = pa.array([number for number, _, _ in documents], pa.int64())
    times = pa.array([time for _, time, _ in documents], pa.int64())
    yield _batch(DOCUMENT, len(ids), document=documents_, time=times, id=ids)

    places, node, value = numbers("node_document"), numbers("node_number"), strings("value")
    of_node = {"document": documents_.take(places), "time": times.take(places)}
    whole = {
        **of_node,
        "node": node,
        "value": value,
        "start": numbers("node_start"),
        "end": numbers("node_end"),
        "text": strings("text"),
    }
    yield _batch(NODE, len(node), **whole)
    found = {**of_node, "node": node, "value": value}
    row = numbers("binding_row")
    bound = {name: column.take(row) for name, column in found.items()}
    yield _batch(BINDING, len(row), variable=numbers("binding_variable"), **bound)
    row = numbers("edge_row")
    below = {name: column.take(row) for name, column in found.items()}
    edge, above = numbers("edge_number"), numbers("edge_above")
    yield _batch(EDGE, len(row), edge=edge, above=above, **below)


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
