"""Streams on Spark that stop and go on: the checkpoint of a pipeline, and the state of joins."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

import penstock
from penstock.spark import join_stream
from penstock.spark.pipelines import load, run
from tests.formats.samples import NOON, Answer, in_order

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PIPELINE = """\
sources:
  - {kind: files, path: inbox, options: {maxFilesPerTrigger: 1}}
registry: subscriptions
sinks:
  - {kind: json, path: out/rows, rows: all}
trigger: available_now
checkpoint: out/checkpoint
suspend_after: 1
limits: {results_max: 2}
spark: {master: "local[2]"}
"""
QUERIES = {"many": "//item", "first": "//item[1]"}
BEFORE = {"a.xml": "<r><item/><item/><item/></r>", "b.xml": "<r><item>b</item></r>"}
AFTER = {"c.xml": "<r><item>c</item></r>", "d.xml": "<r><item></r>"}

JOIN = "shops//book->b/@id->x JOIN{x = y, 1 h} orders//order->o/@book->y"
SCHEMA = "id string, xml string, ts timestamp, stream string"
SOLD = {"shop-1": '<shop><book id="1"/></shop>', "shop-2": '<shop><book id="2"/></shop>'}
BOUGHT = {"order-2": '<o><order book="2"/></o>', "order-1": '<o><order book="1"/></o>'}


def begin_pipeline(folder: Path, spark: SparkSession) -> None:
    """Make a pipeline and run it over some documents, so that it suspends a subscription."""
    (folder / "inbox").mkdir(parents=True)
    (folder / "pipeline.yaml").write_text(PIPELINE)
    registry = penstock.Registry.open(folder / "subscriptions")
    for name, query in QUERIES.items():
        registry.add(name, query)
    registry.close()
    _put(folder, BEFORE)
    run(load(folder / "pipeline.yaml"), spark)


def go_on_with_pipeline(folder: Path, spark: SparkSession) -> Answer:
    """Let a pipeline go on with other documents, and return the rows of these."""
    before = set(_rows(folder))
    _put(folder, AFTER)
    run(load(folder / "pipeline.yaml"), spark)
    return in_order(json.loads(row) for row in set(_rows(folder)) - before)


def begin_joins(folder: Path, spark: SparkSession) -> None:
    """Make a stream that joins, and let it read what waits for its partners."""
    _write_batch(folder, 0, "shops", SOLD)
    _join(folder, spark)


def go_on_with_joins(folder: Path, spark: SparkSession) -> Answer:
    """Let a stream that joins go on with the partners, and return its rows."""
    _write_batch(folder, 1, "orders", BOUGHT)
    _join(folder, spark)
    rows = spark.read.parquet(str(folder / "out/batch=1")).collect()
    return in_order([row.subscription, row.kind, row.value, list(row.documents)] for row in rows)


def _put(folder: Path, documents: dict[str, str]) -> None:
    for name, text in documents.items():
        path = folder / "inbox" / name
        path.write_text(text)
        # A stream takes the oldest first.
        os.utime(path, (ord(name[0]), ord(name[0])))


def _rows(folder: Path) -> list[str]:
    found = []
    for file in sorted((folder / "out/rows").rglob("[!.]*.json")):
        for line in file.read_text().splitlines():
            row = json.loads(line)
            error = row.get("error") or {}
            document = Path(row.get("document") or "").name
            found.append(
                json.dumps([row.get("subscription"), document, row.get("value"), error.get("code")])
            )
    return found


def _write_batch(folder: Path, number: int, stream: str, documents: dict[str, str]) -> None:
    folder.joinpath("in").mkdir(parents=True, exist_ok=True)
    count = len(documents)
    columns = {
        "id": pa.array(documents.keys(), pa.string()),
        "xml": pa.array(documents.values(), pa.string()),
        "ts": pa.array([NOON] * count, pa.timestamp("us", "UTC")),
        "stream": pa.array([stream] * count, pa.string()),
    }
    path = folder / "in" / f"{number}.parquet"
    pq.write_table(pa.table(columns), path)
    os.utime(path, (1_000 + number, 1_000 + number))


def _join(folder: Path, spark: SparkSession) -> None:
    registry = penstock.Registry()
    registry.add("sold", penstock.xscl(JOIN))
    documents = spark.readStream.schema(SCHEMA).parquet(str(folder / "in"))
    query = join_stream(
        documents,
        registry,
        folder / "state",
        folder / "out",
        time="ts",
        stream="stream",
        buckets=2,
        trigger={"availableNow": True},
    )
    query.awaitTermination()
