"""Rows in an Iceberg table; a batch is one commit."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlparse

from penstock.errors import SinkError
from penstock.sinks.merging import MergingSink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_CATALOG = "penstock_paths"


class IcebergSink(MergingSink):
    """An Iceberg table, by its name in a catalog, or at a path of a file system that renames.

    A batch that is written again is known by its rows. Commits are serializable: of two drivers
    that write the same batch at once, one fails.
    """

    format = "iceberg"
    releases = ("4.1",)
    library = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
    library_class = "org.apache.iceberg.spark.SparkCatalog"

    def name(self, spark: SparkSession) -> str:
        """Return the name of the table in SQL."""
        if self.path is None:
            assert self.table is not None, "a table has a path or a name"
            return self.table
        folder, _, name = self.path.rpartition("/")
        return f"{_catalog_of(spark, folder or '/')}.`{name.replace('`', '``')}`"

    def _require(self, spark: SparkSession) -> None:
        super()._require(spark)
        scheme = urlparse(self.path or "").scheme
        if scheme not in ("", "file", "hdfs"):
            message = (
                f"an Iceberg table at a path needs renames that are atomic, which {scheme}:// "
            )
            raise SinkError("PO0002", f"{message}has not; give the name of a table in a catalog")

    def _exists(self, spark: SparkSession) -> bool:
        return spark.catalog.tableExists(self.name(spark))

    def _create(self, spark: SparkSession, empty: DataFrame) -> None:
        from pyspark.sql import functions as f

        writer = empty.writeTo(self.name(spark)).using(self.format)
        if self.partition_by:
            first, *others = map(f.col, self.partition_by)
            writer = writer.partitionedBy(first, *others)
        writer.create()

    def _append(self, rows: DataFrame, batch: int, run: str) -> None:
        from pyspark.sql import functions as f

        spark = rows.sparkSession
        known = spark.sql(f"SELECT snapshot_id FROM {self.name(spark)}.refs WHERE name = 'main'")
        snapshots = known.collect()
        if self._has(spark, batch, run):
            return
        # An overwrite of rows that are not there is an append, and one that fails if somebody
        # added them since we looked.
        writer = rows.writeTo(self.name(spark)).option("isolation-level", "serializable")
        for (snapshot,) in snapshots:
            writer = writer.option("validate-from-snapshot-id", snapshot)
        try:
            writer.overwrite((f.col("run") == run) & (f.col("batch") == batch))
        except Exception as error:
            # A compaction has put rows of several runs into one file, whose statistics do not
            # say that the rows of this batch are not in it.
            if "some, but not all, rows match" not in str(error):
                raise
            rows.writeTo(self.name(spark)).append()

    def _execute(self, spark: SparkSession, statement: str, batch: int, run: str) -> None:
        if not self._has(spark, batch, run):
            spark.sql(statement).collect()


def _catalog_of(spark: SparkSession, folder: str) -> str:
    """Return a catalog whose tables lie in a folder; sessions load catalogs when they are used."""
    import hashlib

    name = f"{_CATALOG}_{hashlib.blake2b(folder.encode(), digest_size=4).hexdigest()}"
    catalog = f"spark.sql.catalog.{name}"
    spark.conf.set(catalog, IcebergSink.library_class)
    spark.conf.set(f"{catalog}.type", "hadoop")
    spark.conf.set(f"{catalog}.warehouse", folder)
    return name
