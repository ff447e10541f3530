"""Orders into topics, through Penstock, and out again: run with a Spark of its own.

The connector is a jar, and a session takes its jars when it starts; so this is a process apart.
`python -m tests.spark.helpers.kafka_job STEP ADDRESS JARS FOLDER …` runs one of the steps below.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import penstock
from penstock.cli.main import main as penstock_command
from penstock.spark import match

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RUNS = (range(50), range(50, 70))
OUTPUT = (
    "if(kind = 'error', 'quarantine', 'results') topic",
    "document key",
    "to_json(struct(subscription, document, ordinal, kind, value, error)) value",
)
NAMESPACES = {"o": "urn:orders"}
QUERIES = {"expensive": "//o:item[o:price > 10]/o:name", "counted": "count(//o:item)"}
PIPELINE = """\
sources:
  - kind: kafka
    servers: {address}
    topics: [{topic}]
    stream: orders
    options: {{startingOffsets: earliest, maxOffsetsPerTrigger: 30}}
registry:
  subscriptions:
    - {{name: expensive, query: "//o:item[o:price > 10]/o:name", namespaces: {{o: urn:orders}}}}
    - {{name: counted, query: "count(//o:item)", namespaces: {{o: urn:orders}}}}
sinks:
  - {{kind: kafka, servers: "{address}", topic: {topic}-results}}
  - {{kind: kafka, servers: "{address}", topic: {topic}-quarantine, rows: quarantine}}
trigger: {trigger}
checkpoint: checkpoint-{topic}
spark:
  master: local[2]
  settings: {{spark.jars: "{jars}"}}
"""


def registry() -> penstock.Registry:
    """Return the subscriptions of the job."""
    found = penstock.Registry()
    for name, query in QUERIES.items():
        found.add(name, penstock.xpath(query, namespaces=NAMESPACES))
    return found


def order(number: int) -> bytes:
    """Return a document; one in twenty is cut short."""
    items = "".join(
        f"<o:item><o:name>n{number}.{item}</o:name><o:price>{item * number % 23}</o:price></o:item>"
        for item in range(5)
    )
    document = f'<o:order xmlns:o="urn:orders">{items}</o:order>'.encode()
    return document[:-9] if number % 20 == 3 else document


def write_pipeline(folder: Path, address: str, jars: str, topic: str, trigger: str) -> Path:
    """Write the pipeline that reads a topic, and return its file."""
    path = folder / f"{topic}.yaml"
    text = PIPELINE.format(address=address, jars=jars, topic=topic, trigger=trigger)
    path.write_text(text, "utf-8")
    return path


def fill(address: str, jars: str, folder: Path, topic: str, count: str) -> None:
    """Put orders into a topic."""
    spark = _session(jars)
    _produce(spark, address, topic, range(int(count)))
    spark.stop()


def dump(address: str, jars: str, folder: Path, *topics: str) -> None:
    """Write what topics hold into files: place, key and value of each message."""
    spark = _session(jars)
    for topic in topics:
        found = _at(spark.read.format("kafka"), address).option("subscribe", topic).load()
        rows = found.selectExpr(
            "concat_ws('/', topic, partition, offset)",
            "cast(key as string)",
            "cast(value as string)",
        )
        values = [list(row) for row in rows.collect()]
        (folder / f"{topic}.json").write_text(json.dumps(values), "utf-8")
    spark.stop()


def whole(address: str, jars: str, folder: Path) -> None:
    """Run a stream over orders that come in two lots, then a pipeline over all, twice."""
    spark = _session(jars)
    for numbers in RUNS:
        _produce(spark, address, "orders", numbers)
        _stream(spark, address, folder)
    spark.stop()
    file = write_pipeline(folder, address, jars, "orders", "available_now")
    codes = [penstock_command(["run", str(file)]) for _ in range(2)]
    assert codes == [3, 0], codes  # there is quarantine, and then nothing new
    topics = ("orders", "results", "quarantine", "orders-results", "orders-quarantine")
    dump(address, jars, folder, *topics)


def _produce(spark: SparkSession, address: str, topic: str, numbers: Iterable[int]) -> None:
    orders = [(str(number), bytearray(order(number))) for number in numbers]
    made = spark.createDataFrame(orders, "key string, value binary")
    _at(made.write.format("kafka"), address).option("topic", topic).save()


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
    steps: dict[str, Any] = {"fill": fill, "dump": dump, "whole": whole}
    steps[sys.argv[1]](*sys.argv[2:4], Path(sys.argv[4]), *sys.argv[5:])
