"""Streaming: the rows of batch, whatever the trigger, and again the same when replayed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import penstock
from penstock.spark import match, quarantine, results
from tests.spark.helpers.items import broken_item, item, item_registry

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

pytestmark = pytest.mark.spark

SCHEMA = "id long, xml binary"
Seen = list[tuple[int, list[tuple[Any, ...]]]]


def write_file(folder: Path, number: int, documents: list[tuple[int, bytes]]) -> None:
    """Add a file of documents to a stream, as if in one moment."""
    ids, data = zip(*documents, strict=True)
    table = pa.table({"id": pa.array(ids, pa.int64()), "xml": pa.array(data, pa.binary())})
    hidden = folder / f"_{number:04}.parquet"
    pq.write_table(table, hidden)
    hidden.rename(folder / f"{number:04}.parquet")


def write_items(folder: Path, files: range, seed: int = 1) -> None:
    folder.mkdir(exist_ok=True)
    for number in files:
        random = Random(seed * 1000 + number)
        documents = [(100 * number + one, item(random, 100 * number + one)) for one in range(40)]
        documents[7] = (documents[7][0], broken_item(random, number)[0])
        write_file(folder, number, documents)


def write_words(folder: Path, number: int, *words: str) -> None:
    folder.mkdir(exist_ok=True)
    documents = [(10 * number + at, f"<{word}/>".encode()) for at, word in enumerate(words)]
    write_file(folder, number, documents)


def read_stream(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder))


def identities(rows: list[Any]) -> list[tuple[Any, ...]]:
    names = ("document", "subscription", "ordinal", "kind", "value", "start", "decided_at")
    return sorted((tuple(row[name] for name in names) for row in rows), key=repr)


def collect_into(seen: Seen) -> Callable[[DataFrame, int], None]:
    def collect(rows: DataFrame, number: int) -> None:
        seen.append((number, identities(rows.collect())))

    return collect


def start(rows: DataFrame, checkpoint: Path, seen: Seen) -> StreamingQuery:
    writer = rows.writeStream.option("checkpointLocation", str(checkpoint))
    return writer.trigger(processingTime="50 milliseconds").foreachBatch(collect_into(seen)).start()


def subscriptions(rows: list[tuple[Any, ...]]) -> list[str]:
    return sorted(row[1] for row in rows)


def test_stream_to_files_gives_the_rows_of_batch(spark: SparkSession, tmp_path: Path) -> None:
    registry, source, sink = item_registry(), tmp_path / "in", tmp_path / "out"

    def run() -> None:
        rows = match(read_stream(spark, source), registry)
        writer = rows.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        query = writer.trigger(availableNow=True).format("parquet").start(str(sink))
        query.awaitTermination()

    write_items(source, range(3))
    run()
    write_items(source, range(3, 5))
    run()  # goes on from the checkpoint
    streamed = spark.read.parquet(str(sink))
    batch = match(spark.read.schema(SCHEMA).parquet(str(source)), registry)
    assert identities(streamed.collect()) == identities(batch.collect())
    assert quarantine(streamed).count() == 5
    assert results(streamed).count() > 500


def test_processing_time_trigger_gives_the_rows_of_batch(
    spark: SparkSession, tmp_path: Path
) -> None:
    registry, source, seen = item_registry(), tmp_path / "in", Seen()
    write_items(source, range(1))
    query = start(match(read_stream(spark, source), registry), tmp_path / "checkpoint", seen)
    try:
        query.processAllAvailable()
        write_items(source, range(1, 3))
        query.processAllAvailable()
    finally:
        query.stop()
    batch = match(spark.read.schema(SCHEMA).parquet(str(source)), registry)
    streamed = sorted((row for _, rows in seen for row in rows), key=repr)
    assert streamed == identities(batch.collect())


def test_changes_of_a_durable_registry_take_effect_in_the_next_batch(
    spark: SparkSession, tmp_path: Path
) -> None:
    registry, source, seen = penstock.Registry.open(tmp_path / "registry"), tmp_path / "in", Seen()
    registry.add("a", "/a", mode="filter")
    write_words(source, 0, "a", "b")
    query = start(match(read_stream(spark, source), registry), tmp_path / "checkpoint", seen)
    try:
        query.processAllAvailable()
        registry.add("b", "/b", mode="filter")
        write_words(source, 1, "a", "b")
        query.processAllAvailable()
        registry.remove("a")
        write_words(source, 2, "a", "b")
        query.processAllAvailable()
    finally:
        query.stop()
    assert [subscriptions(rows) for _, rows in seen] == [["a"], ["a", "b"], ["b"]]
    assert [registry.pin(query.id, number) for number, _ in seen] == [1, 2, 3]


def test_a_subscription_that_joins_ends_a_stream_that_follows_its_registry(
    spark: SparkSession, tmp_path: Path
) -> None:
    from pyspark.errors import StreamingQueryException

    registry, source, seen = penstock.Registry.open(tmp_path / "registry"), tmp_path / "in", Seen()
    registry.add("a", "/a", mode="filter")
    write_words(source, 0, "a")
    query = start(match(read_stream(spark, source), registry), tmp_path / "checkpoint", seen)
    try:
        query.processAllAvailable()
        registry.add("pairs", penstock.xscl("S//a->x JOIN{x = y, 1} S//b->y"))
        write_words(source, 1, "a")
        with pytest.raises(StreamingQueryException, match="PR0011: `pairs` joins documents"):
            query.processAllAvailable()
    finally:
        query.stop()
    assert [subscriptions(rows) for _, rows in seen] == [["a"]]


def test_replayed_batch_gives_the_identical_rows(spark: SparkSession, tmp_path: Path) -> None:
    registry, source = penstock.Registry.open(tmp_path / "registry"), tmp_path / "in"
    checkpoint, first, second = tmp_path / "checkpoint", Seen(), Seen()
    registry.add("a", "/a")
    write_words(source, 0, "a", "b")
    write_words(source, 1, "b", "a", "a")
    query = start(match(read_stream(spark, source), registry), checkpoint, first)
    query.processAllAvailable()
    query.stop()
    # As if the driver had died between the sink and the commit of the last batch.
    for file in (checkpoint / "commits").glob("*1*"):
        file.unlink()
    registry.add("b", "/b")
    registry.remove("a")
    write_words(source, 2, "a", "b")
    query = start(match(read_stream(spark, source), registry), checkpoint, second)
    query.processAllAvailable()
    query.stop()
    assert [number for number, _ in second] == [1, 2]
    assert second[0] == first[1]
    assert subscriptions(second[1][1]) == ["b"]


def test_late_and_unordered_documents_are_not_lost(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.sql import functions as f

    registry, source, seen = penstock.Registry(), tmp_path / "in", []
    registry.add("a", "/a", mode="filter")
    # The time of a document is ten hours for each that comes later in this list.
    order = [7, 2, 9, 0, 4, 1, 8, 3, 6, 5]
    source.mkdir()
    for number, start in enumerate(range(0, 10, 2)):
        write_file(source, number, [(one, b"<a/>") for one in order[start : start + 2]])
    documents = read_stream(spark, source).withColumn(
        "ts", f.timestamp_seconds(f.col("id") * 36000)
    )
    rows = match(documents.withWatermark("ts", "1 minute"), registry, time="ts")
    writer = rows.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
    query = writer.foreachBatch(lambda batch, _: seen.extend(batch.collect())).start()
    query.processAllAvailable()
    query.stop()
    times = {int(row["document"]): row["event_time"].timestamp() for row in seen}
    assert times == {number: number * 36000.0 for number in range(10)}
    assert len(seen) == 10


def test_past_version_of_a_registry_stays_as_it_was(spark: SparkSession, tmp_path: Path) -> None:
    registry, source, seen = penstock.Registry.open(tmp_path / "registry"), tmp_path / "in", Seen()
    registry.add("a", "/a", mode="filter")
    past = registry.at(registry.version)
    registry.add("b", "/b", mode="filter")
    write_words(source, 0, "a", "b")
    query = start(match(read_stream(spark, source), past), tmp_path / "checkpoint", seen)
    query.processAllAvailable()
    query.stop()
    assert [subscriptions(rows) for _, rows in seen] == [["a"]]
