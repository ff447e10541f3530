"""Batch: the rows of Spark are those of the engine, and what cannot be read is quarantined."""

from __future__ import annotations

import gzip
import inspect
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import penstock
from penstock.results import COLUMNS
from penstock.results.arrow import schema as arrow_schema
from penstock.spark import match, quarantine, results
from tests.spark.helpers.items import DOCUMENTS, broken_item, corpus, item, item_registry

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

Row = dict[str, Any]


def in_process(registry: penstock.Registry, documents: list[penstock.Document]) -> list[Row]:
    """Return the engine's rows, in a comparable order."""
    rows = [
        {name: getattr(row, name) for name in COLUMNS}
        for row in penstock.Engine(registry).run(documents)
    ]
    for row in rows:
        row["error"] = row["error"] and (row["error"].code, row["error"].byte, row["error"].line)
    return in_order(rows)


def in_spark(rows: DataFrame) -> list[Row]:
    """Return the rows of a DataFrame, in the same order."""
    found = []
    for row in rows.select(*COLUMNS).collect():
        made = row.asDict()
        if made["event_time"] is not None:
            made["event_time"] = made["event_time"].astimezone(UTC)
        error = made["error"]
        made["error"] = error and (error["code"], error["byte"], error["line"])
        made["source"] = None if made["source"] is None else bytes(made["source"])
        found.append(made)
    return in_order(found)


def in_order(rows: list[Row]) -> list[Row]:
    return sorted(
        rows, key=lambda row: (row["document"], row["subscription"] or "", row["ordinal"])
    )


def test_corpus_gives_the_rows_of_the_engine_in_batch_and_as_a_stream(
    spark: SparkSession, tmp_path: Path
) -> None:
    registry, documents = corpus()
    table = spark.createDataFrame(
        [(one.id, one.data) for one in documents], "id string, xml binary"
    )
    expected = in_process(registry, documents)
    assert in_spark(match(table, registry)) == expected
    table.repartition(5).write.parquet(str(tmp_path / "in"))
    reader = spark.readStream.schema(table.schema).option("maxFilesPerTrigger", 2)
    rows = match(reader.parquet(str(tmp_path / "in")), registry)
    writer = rows.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
    query = writer.trigger(availableNow=True).format("parquet").start(str(tmp_path / "out"))
    query.awaitTermination()
    streamed = spark.read.parquet(str(tmp_path / "out"))
    assert streamed.schema == rows.schema
    assert in_spark(streamed) == expected


def test_generated_documents_give_the_rows_of_the_engine(spark: SparkSession) -> None:
    random, registry, moment = Random(3), item_registry(), datetime(2024, 5, 1, 12, tzinfo=UTC)
    documents = [
        penstock.Document(item(random, number), id=str(number), stream="items", time=moment)
        for number in range(DOCUMENTS)
    ]
    rows = [(int(one.id or ""), one.data, "items", moment) for one in documents]
    table = spark.createDataFrame(rows, "number int, body binary, origin string, ts timestamp")
    found = match(table, registry, document="body", id="number", time="ts", stream="origin")
    assert in_spark(found) == in_process(registry, documents)


def test_values_beside_results_are_those_of_the_engine(spark: SparkSession) -> None:
    registry, documents = penstock.Registry(), []
    registry.add("b", penstock.xpath("//b", select={"n": "@n", "up": "../@k", "c": "c"}))
    registry.add("a", "//a")
    for number in range(20):
        inside = f"<b n='{number}'/>" + "<b><c>x</c></b>" * (number % 3)
        documents.append(penstock.Document(f"<a k='é'>{inside}</a>".encode(), id=str(number)))
    table = spark.createDataFrame([(d.id, d.data) for d in documents], "id string, xml binary")
    found = in_spark(match(table, registry))
    assert found == in_process(registry, documents)
    assert {"n": "19", "up": "é", "c": None} in [row["bindings"] for row in found]


def test_columns_are_those_of_the_library(spark: SparkSession) -> None:
    from pyspark.sql.pandas.types import to_arrow_schema

    table = spark.createDataFrame([("a", b"<a/>")], "id string, xml binary")
    found = match(table, item_registry())
    assert found.columns == list(COLUMNS)
    expected = arrow_schema()
    is_zoned = "timezone" in inspect.signature(to_arrow_schema).parameters
    for field in to_arrow_schema(found.schema, **({"timezone": "UTC"} if is_zoned else {})):
        assert str(field.type).replace("element:", "item:") == str(expected.field(field.name).type)


