"""Streams and pipelines tell what they did: documents, rows, and what it cost whom."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import penstock
from penstock.spark import match as plain_match
from penstock.spark.metrics import Measures, MetricsListener, exposition, match, measures_of
from penstock.spark.metrics.measures import NAMES_MAX
from penstock.spark.pipelines import load, run
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SCHEMA = "id string, xml string"
DOCUMENTS = [(f"d{n}", f"<a><b>{n}</b></a>" if n % 5 else "<a><b>") for n in range(20)]
BYTES = sum(len(text) for _, text in DOCUMENTS)
_SAMPLE = re.compile(r'^(\w+)\{query="([^"]*)"(?:,rank="\d+")?\} ([0-9.e+-]+)$')


def registry_of() -> penstock.Registry:
    registry = penstock.Registry()
    registry.add("b", "//b")
    registry.add("many", "//b[. > 3] | //a[count(.//b) = 1]")
    registry.add("nothing", "//c")
    return registry


def test_a_listener_adds_up_the_batches_of_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame(DOCUMENTS, SCHEMA)
    for part in range(2):
        frame.where(f"id {'<' if part else '>='} 'd15'").coalesce(1).write.mode("append").parquet(
            str(tmp_path / "in")
        )
    stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    rows = match(stream.parquet(str(tmp_path / "in")), registry_of())
    listener = MetricsListener()
    spark.streams.addListener(listener)
    try:
        writer = rows.writeStream.format("memory").queryName("books")
        writer.trigger(availableNow=True).start().awaitTermination()
        wait_until(lambda: listener.measures("books").documents == len(DOCUMENTS), "all are told")
    finally:
        spark.streams.removeListener(listener)
    measures = listener.measures("books")
    found = spark.table("books")
    assert measures.batches == 2
    assert measures.bytes == BYTES
    assert measures.results == found.where("kind <> 'error'").count() > 20
    assert measures.quarantined == found.where("kind = 'error'").count() == 4
    assert {row.kind for row in found.select("kind").distinct().collect()} == {"element", "error"}
    assert 0 < sum(seconds for _, seconds in measures.top()) <= measures.seconds * 1.01
    assert {name for name, _ in measures.top()} <= {"b", "many"}
    assert listener.queries() == ["books"]
    assert listener.measures("others") == Measures()


def test_a_batch_is_observed_and_has_the_rows_of_match(spark: SparkSession) -> None:
    from pyspark.sql import Observation

    documents, observation = spark.createDataFrame(DOCUMENTS, SCHEMA), Observation()
    rows = match(documents, registry_of(), observation=observation)
    plain = plain_match(documents, registry_of())
    assert rows.schema == plain.schema
    assert sorted(map(str, rows.collect())) == sorted(map(str, plain.collect()))
    measures = measures_of(observation.get)
    assert (measures.documents, measures.bytes, measures.quarantined) == (20, BYTES, 4)


def test_a_pipeline_writes_its_numbers_for_prometheus(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name, text in DOCUMENTS[:6]:
        (tmp_path / f"in/{name}.xml").write_text(text)
    (tmp_path / "p.yaml").write_text("""\
name: my "books"
sources: [{kind: files, path: in}]
registry: {subscriptions: [{name: b, query: //b}]}
sinks: [{kind: json, path: out}]
metrics: numbers/books.prom
""")
    listener = MetricsListener()
    outcome = run(load(tmp_path / "p.yaml"), spark, listener.pipeline("books"))
    measures = listener.measures("books")
    assert (measures.documents, measures.results, measures.quarantined) == (6, 4, 2)
    assert measures == outcome.measures()
    assert [name for name, _ in measures.top()] == ["b"]
    text = (tmp_path / "numbers/books.prom").read_text()
    assert text == exposition({'my "books"': measures})
    assert 'penstock_documents_total{query="my \\"books\\""} 6\n' in text


def test_the_text_for_prometheus_has_a_type_for_each_name_and_no_label_of_a_subscription() -> None:
    costs = {f"s{n}": n / 8 for n in range(40)}
    text = exposition(
        {"a\\b": Measures(1, 2, 3), "b": Measures(seconds=0.5, by_subscription=costs)}
    )
    assert text.endswith("\n")
    types = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.M))
    samples = [line for line in text.splitlines() if not line.startswith("#")]
    for line in samples:
        found = _SAMPLE.match(line)
        assert found, line
        assert (types[found[1]] == "counter") == found[1].endswith("_total")
    assert len([line for line in samples if "rank" in line]) == 10
    assert "s39" not in text
    assert 'query="a\\\\b"' in text


def test_numbers_are_read_from_what_spark_observed() -> None:
    told = {"documents": 3, "bytes": 40, "results": 2, "microseconds": 500_000}
    measures = measures_of(told | {"usage": '[{"subscription": "b", "end": 250000}]'})
    assert measures == Measures(1, 3, 40, 2, seconds=0.5, by_subscription={"b": 0.25})
    assert measures_of({}) == Measures(1)


def test_seconds_are_kept_of_a_bounded_number_of_subscriptions() -> None:
    total = Measures()
    for part in range(3):
        names = {f"s{part} {number}": float(number) for number in range(NAMES_MAX)}
        total.add(Measures(by_subscription=names | {"dear": 1e6}))
    assert len(total.by_subscription) == NAMES_MAX
    assert total.top(2)[0] == ("dear", 3e6)
