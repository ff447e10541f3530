"""Rows in files: Parquet, or JSON with one row per line.

A batch has a folder of its own, ``run=…/batch=…``, and is written over what an interrupted
attempt left there. Whoever reads the folder above finds run and batch as two more columns.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, get_args

from penstock.errors import SinkError
from penstock.registry.atomic import whole_file
from penstock.results import Result
from penstock.results.arrow import batch_of, schema
from penstock.sinks.base import Sink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Format = Literal["parquet", "json"]

_ROWS_MAX = 10_000
_NAME = {"parquet": "rows.parquet", "json": "rows.json"}


class FilesSink(Sink):
    """A folder of Parquet or JSON files.

    Raises:
        ValueError: There is no such format.
    """

    def __init__(self, path: str | Path, format: Format = "parquet") -> None:  # noqa: A002
        if format not in get_args(Format):
            raise ValueError(f"there is no format {format!r}; use `parquet` or `json`")
        self.path = str(path).rstrip("/") or "/"
        self.format = format

    def write(self, rows: Iterable[Result], batch: int = 0, run: str = "default") -> int:
        """Write one file; it appears when it is complete, in place of one of the same batch.

        Raises:
            SinkError: The file cannot be written.
        """
        path = Path(self.folder(batch, run)) / _NAME[self.format]
        write = _write_parquet if self.format == "parquet" else _write_json
        try:
            with whole_file(path) as file:
                return write(rows, file)
        except OSError as error:
            message = f"{path} cannot be written: {error.strerror or error}"
            raise SinkError("PO0001", message) from error

    def write_batch(self, rows: DataFrame, batch: int, run: str = "default") -> None:
        """Write a batch; ``_SUCCESS`` in its folder says that it is complete."""
        writer = rows.write.mode("overwrite").format(self.format)
        if self.format == "json":
            writer = writer.option("ignoreNullFields", "false")
        writer.save(self.folder(batch, run))

    def folder(self, batch: int, run: str = "default") -> str:
        """Return the folder of a batch."""
        return f"{self.path}/run={run}/batch={batch}"


def _write_json(rows: Iterable[Result], file: BinaryIO) -> int:
    count = 0
    for row in rows:
        file.write(row.as_json().encode("utf-8", "surrogatepass") + b"\n")
        count += 1
    return count


def _write_parquet(rows: Iterable[Result], file: BinaryIO) -> int:
    import pyarrow.parquet as pq

    count, rest = 0, iter(rows)
    with pq.ParquetWriter(file, schema()) as writer:
        while some := list(islice(rest, _ROWS_MAX)):
            writer.write_batch(batch_of(some))
            count += len(some)
    return count