def test_other_columns_come_along(spark: SparkSession) -> None:
    rows = [(b"<a><b/><b/></a>", "k1", 7, ["x"]), (b"<a><b></a>", "k2", 8, [])]
    table = spark.createDataFrame(rows, "value binary, key string, offset long, tags array<string>")
    registry = penstock.Registry()
    registry.add("b", "//b")
    found = match(table, registry, document="value", id="offset")
    assert found.columns == [*COLUMNS, "key", "tags"]
    kept = sorted(tuple(row) for row in found.select("document", "kind", "key", "tags").collect())
    assert kept == [
        ("7", "element", "k1", ["x"]),
        ("7", "element", "k1", ["x"]),
        ("8", "error", "k2", []),
    ]


def test_column_with_the_name_of_a_result_column_is_refused(spark: SparkSession) -> None:
    table = spark.createDataFrame([("a", b"<a/>", 1)], "id string, xml binary, Value int")
    with pytest.raises(ValueError, match="columns named `Value` of their own"):
        match(table, item_registry())


def test_missing_column_is_named(spark: SparkSession) -> None:
    table = spark.createDataFrame([("a", b"<a/>")], "key string, xml binary")
    with pytest.raises(ValueError, match="there is no column `id`; the documents have `key`"):
        match(table, item_registry())


def test_column_of_numbers_holds_no_documents(spark: SparkSession) -> None:
    table = spark.createDataFrame([("a", 1)], "id string, xml int")
    with pytest.raises(ValueError, match="a document is binary or a string"):
        match(table, item_registry())


def test_every_bad_document_is_quarantined_once(spark: SparkSession) -> None:
    random, registry = Random(5), item_registry()
    bad = {number: broken_item(random, number) for number in range(0, DOCUMENTS, 20)}
    good = {number: item(random, number) for number in range(DOCUMENTS) if number not in bad}
    rows = list((good | {number: data for number, (data, _, _) in bad.items()}).items())
    random.shuffle(rows)
    found = match(spark.createDataFrame(rows, "id long, xml binary"), registry)
    kept = quarantine(found).select("document", "error", "source").collect()
    assert len(kept) == len(bad)
    seen = {
        int(row["document"]): (bytes(row["source"]), row["error"]["code"], row["error"]["byte"])
        for row in kept
    }
    assert seen == bad
    assert all(row["error"]["reason"] for row in kept)
    assert len({code for _, code, _ in bad.values()}) == 5
    assert results(found).count() == len(
        [
            row
            for row in penstock.Engine(registry).run(penstock.Document(data) for _, data in rows)
            if not row.is_error
        ]
    )


def test_passing_a_limit_fails_that_document_alone(spark: SparkSession) -> None:
    rows = [("deep", b"<a><b><c/></b></a>"), ("flat", b"<a><b/></a>")]
    registry = penstock.Registry()
    registry.add("b", "//b")
    table = spark.createDataFrame(rows, "id string, xml binary")
    found = match(table, registry, limits=penstock.Limits(depth_max=2))
    assert [row["document"] for row in results(found).collect()] == ["flat"]
    (failed,) = quarantine(found).collect()
    assert failed["document"] == "deep"
    assert "depth" in failed["error"]["reason"]


def test_strings_null_and_compressed_documents_are_read(spark: SparkSession) -> None:
    registry = penstock.Registry()
    registry.add("text", "string(//b)")
    declared = "<?xml version='1.0' encoding='{}'?><a><b>é</b></a>"
    texts = [
        ("plain", "<a><b>é</b></a>"),
        ("same", declared.format("UTF-8")),
        ("other", declared.format("iso-8859-1")),
        ("wide", "\ufeff" + declared.format("utf-16")),
        ("null", None),
        ("none", "shelf.xml"),
    ]
    found = match(spark.createDataFrame(texts, "id string, xml string"), registry)
    values = {row["document"]: row["value"] for row in results(found).collect()}
    assert values == dict.fromkeys(("plain", "same", "other", "wide"), "é")
    codes = {row["document"]: row["error"]["code"] for row in quarantine(found).collect()}
    assert codes == {"null": "PS0001", "none": "PS0003"}
    data = [
        ("gz", gzip.compress(b"<a><b>c</b></a>")),
        ("latin", declared.format("iso-8859-1").encode("iso-8859-1")),
        ("null", None),
        ("empty", b""),
    ]
    found = match(spark.createDataFrame(data, "id string, xml binary"), registry)
    values = {row["document"]: row["value"] for row in results(found).collect()}
    assert values == {"gz": "c", "latin": "é"}
    codes = {row["document"]: row["error"]["code"] for row in quarantine(found).collect()}
    assert codes == {"null": "PS0001", "empty": "PD0027"}


