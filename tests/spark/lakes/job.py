"""Batches into Delta and Iceberg, beside a model of what the tables should hold.

Run with the Spark that the format needs: ``python -m tests.spark.lakes.job FORMAT JARS FOLDER``.
Prints ``done`` and the number of comparisons, or ends with an error at the first difference.
"""

from __future__ import annotations

import os
import random
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import penstock
from penstock.errors import SinkError
from penstock.sinks import DeltaSink, IcebergSink, Sink, TableSink, WriteMode
from penstock.spark import match

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STEPS = 14
_ROW = ("subscription", "document", "ordinal", "value")
_Row = tuple[Any, ...]
_Stored = tuple[_Row, str, int]
"""A row with its run and its batch."""


def main(kind: str, jars: str, folder: Path) -> int:
    """Write random batches in all modes and compare the table after each; return how often."""
    lake = {"delta": DeltaSink, "iceberg": IcebergSink}[kind]
    spark = _session(lake, jars, folder)
    count = 0
    for seed in range(3):
        where: dict[str, Any] = [
            {"path": str(folder / "a path%20 é")},
            {"table": "lake.places.rows", "partition_by": ["subscription"]},
            {"table": "lake.places.others"},
        ][seed]
        if kind == "delta" and "table" in where:
            where["table"] = where["table"].removeprefix("lake.places.")
        count += _life(spark, lake, where, random.Random(seed), is_catalog=seed == 2)
    _check_refusals(spark, lake, str(folder / "other"))
    spark.stop()
    return count


def _life(
    spark: SparkSession,
    lake: type[DeltaSink | IcebergSink],
    where: dict[str, Any],
    generator: random.Random,
    is_catalog: bool,
) -> int:
    """Take a table through runs; return how often it was compared with the model."""
    model: list[_Stored] = []
    count = 0
    for run in ("one", "it's two", "three"):
        mode: WriteMode = generator.choice(("upsert", "append", "overwrite"))
        sink = _sink(lake, where, mode, is_catalog)
        sink.begin(spark, None)
        for batch in range(STEPS // 3):
            rows = _rows(spark, generator).persist()
            plain = [tuple(row) for row in rows.select(*_ROW).collect()]
            # A batch comes once, or again and again.
            for attempt in range(generator.choice((1, 2, 3))):
                sink.write_batch(rows, batch, run)
                model = model if attempt else _written(model, plain, mode, run, batch)
                found = lake(**where)._read(spark).select(*_ROW, "run", "batch").collect()
                stored = Counter((tuple(row)[:4], row["run"], row["batch"]) for row in found)
                assert stored == Counter(model), (mode, run, batch, stored, model)
                count += 1
            rows.unpersist()
            if generator.random() < 0.3:
                _compact(spark, lake(**where))
    with_fail = _sink(lake, where, "fail", is_catalog)
    is_taken = any(one[1] != "three" for one in model)
    with pytest.raises(SinkError, match="PO0004") if is_taken else nullcontext():
        with_fail.begin(spark, "three")
    return count


def _compact(spark: SparkSession, sink: DeltaSink | IcebergSink) -> None:
    """Put small files together, whatever runs and batches they are of."""
    if isinstance(sink, DeltaSink):
        spark.sql(f"OPTIMIZE {sink.name(spark)}").collect()
        return
    catalog, _, table = sink.name(spark).partition(".")
    spark.sql(
        f"CALL {catalog}.system.rewrite_data_files("
        f"table => '{table}', options => map('rewrite-all', 'true'))"
    ).collect()


def _written(
    model: Sequence[_Stored], rows: Sequence[_Row], mode: str, run: str, batch: int
) -> list[_Stored]:
    """Return what a table holds after a batch, by the rules of the modes."""
    kept = list(model)
    if mode == "overwrite":
        kept = [one for one in kept if one[1] == run]
    if mode == "upsert":
        new = {row[:3] for row in rows if row[1] is not None}
        kept = [one for one in kept if one[0][:3] not in new]
    return [*kept, *((row, run, batch) for row in rows)]


def _rows(spark: SparkSession, generator: random.Random) -> DataFrame:
    """Return rows of a few documents; some share an id, some have none, some are broken."""
    registry = penstock.Registry()
    registry.add("it's x", "//x")
    registry.add("sum", "sum(//x)")
    registry.add("bound", penstock.xpath("//x", select={"n": "@n"}))
    documents = [
        (
            generator.choice(("a", "b", "c d", "é", None)),
            f"<r><x n='{generator.randrange(9)}'>{generator.randrange(9)}</x>"
            + generator.choice(("</r>", "</r>", "<x/></r>", "")),
        )
        for _ in range(generator.randrange(6))
    ]
    return match(spark.createDataFrame(documents, "id string, xml string"), registry)


def _sink(
    lake: type[DeltaSink | IcebergSink], where: dict[str, Any], mode: WriteMode, is_catalog: bool
) -> Sink:
    if is_catalog:
        return TableSink(where["table"], lake.format, mode)
    return lake(write_mode=mode, **where)


def _check_refusals(spark: SparkSession, lake: type[DeltaSink | IcebergSink], path: str) -> None:
    """Check what is rejected: a column that is one of the table's own, and one that it lacks."""
    rows = _rows(spark, random.Random(1))
    lake(path).write_batch(rows, 0, "one")
    for odd, code in (
        (rows.withColumn("Run", rows["kind"]), "PO0002"),
        (rows.withColumn("more", rows["kind"]), "PO0003"),
    ):
        with pytest.raises(SinkError, match=code):
            lake(path).write_batch(odd, 1, "one")


def _session(lake: type[DeltaSink | IcebergSink], jars: str, folder: Path) -> SparkSession:
    from pyspark.sql import SparkSession

    from tests.spark.conftest import SETTINGS

    os.environ["PYSPARK_PYTHON"] = sys.executable
    catalog = "spark.sql.catalog.lake"
    settings = {
        **SETTINGS,
        **lake.settings,
        "spark.jars": jars,
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.databricks.delta.snapshotPartitions": "1",
    }
    if lake is IcebergSink:
        settings |= {
            catalog: lake.library_class,
            f"{catalog}.type": "hadoop",
            f"{catalog}.warehouse": str(folder / "lake"),
        }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    if lake is IcebergSink:
        spark.sql("CREATE NAMESPACE lake.places")
    return spark


if __name__ == "__main__":
    print("done", main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
