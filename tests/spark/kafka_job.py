"""Documents from one topic, results into another: run by the test with a Spark of its own.

The connector is a jar, and a session takes its jars when it starts; so this is a process apart.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import penstock
from penstock.spark import match

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RUNS = (range(50), range(50, 70))
OUTPUT = (
    "if(kind = 'error', 'quarantine', 'results') topic",
    "document key",
    "to_json(struct(subscription, document, ordinal, kind, value, error)) value",
)
EXPENSIVE = penstock.xpath("//o:item[o:price > 10]/o:name", namespaces={"o": "urn:orders"})


def registry() -> penstock.Registry:
    """Return the subscriptions of the job."""
    found = penstock.Registry()
    found.add("expensive", EXPENSIVE)
    found.add("orders", penstock.xpath("/o:order", namespaces={"o": "urn:orders"}), mode="filter")
    return found


def order(number: int) -> bytes:
    """Return a document; every seventh is cut short."""
    items = "".join(
        f"<o:item><o:name>n{number}.{item}</o:name><o:price>{item * number % 23}</o:price></o:item>"
        for item in range(5)
    )
    document = f'<o:order xmlns:o="urn:orders">{items}</o:order>'.encode()
    return document[:-9] if number % 7 == 3 else document


def main(address: str, jars: str, folder: Path) -> None:
    """Produce orders and run the stream over them, twice; write what the topics hold then."""
    spark = _session(jars)
    for numbers in RUNS:
        orders = [(str(number), bytearray(order(number))) for number in numbers]
        made = spark.createDataFrame(orders, "key string, value binary")
        _at(made.write.format("kafka"), address).option("topic", "orders").save()
        _stream(spark, address, folder)
    for topic in ("results", "quarantine"):
        found = _at(spark.read.format("kafka"), address).option("subscribe", topic).load()
        values = [row["value"] for row in found.selectExpr("cast(value as string)").collect()]
        (folder / f"{topic}.json").write_text(json.dumps(values), "utf-8")
    spark.stop()


def _stream(spark: SparkSession, address: str, folder: Path) -> None:
    documents = (
        _at(spark.readStream.format("kafka"), address)
        .option("subscribe", "orders")
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", 30)
        .load()
        .selectExpr("cast(key as string) id", "value xml", "timestamp ts", "partition", "offset")
    )
    rows = match(documents, registry(), document="xml", id="id", time="ts")
    query = (
        _at(rows.selectExpr(*OUTPUT).writeStream.format("kafka"), address)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def _session(jars: str) -> SparkSession:
    from pyspark.sql import SparkSession

    from tests.spark.conftest import SETTINGS

    builder = SparkSession.builder.master("local[2]").config("spark.jars", jars)
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _at(it: Any, address: str) -> Any:
    return it.option("kafka.bootstrap.servers", address)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
