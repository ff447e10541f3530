"""A client of Spark Connect whose server has no package; it prints one line of JSON.

`python connect_job.py ADDRESS FOLDER`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "python"), str(ROOT)]

from pyspark.errors import PySparkException  # noqa: E402  # the tree's package is found only now
from pyspark.sql import SparkSession  # noqa: E402

import penstock  # noqa: E402
from penstock.spark import match, ship  # noqa: E402
from penstock.spark.sources import register  # noqa: E402

DOCUMENTS = [(str(number), f"<a><b n='{number}'/></a>".encode()) for number in range(20)]


def main(address: str, folder: Path) -> None:
    """Match without the package, and with it."""
    spark = SparkSession.builder.remote(address).getOrCreate()
    registry = penstock.Registry()
    registry.add("b", "//b")
    table = spark.createDataFrame(DOCUMENTS, "id string, xml binary").repartition(2)
    told = {}
    try:
        match(table, registry).collect()
    except PySparkException as error:
        lines = [line for line in str(error).splitlines() if "PV0002" in line]
        told["without"] = lines[-1] if lines else str(error)
    ship(spark)
    ship(spark)
    told["with"] = match(table, registry).count()
    (folder / "a.xml").write_text("<a><b/><b/></a>")
    register(spark)
    files = spark.read.format("penstock-xml").load(str(folder / "a.xml"))
    told["penstock-xml"] = match(files, registry).count()
    spark.stop()
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
