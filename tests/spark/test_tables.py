"""Tables on Spark: rows and schema are those of the engine, in batch and as a stream."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import penstock
from penstock.spark import tables
from penstock.spark.pipelines import load, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

COLUMNS = {
    "head": "../h",
    "number": ("@n", "integer"),
    "price": ("price", "decimal(10,2)"),
    "day": ("day", "date"),
    "moment": ("moment", "timestamp"),
    "is_new": ("new", "boolean"),
    "weight": ("weight", "double"),
    "tags": ("tag", "list[string]"),
    "lines": ("line", [{"q": ("@q", "integer")}]),
    "xml": ("price", "xml"),
}


def document(number: int) -> bytes:
    item = (
        f'<item n="{number:03}"><price>{number}.50</price><day>2024-01-{number % 28 + 1:02}</day>'
        f"<moment>2024-01-01T00:00:{number % 60:02}+01:00</moment><new>{number % 2}</new>"
        f"<weight>{number}e-1</weight><tag>a</tag><tag>b</tag><line q='1'/><line q='x'/></item>"
    )
    return f"<items><h>h{number}</h>{item}<item/></items>".encode()


DOCUMENTS = [document(number) for number in range(50)]


def in_process(query: penstock.Query) -> list[Any]:
    registry = penstock.Registry()
    registry.add("table", query)
    return shown(penstock.Engine(registry).table(DOCUMENTS).to_pylist())


def shown(rows: list[dict[str, Any]]) -> list[str]:
    """Return rows as texts: Spark's moments are local and naive."""
    for row in rows:
        if row["moment"] is not None:
            row["moment"] = row["moment"].timestamp()
    return sorted(map(repr, rows))


def collected(frame: Any) -> list[str]:
    return shown([row.asDict(recursive=True) for row in frame.collect()])


def test_a_batch_gives_the_rows_of_the_engine(spark: SparkSession) -> None:
    query = penstock.table("//item", COLUMNS)
    rows = [(str(number), bytearray(data)) for number, data in enumerate(DOCUMENTS)]
    frame = tables(spark.createDataFrame(rows, "id string, xml binary").repartition(3), query)
    assert dict(frame.dtypes)["price"] == "decimal(10,2)"
    assert dict(frame.dtypes)["lines"] == "array<struct<q:bigint>>"
    assert collected(frame) == in_process(query)


def test_a_stream_gives_the_rows_of_the_engine(spark: SparkSession, tmp_path: Path) -> None:
    query = penstock.table("//item", COLUMNS)
    rows = [(str(number), data.decode()) for number, data in enumerate(DOCUMENTS)]
    frame = spark.createDataFrame(rows, "id string, xml string")
    frame.write.parquet(str(tmp_path / "documents"))
    stream = spark.readStream.schema(frame.schema).parquet(str(tmp_path / "documents"))
    writing = tables(stream, query).writeStream.format("parquet")
    writing = writing.option("checkpointLocation", str(tmp_path / "checkpoint"))
    writing.trigger(availableNow=True).start(str(tmp_path / "rows")).awaitTermination()
    assert collected(spark.read.parquet(str(tmp_path / "rows"))) == in_process(query)


def test_what_is_no_table_is_rejected(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("1", "<a/>")], "id string, xml string")
    with pytest.raises(TypeError, match="no table"):
        tables(frame, penstock.xpath("//a"))


def test_a_sink_writes_the_columns_of_a_table(spark: SparkSession, tmp_path: Path) -> None:
    query = penstock.table("//item", COLUMNS)
    (tmp_path / "inbox").mkdir()
    for number, data in enumerate(DOCUMENTS):
        (tmp_path / "inbox" / f"{number}.xml").write_bytes(data)
    (tmp_path / "items.json").write_text(query.text)
    (tmp_path / "pipeline.yaml").write_text("""\
sources: [{kind: files, path: inbox}]
registry:
  subscriptions:
    - {name: items, table: items.json}
    - {name: prices, query: //price}
sinks:
  - {kind: parquet, path: rows, table: items}
  - {kind: json, path: results}
trigger: available_now
checkpoint: checkpoint
""")
    outcome = run(load(tmp_path / "pipeline.yaml"), spark)
    assert outcome.results == 3 * len(DOCUMENTS)
    rows = spark.read.parquet(str(tmp_path / "rows"))
    assert dict(rows.dtypes)["lines"] == "array<struct<q:bigint>>"
    assert collected(rows.drop("run", "batch")) == in_process(query)