def test_expressions_stand_for_columns(spark: SparkSession) -> None:
    from pyspark.sql import functions as f

    registry = penstock.Registry()
    registry.add("a", "/a", mode="filter")
    table = spark.createDataFrame(
        [("t", 1, 5, "<a/>")], "topic string, part int, at int, body string"
    )
    (row,) = match(
        table,
        registry,
        document=f.encode("body", "utf-8"),
        id=f.concat_ws("-", "topic", "part", "at"),
        time=f.timestamp_seconds("at"),
        stream=f.lit("orders"),
    ).collect()
    assert (row["document"], row["stream"]) == ("t-1-5", "orders")
    assert row["event_time"].timestamp() == 5
    assert (row["topic"], row["body"]) == ("t", "<a/>")


def test_arrow_settings_of_the_session_do_not_matter(spark: SparkSession) -> None:
    random, registry = Random(9), item_registry()
    rows = [(number, item(random, number), "x") for number in range(50)]
    table = spark.createDataFrame(rows, "id long, xml binary, note string")
    expected = in_spark(match(table, registry))
    settings = {
        "spark.sql.execution.arrow.useLargeVarTypes": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "7",
        "spark.sql.session.timeZone": "Asia/Kolkata",
    }
    before = {key: spark.conf.get(key) for key in settings}
    try:
        for key, value in settings.items():
            spark.conf.set(key, value)
        assert in_spark(match(table, registry)) == expected
    finally:
        for key, value in before.items():
            spark.conf.set(key, value)


def test_late_and_unordered_documents_keep_their_own_times(spark: SparkSession) -> None:
    registry = penstock.Registry()
    registry.add("a", "/a", mode="filter")
    times = [datetime(2024, 1, 1 + day, tzinfo=UTC) for day in (5, 1, 9, 0, 5)]
    rows = [(str(at), b"<a/>", time) for at, time in enumerate(times)]
    table = spark.createDataFrame(rows, "id string, xml binary, ts timestamp")
    found = in_spark(match(table, registry, time="ts"))
    assert [row["event_time"] for row in found] == times


def test_registry_in_memory_is_frozen_at_the_call(spark: SparkSession) -> None:
    registry = penstock.Registry()
    registry.add("before", "/a", mode="filter")
    found = match(spark.createDataFrame([("1", b"<a/>")], "id string, xml binary"), registry)
    registry.add("after", "/a", mode="filter")
    assert [row["subscription"] for row in found.collect()] == ["before"]


@pytest.mark.parametrize("is_durable", [False, True])
def test_subscriptions_that_join_are_rejected_at_the_call(
    spark: SparkSession, tmp_path: Path, is_durable: bool
) -> None:
    registry = penstock.Registry.open(tmp_path / "registry") if is_durable else penstock.Registry()
    registry.add("a", "/a")
    registry.add("pairs", penstock.xscl("S//a->x JOIN{x = y, 1} S//b->y"))
    table = spark.createDataFrame([("1", b"<a/>")], "id string, xml binary")
    with pytest.raises(penstock.errors.RegistryError) as caught:
        match(table, registry)
    assert caught.value.code == "PR0011"
    assert "`pairs` joins documents" in caught.value.message
    assert caught.value.message.endswith("use penstock.spark.join or join_stream")
    registry.remove("pairs")
    assert [row["subscription"] for row in match(table, registry).collect()] == ["a"]


def test_large_plan_travels_as_a_file(spark: SparkSession) -> None:
    from penstock.spark.plans import EMBEDDED_BYTES_MAX, host_folder, ship

    registry = penstock.Registry()
    for number in range(3000):
        registry.add(f"q{number}", f"//item[@key = 'k{number}']/name", mode="filter")
    rows = [(str(n), f"<r><item key='k{n}'><name/></item></r>".encode()) for n in range(300)]
    table = spark.createDataFrame(rows, "id string, xml binary")
    reference = ship(registry, table)
    assert reference.data is None
    file = host_folder() / reference.name
    assert file.stat().st_size > EMBEDDED_BYTES_MAX
    found = match(table, registry)
    file.unlink()  # a host that has not seen the plan yet
    pairs = {(row["document"], row["subscription"]) for row in found.collect()}
    assert pairs == {(str(n), f"q{n}") for n in range(300)}
    assert file.exists()
