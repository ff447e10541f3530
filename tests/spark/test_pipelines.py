"""Pipelines run: batch and stream, into every sink, once whatever happens in between."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import penstock
from penstock.errors import SinkError
from penstock.results import COLUMNS
from penstock.sinks import FilesSink, JdbcSink, WriteMode
from penstock.sinks.base import Sink
from penstock.sinks.kafka import messages
from penstock.spark import match
from penstock.spark.features import Feature
from penstock.spark.pipelines import Outcome, Pipeline, load, run
from penstock.spark.pipelines.settings import FileSource, SinkSetting, Trigger
from penstock.spark.schema import schema
from tests.feed_server import FeedServer, atom, rss

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

SECONDS_MAX = 600.0
"""Nobody waits so long unless something hangs."""

STREAM = """\
sources:
  - kind: files
    path: inbox
    stream: books
    options: {maxFilesPerTrigger: 5}
registry: subscriptions
sinks:
  - {kind: parquet, path: out/results}
  - {kind: json, path: out/quarantine, rows: quarantine}
  - {kind: sqlite, path: out/rows.db, rows: all}
trigger: available_now
checkpoint: out/checkpoint
spark: {master: "local[2]"}
"""


def put(folder: Path, start: int, stop: int) -> None:
    """Put documents into a folder, every seventh of them broken."""
    folder.mkdir(exist_ok=True)
    for number in range(start, stop):
        end = "" if number % 7 == 3 else "</book>"
        text = f"<book><price>{number}</price><author>a{number}</author>{end}"
        (folder / f"{number:03}.xml").write_text(text)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder with documents, a registry and a pipeline."""
    put(tmp_path / "inbox", 0, 12)
    registry = penstock.Registry.open(tmp_path / "subscriptions")
    registry.add("cheap", "//book[price < 10]/author")
    (tmp_path / "pipeline.yaml").write_text(STREAM)
    return tmp_path


def name_of(document: str) -> str:
    return Path(document).name


def in_table(path: Path, table: str = "results") -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as database:
        chosen = f"SELECT subscription, document, ordinal, value, error_code FROM {table}"
        rows = database.execute(chosen).fetchall()
    return sorted((row[0] or "", name_of(row[1]), *row[2:]) for row in rows)


def expected(project: Path) -> list[tuple[Any, ...]]:
    """Return what the in-process engine finds in all documents."""
    documents = [penstock.Document(path) for path in sorted((project / "inbox").iterdir())]
    registry = penstock.Registry.open(project / "subscriptions")
    return sorted(
        (
            row.subscription or "",
            name_of(row.document),
            row.ordinal,
            row.value,
            row.error.code if row.error else None,
        )
        for row in penstock.Engine(registry).run(documents)
    )


def test_a_stream_goes_on_where_it_stopped_and_writes_to_all_sinks(
    spark: SparkSession, project: Path
) -> None:
    seen: list[tuple[int, int | None]] = []
    outcome = run(
        load(project / "pipeline.yaml"),
        spark,
        lambda so_far: seen.append((so_far.batches, so_far.lag)),
    )
    assert (outcome.batches, outcome.documents, outcome.quarantined) == (3, 12, 2)
    assert outcome.bytes == sum(path.stat().st_size for path in (project / "inbox").iterdir())
    assert outcome.results == 10  # what a broken document decided before its error stands
    lags = [7, 2, 0] if Feature.READ_LIMITS.is_there else [None] * 3
    assert seen == list(zip([1, 2, 3], lags, strict=True))
    assert outcome.matched == {"cheap"}
    assert in_table(project / "out/rows.db") == expected(project)

    penstock.Registry.open(project / "subscriptions").add("late", "/book/author/text()")
    put(project / "inbox", 12, 14)
    outcome = run(load(project / "pipeline.yaml"), spark)
    assert (outcome.documents, outcome.results) == (2, 2)
    found = in_table(project / "out/rows.db")
    assert [row[1] for row in found if row[0] == "late"] == ["012.xml", "013.xml"]

    files = spark.read.parquet(str(project / "out/results"))
    assert files.columns == [*COLUMNS, "ancestors", "run", "batch"]
    assert files.schema[: len(COLUMNS)] == schema()
    rows = [
        (one["subscription"], name_of(one["document"]), one["value"]) for one in files.collect()
    ]
    assert sorted(rows) == [(row[0], row[1], row[3]) for row in found if row[4] is None]
    reports = [
        json.loads(line)
        for path in (project / "out/quarantine").rglob("*.json")
        for line in path.read_text().splitlines()
    ]
    assert sorted(name_of(one["document"]) for one in reports) == ["003.xml", "010.xml"]
    assert {one["error"]["code"] for one in reports} == {"PD0026"}


