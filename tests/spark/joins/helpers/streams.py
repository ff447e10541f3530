"""Streams of documents on Spark: files that come one by one, and what is joined of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from penstock import Registry
from penstock.results import Document
from penstock.spark import join_stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

SCHEMA = "id string, xml binary, ts timestamp, stream string"


def write_batch(folder: Path, number: int, documents: Sequence[Document]) -> None:
    """Add a file to a stream, as if in one moment, after all files with smaller numbers."""
    folder.mkdir(exist_ok=True)
    table = pa.table(
        {
            "id": pa.array([one.id for one in documents], pa.string()),
            "xml": pa.array([one.data for one in documents], pa.binary()),
            "ts": pa.array([one.event_time for one in documents], pa.timestamp("us", "UTC")),
            "stream": pa.array([one.stream for one in documents], pa.string()),
        }
    )
    hidden = folder / f"_{number:04}.parquet"
    pq.write_table(table, hidden)
    # Spark takes the oldest first.
    os.utime(hidden, (1_000_000 + number, 1_000_000 + number))
    hidden.rename(folder / f"{number:04}.parquet")


def read_batches(spark: SparkSession, folder: Path) -> DataFrame:
    """Return the documents of a folder as a stream, a file for each micro-batch."""
    return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder))


def start(
    spark: SparkSession, folder: Path, registry: Registry, into: Any = None, **options: Any
) -> StreamingQuery:
    """Join the documents of ``folder/in`` into ``folder/out``."""
    options = {"time": "ts", "stream": "stream", "buckets": 4} | options
    target = folder / "out" if into is None else into
    return join_stream(
        read_batches(spark, folder / "in"), registry, folder / "state", target, **options
    )


def run(spark: SparkSession, folder: Path, registry: Registry, **options: Any) -> list[Any]:
    """Join all documents that are there; return the rows so far."""
    query = start(spark, folder, registry, trigger={"availableNow": True}, **options)
    query.awaitTermination()
    return spark.read.parquet(str(folder / "out")).collect()
