"""The driver of a stream in a process of its own, made to be killed.

`python -m tests.spark.helpers.driver FOLDER` reads Parquet files of FOLDER/in against the registry
of FOLDER/registry into FOLDER/out, one file in each batch, and ends when all are read.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import penstock
from penstock.spark import match
from tests.spark.conftest import SETTINGS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def start_session() -> SparkSession:
    """Return the session of a driver, which forgets nothing of its batches."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]")
    # The test reads afterwards which files each batch took.
    kept = {"spark.sql.streaming.minBatchesToRetain": "10000"}
    for key, value in (SETTINGS | kept).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def main(folder: Path) -> None:
    """Run the stream to its end."""
    spark = start_session()
    reader = spark.readStream.schema("id long, xml binary").option("maxFilesPerTrigger", 1)
    documents = reader.parquet(str(folder / "in"))
    rows = match(documents, penstock.Registry.open(folder / "registry"))
    writer = rows.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.trigger(availableNow=True).format("parquet").start(str(folder / "out"))
    query.awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