def test_a_batch_gives_the_rows_of_the_stream(spark: SparkSession, project: Path) -> None:
    text = STREAM.replace("trigger: available_now\ncheckpoint: out/checkpoint\n", "")
    (project / "pipeline.yaml").write_text(text)
    for runs in (1, 2):  # running it again changes nothing in the table, and adds files of its own
        outcome = run(load(project / "pipeline.yaml"), spark)
        assert (outcome.documents, outcome.results, outcome.quarantined) == (12, 10, 2)
        assert in_table(project / "out/rows.db") == expected(project)
        files = spark.read.parquet(str(project / "out/results"))
        assert [row["count"] for row in files.groupBy("run").count().collect()] == [10] * runs


class Failing(Sink):
    """Fails once, after the sinks before it were written."""

    def __init__(self) -> None:
        self.failures = 0
        self.batches: list[int] = []

    def write_batch(self, rows: DataFrame, batch: int, run: str = "default") -> None:
        self.batches.append(batch)
        if batch == 1 and not self.failures:
            self.failures += 1
            raise SinkError("PO0001", "not now")


def test_a_batch_that_failed_half_way_is_written_again_without_doubles(
    spark: SparkSession, project: Path
) -> None:
    failing = Failing()
    wrapped = with_sink(load(project / "pipeline.yaml"), failing)
    with pytest.raises(SinkError, match="not now"):
        run(wrapped, spark)
    # The batch that failed keeps the version it was begun with.
    before = expected(project)
    penstock.Registry.open(project / "subscriptions").remove("cheap")
    run(wrapped, spark)
    assert failing.batches == [0, 1, 1, 2]
    found = in_table(project / "out/rows.db")
    in_two_batches = [row for row in before if row[1] < "010.xml"]
    assert [row for row in found if row[1] < "010.xml"] == in_two_batches
    assert [row[0] for row in found if row[1] >= "010.xml"] == [""]
    assert spark.read.parquet(str(project / "out/results")).count() == 10


class Deadly(Sink):
    """Kills the worker that computes a batch, so many times."""

    def __init__(self, batch: int, times: int) -> None:
        self._batch = batch
        self._left = times
        self.batches: list[int] = []

    def write_batch(self, rows: DataFrame, batch: int, run: str = "default") -> None:
        self.batches.append(batch)
        if batch == self._batch and self._left:
            self._left -= 1

            # Inside, so that it travels by value.
            def die(batches: Any) -> Any:
                os.kill(os.getpid(), signal.SIGKILL)
                yield from batches

            rows.mapInArrow(die, rows.schema).collect()


def with_sink(pipeline: Pipeline, sink: Sink) -> Pipeline:
    return replace(pipeline, sinks=(*pipeline.sinks, SinkSetting("another", sink, "all")))


def test_a_stream_goes_on_when_a_worker_dies(spark: SparkSession, project: Path) -> None:
    deadly = Deadly(batch=1, times=1)
    outcome = run(with_sink(load(project / "pipeline.yaml"), deadly), spark)
    assert deadly.batches == [0, 1, 1, 2]
    assert (outcome.documents, outcome.results, outcome.quarantined) == (12, 10, 2)
    assert in_table(project / "out/rows.db") == expected(project)


def test_a_stream_that_makes_no_progress_is_given_up(spark: SparkSession, project: Path) -> None:
    from pyspark.errors import PySparkException

    deadly = Deadly(batch=1, times=100)
    with pytest.raises(PySparkException):
        run(with_sink(load(project / "pipeline.yaml"), deadly), spark)
    assert deadly.batches == [0, 1, 1]


class Gate(Sink):
    """Lets two batches pass; later ones wait until an event is set."""

    def __init__(self, opened: threading.Event) -> None:
        self._opened = opened

    def write_batch(self, rows: DataFrame, batch: int, run: str = "default") -> None:
        if batch >= 2:
            assert self._opened.wait(SECONDS_MAX)


