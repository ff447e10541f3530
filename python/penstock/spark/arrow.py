"""Arrow tables to DataFrames and back, with every version of Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.spark.features import Feature

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


def frame_of(spark: SparkSession, table: pa.Table) -> DataFrame:
    """Return a small table as a DataFrame."""
    if Feature.ARROW_TABLES.is_there:
        return spark.createDataFrame(table)
    from pyspark.sql.pandas.types import from_arrow_schema

    rows = [tuple(row.values()) for row in table.to_pylist()]
    return spark.createDataFrame(rows, from_arrow_schema(table.schema))


def record_batches(frame: DataFrame) -> list[pa.RecordBatch]:
    """Return the rows of a small DataFrame as record batches."""
    collected: Any = frame
    if Feature.ARROW_TABLES.is_there:
        batches = collected.toArrow().to_batches()
    else:
        batches = collected._collect_as_arrow()
    return list(batches)
