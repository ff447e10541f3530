"""Rows in a Delta table; a batch is one commit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.sinks.merging import MergingSink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TRANSACTION = "spark.databricks.delta.write"


class DeltaSink(MergingSink):
    """A Delta table, at a path or by its name in a catalog.

    The log of the table knows the last batch of each run, so a batch that is written again is
    passed over, also if a driver that was killed is still writing it.
    """

    format = "delta"
    releases = ("4.2",)
    library = "io.delta:delta-spark_4.2_2.13:4.4.0"
    library_class = "io.delta.sql.DeltaSparkSessionExtension"
    settings: Mapping[str, str] = {
        "spark.sql.extensions": library_class,
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    }

    def name(self, spark: SparkSession) -> str:
        """Return the name of the table in SQL."""
        if self.path is None:
            assert self.table is not None, "a table has a path or a name"
            return self.table
        return "delta.`" + self.path.replace("`", "``") + "`"

    def _exists(self, spark: SparkSession) -> bool:
        if self.path is None:
            return spark.catalog.tableExists(self.name(spark))
        jvm = spark._jvm
        assert jvm is not None, "a session with a driver was required before"
        return bool(jvm.io.delta.tables.DeltaTable.isDeltaTable(spark._jsparkSession, self.path))

    def _create(self, spark: SparkSession, empty: DataFrame) -> None:
        writer = empty.write.format(self.format).mode("ignore").partitionBy(*self.partition_by)
        if self.path is None:
            writer.saveAsTable(self.name(spark))
        else:
            writer.save(self.path)

    def _append(self, rows: DataFrame, batch: int, run: str) -> None:
        writer = rows.write.format(self.format).mode("append")
        writer = writer.option("txnAppId", _application(run)).option("txnVersion", batch)
        if self.path is None:
            writer.saveAsTable(self.name(rows.sparkSession))
        else:
            writer.save(self.path)

    def _execute(self, spark: SparkSession, statement: str, batch: int, run: str) -> None:
        from pyspark.sql import SparkSession

        # A statement has no options, and a setting of the session would be that of all statements
        # that others run in it meanwhile. A clone knows the session's views.
        clone = SparkSession(spark.sparkContext, spark._jsparkSession.cloneSession())
        clone.conf.set(f"{_TRANSACTION}.txnAppId", _application(run))
        clone.conf.set(f"{_TRANSACTION}.txnVersion", str(batch))
        clone.sql(statement).collect()


def _application(run: str) -> str:
    return f"penstock {run}"