def test_a_stream_stops_between_batches(spark: SparkSession, project: Path) -> None:
    pipeline = load(project / "pipeline.yaml")
    stopping = threading.Event()
    endless = Pipeline(
        "endless",
        (FileSource("books", str(project / "inbox"), options={"maxFilesPerTrigger": "1"}),),
        pipeline.registry,
        (*pipeline.sinks, SinkSetting("gate", Gate(stopping), "all")),
        Trigger("processing_time", "100 milliseconds"),
        pipeline.checkpoint,
    )

    def watch(outcome: Outcome) -> None:
        if outcome.batches == 2:
            stopping.set()

    outcome = run(endless, spark, watch, stopping)
    assert outcome.is_stopped
    # The batch that waited at the gate is finished, and no other begun.
    assert outcome.batches in (2, 3)
    assert len(in_table(project / "out/rows.db")) == outcome.batches
    run(pipeline, spark)
    assert in_table(project / "out/rows.db") == expected(project)


def test_records_carry_values_from_around_them(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "shelf.xml").write_text(
        '<s:shelf xmlns:s="urn:s" id="top"><s:book>1</s:book><s:book>2</s:book></s:shelf>'
    )
    (tmp_path / "pipeline.yaml").write_text("""\
sources:
  - kind: files
    path: shelf.xml
    record: //b:book
    namespaces: {b: urn:s}
    ancestors: {shelf: /b:shelf/@id}
registry:
  subscriptions:
    - {name: book, query: "/s:book/text()", namespaces: {s: urn:s}}
sinks:
  - {kind: parquet, path: out}
""")
    run(load(tmp_path / "pipeline.yaml"), spark)
    rows = spark.read.parquet(str(tmp_path / "out")).orderBy("document").collect()
    assert [(row["value"], row["ancestors"]) for row in rows] == [
        ("1", {"shelf": "top"}),
        ("2", {"shelf": "top"}),
    ]


def test_items_of_feeds_come_once_over_restarts(spark: SparkSession, tmp_path: Path) -> None:
    with FeedServer().running() as server:
        server.pages |= {"/rss": rss("1", "2"), "/atom": atom("a"), "/gone": 404}
        urls = json.dumps([server.url(path) for path in ("/rss", "/gone", "/atom")])
        (tmp_path / "pipeline.yaml").write_text(f"""\
sources:
  - {{kind: feeds, stream: news, urls: {urls}}}
registry:
  subscriptions:
    - {{name: items, query: /*, mode: filter}}
sinks:
  - {{kind: sqlite, path: rows.db, rows: all}}
trigger: available_now
checkpoint: checkpoint
""")
        outcomes = [run(load(tmp_path / "pipeline.yaml"), spark)]
        server.pages["/rss"] = rss("2", "3")
        outcomes += [run(load(tmp_path / "pipeline.yaml"), spark) for _ in range(2)]
    assert [(one.documents, one.results, one.quarantined) for one in outcomes] == [
        (4, 3, 1),
        (1, 1, 0),
        (0, 0, 0),
    ]
    found = in_table(tmp_path / "rows.db")
    assert [row[1].partition("#")[2] for row in found] == ["", "a", "1", "2", "3"]
    assert [row[-1] for row in found] == ["PS0009", None, None, None, None]


def rows_of(spark: SparkSession, project: Path) -> DataFrame:
    documents = [("d1", "<a><b/><b/></a>"), ("d'2", "<a>")]
    frame = spark.createDataFrame(documents, "id string, xml string")
    registry = penstock.Registry()
    registry.add('the "b"', "//b")
    return match(frame, registry)


def test_messages_have_the_id_as_key_and_the_row_as_value(
    spark: SparkSession, project: Path
) -> None:
    sent = messages(rows_of(spark, project), "rows").collect()
    assert {one["topic"] for one in sent} == {"rows"}
    keys = sorted(json.loads(one["key"]) for one in sent if '"b' in one["key"])
    assert keys == [['the "b"', "d1", 0], ['the "b"', "d1", 1]]
    (failed,) = [one for one in sent if "d'2" in one["key"]]
    assert json.loads(failed["key"]) == [None, "d'2", 0]
    assert json.loads(failed["value"])["error"]["code"] == "PD0026"


