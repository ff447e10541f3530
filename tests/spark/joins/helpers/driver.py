"""The driver of streaming joins in a process of its own, made to be killed.

`python -m tests.spark.joins.helpers.driver FOLDER` joins the documents of FOLDER/in for the
registry of FOLDER/registry into FOLDER/out, one file in each batch, and ends when all are read.
"""

from __future__ import annotations

import sys
from pathlib import Path

import penstock
from tests.spark.helpers.driver import start_session
from tests.spark.joins.helpers.streams import start

LATENESS = 5.0


def main(folder: Path) -> None:
    """Run the stream to its end."""
    spark = start_session()
    registry = penstock.Registry.open(folder / "registry")
    query = start(spark, folder, registry, lateness=LATENESS, trigger={"availableNow": True})
    query.awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
