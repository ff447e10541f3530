"""Rows in files: Parquet, or JSON with one row per line.

A batch has a folder of its own, ``run=…/batch=…``, which appears when it is complete and takes the
place of an earlier attempt. Whoever reads the folder above finds run and batch as two more columns.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, get_args
from uuid import uuid4

from penstock.errors import SinkError
from penstock.results import Result
from penstock.results.arrow import batch_of, schema
from penstock.sinks.base import Sink, WriteMode, known_mode, refusal
from penstock.sinks.folders import folders_of
from penstock.storage import whole_file

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Format = Literal["parquet", "json"]

_ROWS_MAX = 10_000
_NAME = {"parquet": "rows.parquet", "json": "rows.json"}
_RUN = "run="
_UNFINISHED = ".unfinished-"
"""Readers of a folder pass over names that begin with a dot."""


class FilesSink(Sink):
    """A folder of Parquet or JSON files; a run adds a folder of its own.

    With ``overwrite``, the folders of other runs go when a batch of the run is complete. With
    ``by_subscription``, batches of Spark have a folder ``subscription=…`` for each subscription.

    Raises:
        ValueError: The format or the mode is not valid.
    """

    modes = ("append", "overwrite", "fail")

    def __init__(
        self,
        path: str | Path,
        format: Format = "parquet",  # noqa: A002  # Spark's word
        write_mode: WriteMode | None = None,
        by_subscription: bool = False,
    ) -> None:
        if format not in get_args(Format):
            raise ValueError(f"there is no format {format!r}; use `parquet` or `json`")
        self.path = str(path).rstrip("/") or "/"
        self.format = format
        self.by_subscription = by_subscription
        self.write_mode = known_mode(type(self), write_mode)

    def begin(self, spark: SparkSession, run: str | None) -> None:
        """Refuse a run if the folder holds anything else and the mode is ``fail``."""
        if self.write_mode != "fail":
            return
        names = folders_of(spark, self.path).names(self.path)
        if any(name != f"{_RUN}{run}" and not name.startswith(".") for name in names):
            raise refusal(self.path)

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
        """Write a batch; its folder appears when it is complete.

        Raises:
            SinkError: The folder cannot be written.
        """
        folders = folders_of(rows.sparkSession, self.path)
        # The name is new with every attempt: the Java of a killed driver may still be writing.
        unfinished = f"{self.path}/{_UNFINISHED}{run}-{batch}-"
        attempt = f"{unfinished}{uuid4().hex}"
        writer = rows.write.format(self.format)
        if self.format == "json":
            writer = writer.option("ignoreNullFields", "false")
        if self.by_subscription:
            writer = writer.partitionBy("subscription")
        writer.save(attempt)
        folders.move(attempt, self.folder(batch, run))
        for name in folders.names(self.path):
            is_left = name.startswith(unfinished.rpartition("/")[2])
            is_other = name.startswith((_RUN, _UNFINISHED)) and name != f"{_RUN}{run}"
            if is_left or (is_other and self.write_mode == "overwrite"):
                folders.remove(f"{self.path}/{name}")

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