def test_each_subscription_may_have_a_topic_and_a_folder_of_its_own(
    spark: SparkSession, project: Path
) -> None:
    rows = rows_of(spark, project)
    sent = messages(rows, "to-{subscription}-now").collect()
    topics = {json.loads(one["key"])[0]: one["topic"] for one in sent}
    assert topics['the "b"'] == "to-the__b_-now"
    assert topics[None] == "to--now"
    FilesSink(project / "apart", "json", by_subscription=True).write_batch(rows, 0)
    folders = sorted(path.name for path in (project / "apart/run=default/batch=0").iterdir())
    assert len([name for name in folders if name.startswith("subscription=")]) == len(topics)
    again = spark.read.json(str(project / "apart"))
    assert again.where("ordinal >= 0").count() == rows.where("ordinal >= 0").count()


def test_a_table_behind_jdbc_gets_each_row_once(spark: SparkSession, project: Path) -> None:
    url = f"jdbc:derby:{project / 'derby'};create=true"
    sink = JdbcSink(url, options={"driver": "org.apache.derby.jdbc.EmbeddedDriver"})
    rows = rows_of(spark, project)
    sink.write_batch(rows.where("ordinal = 0 AND kind <> 'error'"), 4, "r")
    sink.write_batch(rows, 4, "r")  # what an interrupted attempt left is completed
    sink.write_batch(rows, 4, "r")
    reader = spark.read.format("jdbc").options(url=url, dbtable="results", **sink.options)
    found = reader.load().select("subscription", "document", "ordinal", "error_code").collect()
    assert sorted(map(tuple, found), key=str) == [
        ('the "b"', "d1", 0, None),
        ('the "b"', "d1", 1, None),
        (None, "d'2", 0, "PD0026"),
    ]


@pytest.mark.parametrize(
    ("mode", "left"), [("upsert", 3), ("append", 4), ("overwrite", 2), ("fail", 4)]
)
def test_a_table_behind_jdbc_has_modes(
    spark: SparkSession, project: Path, mode: WriteMode, left: int
) -> None:
    url = f"jdbc:derby:{project / 'derby'};create=true"
    driver = {"driver": "org.apache.derby.jdbc.EmbeddedDriver"}
    sink = JdbcSink(url, options=driver, write_mode=mode)
    rows = rows_of(spark, project)
    sink.begin(spark, None)
    sink.write_batch(rows.where("document = 'd1'"), 0, "one")
    sink.begin(spark, "one")
    for _ in range(2):
        sink.write_batch(rows.where("ordinal = 0"), 0, "it's two")
    reader = spark.read.format("jdbc").options(url=url, **driver)
    found = reader.option("dbtable", "results").load()
    assert found.count() == left
    assert found.where("run <> 'one'").count() == 2
    assert reader.option("dbtable", "results_staging").load().isEmpty()
    if mode == "fail":
        with pytest.raises(SinkError, match="holds rows of another run"):
            sink.begin(spark, "one")


def test_a_signal_ends_the_command_after_the_batch_under_way(project: Path) -> None:
    endless = STREAM.replace("available_now", "{processing_time: 100 milliseconds}")
    (project / "pipeline.yaml").write_text(endless)
    command = [sys.executable, "-m", "penstock", "run", str(project / "pipeline.yaml")]
    environment = os.environ | {"PYTHONPATH": str(Path(penstock.__file__).parents[1])}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as running:
        deadline = time.monotonic() + SECONDS_MAX
        while time.monotonic() < deadline and running.poll() is None:
            if (project / "out/rows.db").exists() and len(in_table_or_none(project)) == 12:
                break
            time.sleep(0.2)
        running.send_signal(signal.SIGTERM)
        try:
            _, error = running.communicate(timeout=SECONDS_MAX)
        finally:
            running.kill()
    assert running.returncode == 3, error  # there is quarantine
    assert "stopped: 12 documents" in error
    assert "Traceback" not in error
    assert in_table(project / "out/rows.db") == expected(project)


def in_table_or_none(project: Path) -> list[tuple[Any, ...]]:
    try:
        return in_table(project / "out/rows.db")
    except sqlite3.OperationalError:
        return []
