"""Streaming joins through a Connect server, in a process without Java.

`python -m tests.spark.joins.helpers.connect_job sc://ADDRESS FOLDER` joins the documents of
FOLDER/in for the registry of FOLDER/registry into FOLDER/out, twice: some come in
between.
"""

from __future__ import annotations

import sys
from pathlib import Path

import penstock
from tests.spark.joins.helpers.streams import start


def main(address: str, folder: Path) -> None:
    """Run the stream, let the rest come, and go on."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.remote(address).getOrCreate()
    registry = penstock.Registry.open(folder / "registry")
    for _ in range(2):
        start(spark, folder, registry, trigger={"availableNow": True}).awaitTermination()
        for path in (folder / "later").iterdir():
            path.rename(folder / "in" / path.name)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
