"""Tables of Spark's catalog as sources and sinks, and the releases that Delta and Iceberg need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import penstock
from penstock.errors import SinkError
from penstock.sinks import DeltaSink, IcebergSink, TableSink, WriteMode
from penstock.sinks.releases import require_release
from penstock.spark import match
from penstock.spark.pipelines import load, run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

PIPELINE = """\
sources:
  - {{kind: table, table: documents, document: xml, id: id, time: at}}
registry:
  subscriptions: [{{name: x, query: //x}}]
sinks:
  - {{kind: table, table: found, rows: all, write: {write}}}
trigger: {trigger}
{checkpoint}
"""


@pytest.fixture
def tables(spark: SparkSession) -> Iterator[SparkSession]:
    """Return the session with a schema of its own, which goes with all its tables."""
    before = spark.catalog.currentDatabase()
    spark.sql("CREATE DATABASE places")
    spark.catalog.setCurrentDatabase("places")
    yield spark
    spark.catalog.setCurrentDatabase(before)
    spark.sql("DROP DATABASE places CASCADE")


def rows_of(spark: SparkSession, *documents: str) -> DataFrame:
    """Return the rows of a subscription over documents."""
    registry = penstock.Registry()
    registry.add("x", "//x")
    made = [(f"d{place}", document) for place, document in enumerate(documents)]
    return match(spark.createDataFrame(made, "id string, xml string"), registry)


def counts(spark: SparkSession, table: str = "found") -> dict[tuple[str, int], int]:
    """Return how many rows of each run and batch a table has."""
    return Counter((row["run"], row["batch"]) for row in spark.table(table).collect())


def test_a_batch_that_comes_again_replaces_its_own_rows_of_a_table(tables: SparkSession) -> None:
    sink = TableSink("found", partition_by=("subscription",))
    rows = rows_of(tables, "<a><x/><x/></a>", "<x")
    sink.begin(tables, None)
    for batch in (0, 0, 1, 1):
        sink.write_batch(rows, batch, "it's")
    assert counts(tables) == {("it's", 0): 3, ("it's", 1): 3}
    assert {row.value for row in tables.table("found").where("kind <> 'error'").collect()} == {
        "<x/>"
    }
    # What an attempt left that wrote more than the one that ended well is gone, too.
    sink.write_batch(rows_of(tables, "<a/>"), 1, "it's")
    assert counts(tables) == {("it's", 0): 3}


def test_a_table_of_files_keeps_the_rows_of_other_runs_as_the_mode_says(
    tables: SparkSession,
) -> None:
    rows = rows_of(tables, "<x/>")
    TableSink("found").write_batch(rows, 0, "one")
    TableSink("found", write_mode="append").write_batch(rows, 0, "two")
    assert counts(tables) == {("one", 0): 1, ("two", 0): 1}
    with pytest.raises(SinkError, match="PO0004"):
        TableSink("found", write_mode="fail").begin(tables, "two")
    # A name with signs that folders cannot have, and a row without a subscription.
    parted = TableSink("parted", partition_by=("subscription",))
    parted.write_batch(rows_of(tables, "<x/>", "<x"), 0, "a = 'b'/c%20é")
    parted.write_batch(rows, 0, "two")
    assert counts(tables, "parted") == {("a = 'b'/c%20é", 0): 2, ("two", 0): 1}
    again = TableSink("parted", write_mode="overwrite", partition_by=("subscription",))
    again.write_batch(rows, 1, "two")
    assert counts(tables, "parted") == {("two", 0): 1, ("two", 1): 1}
    overwriting = TableSink("found", write_mode="overwrite")
    overwriting.write_batch(rows, 0, "three")
    overwriting.write_batch(rows, 1, "three")
    assert counts(tables) == {("three", 0): 1, ("three", 1): 1}
    TableSink("found", write_mode="fail").begin(tables, "three")


@pytest.mark.parametrize(
    ("statement", "mode", "code"),
    [
        ("CREATE TABLE found (id STRING) USING parquet", "append", "PO0003"),
        ("CREATE VIEW found AS SELECT 1 AS id", "append", "PO0003"),
        ("SELECT 1", "upsert", "PO0002"),
    ],
)
def test_a_table_that_cannot_be_written_is_rejected_before_anything_is_read(
    tables: SparkSession, statement: str, mode: WriteMode, code: str
) -> None:
    tables.sql(statement)
    with pytest.raises(SinkError, match=code):
        TableSink("found", write_mode=mode).begin(tables, None)


def test_a_table_may_have_more_columns_and_no_fewer(tables: SparkSession) -> None:
    rows = rows_of(tables, "<x/>")
    TableSink("found", partition_by=("kind",)).write_batch(rows, 0, "one")
    tables.sql("ALTER TABLE found ADD COLUMNS (more STRING)")
    # The table says what it is divided by, whatever the sink is told.
    TableSink("found").write_batch(rows, 1, "one")
    assert counts(tables) == {("one", 0): 1, ("one", 1): 1}
    with pytest.raises(SinkError, match=r"PO0003: .* no column `extra`"):
        TableSink("found").write_batch(rows.withColumn("extra", rows["kind"]), 2, "one")


@pytest.mark.parametrize("trigger", ["batch", "available_now"])
def test_a_pipeline_reads_and_writes_tables_by_name(
    tables: SparkSession, tmp_path: Path, trigger: str
) -> None:
    documents = [("a", "<r><x>1</x></r>"), ("b", "<r><x>2</x>")]
    frame = tables.createDataFrame(documents, "id string, xml string")
    frame.selectExpr("*", "timestamp'2026-01-02' AS at").write.saveAsTable("documents")
    checkpoint = f"checkpoint: {tmp_path / 'checkpoint'}" if trigger != "batch" else ""
    file = tmp_path / "pipeline.yaml"
    text = PIPELINE.format(write="append", trigger=trigger, checkpoint=checkpoint)
    file.write_text(text, "utf-8")
    outcomes = [run(load(file), tables) for _ in range(2)]
    assert [one.documents for one in outcomes] == ([2, 2] if trigger == "batch" else [2, 0])
    found = tables.table("found").collect()
    said = Counter((row["document"], row["kind"], row["value"]) for row in found)
    runs = 2 if trigger == "batch" else 1
    # The second document is cut short after a result that was decided.
    assert said == {
        ("a", "element", "<x>1</x>"): runs,
        ("b", "element", "<x>2</x>"): runs,
        ("b", "error", None): runs,
    }
    assert {row["event_time"].isoformat()[:10] for row in found} == {"2026-01-02"}


@pytest.mark.parametrize(("sink", "release"), [(DeltaSink, "4.2"), (IcebergSink, "4.1")])
def test_other_releases_of_spark_are_rejected_with_those_that_work(
    spark: SparkSession, sink: type[DeltaSink | IcebergSink], release: str
) -> None:
    for use in (
        lambda: sink(table="x").begin(spark, None),
        lambda: TableSink("missing", sink.format).begin(spark, None),
    ):
        with pytest.raises(SinkError, match=rf"PO0005: .* with Spark {release}, and this is"):
            use()


@pytest.mark.parametrize(
    ("found", "works", "is_right"),
    [
        ("4.2.0", ("4.2",), True),
        ("4.2.1-SNAPSHOT", ("4.2",), True),
        ("4.20.0", ("4.2",), False),
        ("4.1.4", ("4.2",), False),
        ("4.1.4", ("4.0", "4.1"), True),
    ],
)
def test_a_release_is_told_by_its_first_two_numbers(
    found: str, works: tuple[str, ...], is_right: bool
) -> None:
    if is_right:
        require_release(found, works, "tables")
    else:
        with pytest.raises(SinkError, match="PO0005"):
            require_release(found, works, "tables")
