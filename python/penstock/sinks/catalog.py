"""Rows in a table of Spark's catalog, whatever its format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote
from uuid import uuid4

from penstock.errors import SinkError
from penstock.sinks.base import Sink, WriteMode, first_line, known_mode, refusal
from penstock.sinks.delta import DeltaSink
from penstock.sinks.iceberg import IcebergSink
from penstock.sinks.merging import MergingSink, flat_rows, literal, quoted, require_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMATS = ("parquet", "orc", "json", "delta", "iceberg")
"""Formats of a table that the sink makes."""
_MERGING: dict[str, type[MergingSink]] = {"delta": DeltaSink, "iceberg": IcebergSink}
_FILES = ("parquet", "orc", "json", "avro")
_PARTITIONS = ["run", "batch"]
_NULL = "__HIVE_DEFAULT_PARTITION__"
"""What catalogs call the partition of rows that have no value there."""


class TableSink(Sink):
    """A table by its name in a catalog; one that is missing is made in ``format``.

    Tables of Delta and Iceberg are written by their sinks. A table of files has the partitions
    ``run`` and ``batch``, and a batch that is written again replaces its own. Their modes are
    ``append``, ``overwrite`` and ``fail``.

    Raises:
        ValueError: The mode or the format is not valid.
    """

    modes = ("append", "upsert", "overwrite", "fail")

    def __init__(
        self,
        table: str,
        format: str = "parquet",  # noqa: A002  # Spark's word
        write_mode: WriteMode | None = None,
        partition_by: Sequence[str] = (),
    ) -> None:
        if format not in FORMATS:
            raise ValueError(f"there is no format {format!r}; use one of {', '.join(FORMATS)}")
        self.table = table
        self.format = format
        self.partition_by = tuple(partition_by)
        self.write_mode = known_mode(type(self), write_mode)
        if format in _MERGING:
            self.settings = _MERGING[format].settings

    @property
    def place(self) -> str:
        """The table, for people."""
        return f"the table `{self.table}`"

    def begin(self, spark: SparkSession, run: str | None) -> None:
        """Check that the table can be written in the mode, and refuse a run as the mode says."""
        provider = self._provider(spark)
        if provider in _MERGING:
            self._merging(provider).begin(spark, run)
            return
        self._check(spark, provider)
        if self.write_mode == "fail" and spark.catalog.tableExists(self.table):
            table = spark.table(self.table)
            if not (table if run is None else table.where(table["run"] != run)).isEmpty():
                raise refusal(self.place)

    def write_batch(self, rows: DataFrame, batch: int, run: str = "default") -> None:
        """Write a batch in the place of an earlier attempt at it.

        Raises:
            SinkError: The rows cannot be written, or not into this table.
        """
        spark = rows.sparkSession
        provider = self._provider(spark)
        if provider in _MERGING:
            self._merging(provider).write_batch(rows, batch, run)
            return
        self._check(spark, provider)
        try:
            self._write_files(flat_rows(rows, batch, run), batch, run)
        except SinkError:
            raise
        except Exception as error:
            message = f"{self.place} cannot be written: {first_line(error)}"
            raise SinkError("PO0001", message) from error

    def _merging(self, provider: str) -> MergingSink:
        sink = _MERGING[provider]
        return sink(None, self.table, self.write_mode, self.partition_by)

    def _provider(self, spark: SparkSession) -> str:
        """Return the format of the table, or of the one that is to be made."""
        try:
            if not spark.catalog.tableExists(self.table):
                return self.format
            told = spark.sql(f"DESCRIBE TABLE EXTENDED {self.table}").collect()
        except Exception as error:
            message = f"{self.place} cannot be looked up: {first_line(error)}"
            raise SinkError("PO0001", message) from error
        return next((str(row[1]).lower() for row in told if row[0] == "Provider"), "")

    def _check(self, spark: SparkSession, provider: str) -> None:
        if provider not in _FILES:
            message = f"{self.place} has the format {provider or 'of a view'}, and a sink writes "
            raise SinkError("PO0003", f"{message}tables of {', '.join((*_FILES, *_MERGING))}")
        if self.write_mode == "upsert":
            message = f"{self.place} consists of files, which cannot `upsert`"
            raise SinkError("PO0002", f"{message}; choose another mode, or a table of Delta")
        if not spark.catalog.tableExists(self.table):
            return
        columns = spark.catalog.listColumns(self.table)
        if [one.name for one in columns if one.isPartition][:2] != _PARTITIONS:
            message = f"{self.place} is not partitioned by run and batch, by which the sink knows "
            raise SinkError("PO0003", f"{message}what it wrote; name a table that is not there yet")

    def _write_files(self, flat: DataFrame, batch: int, run: str) -> None:
        spark = flat.sparkSession
        if not spark.catalog.tableExists(self.table):
            partitions = [*_PARTITIONS, *self.partition_by]
            empty = flat.limit(0).write.format(self.format).partitionBy(*partitions)
            empty.mode("ignore").saveAsTable(self.table)
        view = f"penstock_{uuid4().hex}"
        columns = spark.catalog.listColumns(self.table)
        require_columns(self.place, [one.name for one in columns], flat)
        chosen = [one.name for one in columns if one.name not in _PARTITIONS]
        parts = [one.name for one in columns if one.isPartition and one.name in chosen]
        # Static partitions come first, so that an attempt that came halfway is replaced as a whole.
        dynamic = "".join(f", {quoted(name)}" for name in parts)
        known = {name.lower() for name in flat.columns}
        filled = [
            quoted(name) if name.lower() in known else f"null AS {quoted(name)}" for name in chosen
        ]
        flat.selectExpr(*filled).createOrReplaceTempView(view)
        try:
            spark.sql(
                f"INSERT OVERWRITE TABLE {self.table} "
                f"PARTITION (run = {literal(run)}, batch = {batch}{dynamic}) SELECT * FROM {view}"
            )
        finally:
            spark.catalog.dropTempView(view)
        if self.write_mode == "overwrite":
            self._drop_others(spark, run)

    def _drop_others(self, spark: SparkSession, run: str) -> None:
        # Not every catalog drops all partitions below one, so each is named in full.
        for (told,) in spark.sql(f"SHOW PARTITIONS {self.table}").collect():
            parts = [part.partition("=") for part in told.split("/")]
            values = {unquote(name): unquote(value) for name, _, value in parts}
            if values["run"] != run:
                spec = ", ".join(
                    f"{quoted(name)} = {'null' if value == _NULL else literal(value)}"
                    for name, value in values.items()
                )
                spark.sql(f"ALTER TABLE {self.table} DROP IF EXISTS PARTITION ({spec})")
