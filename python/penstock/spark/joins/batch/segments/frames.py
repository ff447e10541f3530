"""What tasks of a batch hand to each other, as rows of a DataFrame.

Records go to buckets, segments stay in theirs, rows of results wait for the end, and each task
tells the driver something. All of it travels through Spark's shuffles, so no folder is shared.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from penstock.results import Result
from penstock.results.arrow import batch_of
from penstock.results.arrow import schema as rows_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

RECORD, ROW, SEGMENT, TOLD = "record", "row", "segment", "told"
"""The kinds of rows."""

KIND, BUCKET, BODY, PARTS, FOUND = "kind", "bucket", "body", "parts", "found"
"""The columns: ``PARTS`` tells results apart that several tasks may find, ``FOUND`` is one."""

_WORD = 4
_PACK_BYTES = 256 << 10
"""Records that have no buckets yet are packed, so many bytes into one row: rows are dear."""
_BYTES_MAX = 8 << 20
"""Bodies of so many bytes are handed out at a time …"""
_ROWS_MAX = 4 << 10
"""… or so many rows."""


@dataclass(slots=True)
class Told:
    """What a task tells the driver."""

    records: int = 0
    bytes: int = 0
    """Of records."""
    rows: int = 0


@cache
def frame_schema() -> StructType:
    """Return the columns in Spark's types."""
    from pyspark.sql import types as t

    from penstock.spark.schema import schema

    return t.StructType(
        [
            t.StructField(KIND, t.StringType()),
            t.StructField(BUCKET, t.IntegerType()),
            t.StructField(BODY, t.BinaryType()),
            t.StructField(PARTS, t.LongType()),
            t.StructField(FOUND, schema()),
        ]
    )


class FrameOutlet:
    """Where a task of a batch puts what it finds: record batches, handed out now and then."""

    def __init__(self) -> None:
        self.told = Told()
        self._kinds: list[str] = []
        self._buckets: list[int | None] = []
        self._bodies: list[bytes] = []
        self._bytes = 0
        self._packed = bytearray()
        self._rows: list[Result] = []
        self._parts: list[int | None] = []
        self._batches: list[Any] = []

    def pack(self, record: bytes) -> None:
        """Take a record whose buckets are not known yet."""
        self._packed += record
        self.told.records += 1
        self.told.bytes += len(record)
        if len(self._packed) >= _PACK_BYTES:
            self._put_packed()

    def send(self, buckets: Iterable[int], record: bytes) -> None:
        """Take a record for buckets."""
        for bucket in buckets:
            self._put(RECORD, bucket, record)
            self.told.records += 1
            self.told.bytes += len(record)

    def keep(self, bucket: int, words: bytes) -> None:
        """Take a segment of a bucket."""
        self._put(SEGMENT, bucket, words)

    def add(self, row: Result, parts: int | None = None) -> None:
        """Take a row; ``parts`` tells rows apart that other tasks may have found as well."""
        self._rows.append(row)
        self._parts.append(parts)
        self.told.rows += 1

    def add_batch(self, batch: Any) -> None:
        """Take rows that are columns already."""
        self._batches.append(_found_batch(batch))
        self.told.rows += batch.num_rows

    def take(self) -> Iterator[pa.RecordBatch]:
        """Yield what is here, if that is much."""
        if self._bytes >= _BYTES_MAX or max(len(self._rows), len(self._bodies)) >= _ROWS_MAX:
            yield from self.take_all()

    def take_all(self) -> Iterator[pa.RecordBatch]:
        """Yield what is here."""
        import pyarrow as pa

        if self._bodies:
            yield _batch(
                len(self._bodies),
                kind=pa.array(self._kinds, pa.string()),
                bucket=pa.array(self._buckets, pa.int32()),
                body=pa.array(self._bodies, pa.binary()),
            )
        if self._rows:
            parts = pa.array(self._parts, pa.int64())
            for start in range(0, len(self._rows), _ROWS_MAX):
                rows = batch_of(self._rows[start : start + _ROWS_MAX])
                yield _found_batch(rows, parts.slice(start, _ROWS_MAX))
        yield from self._batches
        self._kinds, self._buckets, self._bodies, self._bytes = [], [], [], 0
        self._rows, self._parts, self._batches = [], [], []

    def tell(self) -> Iterator[pa.RecordBatch]:
        """Yield what is here, and what is told."""
        self._put_packed()
        self._put(TOLD, None, json.dumps(asdict(self.told)).encode())
        yield from self.take_all()

    def _put_packed(self) -> None:
        if self._packed:
            self._put(RECORD, None, bytes(self._packed))
            self._packed = bytearray()

    def _put(self, kind: str, bucket: int | None, body: bytes) -> None:
        self._kinds.append(kind)
        self._buckets.append(bucket)
        self._bodies.append(body)
        self._bytes += len(body)


def records_in(body: bytes) -> Iterator[bytes]:
    """Yield the records that lie one behind the other; each begins with its number of words."""
    at = 0
    while at < len(body):
        length = _WORD * int.from_bytes(body[at : at + _WORD], sys.byteorder)
        assert length, "a record has a word at least"
        yield body[at : at + length]
        at += length


def told_by(bodies: Iterable[bytes]) -> Told:
    """Return what tasks told, together."""
    whole = Told()
    for body in bodies:
        own = json.loads(bytes(body))
        whole.records += own["records"]
        whole.bytes += own["bytes"]
        whole.rows += own["rows"]
    return whole


@cache
def _schema() -> Any:
    import pyarrow as pa

    return pa.schema(
        [
            (KIND, pa.string()),
            (BUCKET, pa.int32()),
            (BODY, pa.binary()),
            (PARTS, pa.int64()),
            (FOUND, pa.struct(list(rows_schema()))),
        ]
    )


def _found_batch(rows: Any, parts: Any = None) -> pa.RecordBatch:
    import pyarrow as pa

    fields = list(rows_schema())
    arrays = [column.cast(one.type) for column, one in zip(rows.columns, fields, strict=True)]
    columns = {KIND: pa.repeat(ROW, rows.num_rows)}
    columns[FOUND] = pa.StructArray.from_arrays(arrays, fields=fields)
    if parts is not None:
        columns[PARTS] = parts
    return _batch(rows.num_rows, **columns)


def _batch(length: int, **columns: Any) -> pa.RecordBatch:
    """Return a record batch; columns that are not given are null."""
    import pyarrow as pa

    arrays = [
        columns[field.name] if field.name in columns else pa.nulls(length, field.type)
        for field in _schema()
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=_schema())
