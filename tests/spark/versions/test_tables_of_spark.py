"""A pipeline over a source of Spark's own, which every version has."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.spark.pipelines import load, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PIPELINE = """\
sources:
  - {kind: spark, format: parquet, path: in, schema: "id string, xml binary", document: xml, id: id}
registry:
  subscriptions:
    - {name: cheap, query: "//book[price < 10]/title", owner: ann}
    - {name: all, query: //book, mode: filter}
sinks:
  - {kind: sqlite, path: out/rows.db, rows: all}
  - {kind: parquet, path: out/cheap, owner: ann}
"""
STREAM = "trigger: available_now\ncheckpoint: out/checkpoint\n"


def rows_of(folder: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(folder / "out/rows.db")) as database:
        found = database.execute("SELECT document, coalesce(subscription, '!') FROM results")
        return sorted(found.fetchall())


@pytest.mark.parametrize("trigger", ["", STREAM], ids=["batch", "stream"])
def test_a_pipeline_reads_a_table_and_writes_to_all_sinks(
    spark: SparkSession, tmp_path: Path, trigger: str
) -> None:
    (tmp_path / "pipeline.yaml").write_text(PIPELINE + trigger)
    books = [
        (f"b{price}", f"<book><title>t</title><price>{price}</price></book>".encode())
        for price in (5, 7, 20)
    ]
    frame = spark.createDataFrame([*books, ("bad", b"<book>")], "id string, xml binary")
    frame.coalesce(1).write.parquet(str(tmp_path / "in"))
    outcome = run(load(tmp_path / "pipeline.yaml"), spark)
    assert (outcome.documents, outcome.results, outcome.quarantined) == (4, 6, 1)
    all_rows = [("b20", "all"), ("b5", "all"), ("b7", "all"), ("bad", "all"), ("bad", "!")]
    assert rows_of(tmp_path) == sorted([*all_rows, ("b5", "cheap"), ("b7", "cheap")])
    cheap = spark.read.parquet(str(tmp_path / "out/cheap")).select("document").collect()
    assert sorted(document for (document,) in cheap) == ["b5", "b7"]
