"""XQuery on Spark: messages, items and errors are those of the engine, in batch and as a stream."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import penstock
from penstock.spark import match, quarantine, results
from penstock.spark.pipelines import load, run
from tests.spark.helpers.stored import COLUMNS, engine_row, row_of, rows_in
from tests.spark.test_match import in_process, in_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TEXTS = {
    "message": "<cheap>{for $i in //item where $i/price < 10 return $i/name}</cheap>",
    "items": "for $i in //item return <n id='{$i/@id}'>{string($i/name)}</n>",
    "values": "count(//item), sum(//price)",
    "sorted": "for $i in //item order by $i/name descending return $i/name",
    "failing": "for $i in //item return $i/name + 1",
}


def item(number: int) -> bytes:
    price = f"{number % 20}.50"
    return (
        f'<items><item id="{number}"><name>n{number}</name><price>{price}</price></item>'
        f"<item><name>m&amp;{number}</name><price>11</price></item></items>"
    ).encode()


def registry() -> penstock.Registry:
    made = penstock.Registry()
    for name, text in TEXTS.items():
        made.add(name, penstock.xquery(text))
    made.add("path", "//item/@id")
    return made


DOCUMENTS = [penstock.Document(item(number), id=f"d{number}") for number in range(60)]
DOCUMENTS.append(penstock.Document(b"<items><item></items>", id="broken"))


def test_a_batch_gives_the_rows_of_the_engine(spark: SparkSession) -> None:
    frame = spark.createDataFrame(
        [(document.id, bytearray(document.data)) for document in DOCUMENTS],
        "id string, xml binary",
    )
    rows = match(frame, registry(), document="xml", id="id").cache()
    expected = in_process(registry(), DOCUMENTS)
    assert in_spark(rows) == expected
    assert sum(row["kind"] == "message" for row in expected) > 10
    # One bad document; the subscription that fails is no reason to keep a document aside.
    assert quarantine(rows).count() == 1
    assert results(rows).where("subscription = 'failing'").count() == 0


def test_a_stream_gives_the_same_rows(spark: SparkSession, tmp_path: Path) -> None:
    source, sink = tmp_path / "in", tmp_path / "out"
    frame = spark.createDataFrame(
        [(document.id, bytearray(document.data)) for document in DOCUMENTS],
        "id string, xml binary",
    )
    frame.write.parquet(str(source))
    stream = spark.readStream.schema(frame.schema).parquet(str(source))
    rows = match(stream, registry(), document="xml", id="id")
    query = (
        rows.writeStream.format("parquet")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(sink))
    )
    query.awaitTermination()
    assert in_spark(spark.read.parquet(str(sink))) == in_process(registry(), DOCUMENTS)


def test_messages_go_through_every_kind_of_sink(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    for number in range(6):
        text = item(number).decode().replace("m&amp;", "ü&amp;\u2028<![CDATA[<]]>")
        (tmp_path / f"in/{number}.xml").write_text(text, "utf-8")
    (tmp_path / "in/broken.xml").write_text("<items><item></items>")
    url = f"jdbc:derby:{tmp_path / 'derby'};create=true"
    driver = {"driver": "org.apache.derby.jdbc.EmbeddedDriver"}
    places = {
        "parquet": {"path": "out/parquet"},
        "json": {"path": "out/json"},
        "sqlite": {"path": "out/sqlite"},
        "jdbc": {"url": url, "options": driver},
        "console": {},
    }
    pipeline = {
        "sources": [{"kind": "files", "path": "in"}],
        "registry": {
            "subscriptions": [
                {"name": name, "language": "xquery", "query": text} for name, text in TEXTS.items()
            ]
        },
        "sinks": [{"kind": kind, "rows": "all", **where} for kind, where in places.items()],
    }
    (tmp_path / "p.yaml").write_text(json.dumps(pipeline))
    run(load(tmp_path / "p.yaml"), spark)
    made = penstock.Registry()
    for name, text in TEXTS.items():
        made.add(name, penstock.xquery(text))
    documents = [penstock.Document(path) for path in sorted((tmp_path / "in").iterdir())]
    wanted = Counter(engine_row(row) for row in penstock.Engine(made).run(documents))
    assert sum(row[4] == "message" for row in wanted.elements()) >= 6
    for kind in ("parquet", "json", "sqlite"):
        assert Counter(rows_in(kind, tmp_path / "out" / kind)) == wanted, kind
    printed = (json.loads(line) for line in capsys.readouterr().out.split("\n") if line)
    assert Counter(row_of(row) for row in printed) == wanted
    table = spark.read.format("jdbc").options(url=url, dbtable="results", **driver).load()
    names = [f"`{name}`" for name in COLUMNS]
    assert Counter(tuple(row) for row in table.select(*names, "error_code").collect()) == wanted
