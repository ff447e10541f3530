"""What tasks hand to each other and to the driver: records by bucket, and rows, in files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

from penstock.results import Result
from penstock.results.arrow import batch_of, schema

ROWS_MAX = 8 << 10
"""So many rows are written at a time."""

PARTS = "__parts"
"""What tells the documents of a row from others with the same ids."""

Extent = tuple[str, int, int]
"""A file, and where in it the records for a bucket are: start and length."""


class Outbox:
    """Records for buckets."""

    def __init__(self) -> None:
        self._records: dict[int, bytearray] = {}

    def put(self, buckets: Iterable[int], record: bytes) -> None:
        """Send a record to buckets."""
        for bucket in buckets:
            self._records.setdefault(bucket, bytearray()).extend(record)

    def write(self, folder: str) -> dict[int, Extent]:
        """Write all records into one file; return where those for each bucket are.

        Raises:
            OSError: The folder cannot be written.
        """
        if not self._records:
            return {}
        path = Path(folder, f"{uuid4().hex}.records")
        extents: dict[int, Extent] = {}
        start = 0
        with open(path, "xb") as file:
            for bucket, records in self._records.items():
                file.write(records)
                extents[bucket] = (path.name, start, len(records))
                start += len(records)
        return extents


def read_extents(folder: str, extents: Iterable[Extent]) -> Iterator[bytes]:
    """Yield the records of extents.

    Raises:
        OSError: A file cannot be read.
    """
    for name, start, length in extents:
        with open(Path(folder, name), "rb") as file:
            file.seek(start)
            yield file.read(length)


class RowFile:
    """Rows that a task found, in a Parquet file that exists if there are any.

    Where other tasks may have found the same rows (``is_repeated``), each row has a number in the
    column ``PARTS``, which tells rows apart whose documents have equal ids.
    """

    def __init__(self, folder: str, is_repeated: bool = False) -> None:
        self._path = Path(folder, f"{uuid4().hex}.parquet")
        self._is_repeated = is_repeated
        self._waiting: list[Result] = []
        self._numbers: list[int] = []
        self._writer: Any = None

    def add(self, row: Result, parts: int = 0) -> None:
        """Add a row."""
        self._waiting.append(row)
        self._numbers.append(parts)
        if len(self._waiting) >= ROWS_MAX:
            self._flush()

    def add_batch(self, batch: Any) -> None:
        """Add rows that are columns already."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        wanted = schema()
        if self._is_repeated:
            wanted = wanted.append(pa.field(PARTS, pa.int64()))
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._path, wanted)
        self._writer.write_batch(batch.cast(wanted))

    def close(self) -> str | None:
        """Return the name of the file, complete, or None if there were no rows."""
        self._flush()
        if self._writer is None:
            return None
        self._writer.close()
        return self._path.name

    def _flush(self) -> None:
        import pyarrow as pa

        if self._waiting:
            batch = batch_of(self._waiting)
            if self._is_repeated:
                batch = batch.append_column(PARTS, pa.array(self._numbers, pa.int64()))
            self.add_batch(batch)
            self._waiting, self._numbers = [], []


class FileOutlet:
    """Where a task of a stream puts what it finds: files in the folder of its batch."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._outbox = Outbox()
        self._rows, self._repeated = RowFile(folder), RowFile(folder, is_repeated=True)

    def send(self, buckets: Iterable[int], record: bytes) -> None:
        """Take a record for buckets."""
        self._outbox.put(buckets, record)

    def add(self, row: Result, parts: int | None = None) -> None:
        """Take a row; ``parts`` tells rows apart that other tasks may have found as well."""
        if parts is None:
            self._rows.add(row)
        else:
            self._repeated.add(row, parts)

    def add_batch(self, batch: Any) -> None:
        """Take rows that are columns already."""
        self._rows.add_batch(batch)

    def close(self) -> tuple[dict[int, Extent], list[str], list[str]]:
        """Write everything down; return where records are, and the files of rows.

        Raises:
            OSError: The folder cannot be written.
        """
        sent = self._outbox.write(self._folder)
        rows, repeated = self._rows.close(), self._repeated.close()
        return sent, [rows] if rows else [], [repeated] if repeated else []
