"""A pipeline's file is read with its places: what is wrong is told by line and column."""

import pickle
from pathlib import Path

import pytest

import penstock
from penstock.cli import main
from penstock.sinks import ConsoleSink, FilesSink, JdbcSink, KafkaSink, SqliteSink
from penstock.spark.pipelines import ConfigurationError, load
from penstock.spark.pipelines.configuration import Trigger
from penstock.spark.pipelines.settings import FeedSource, FileSource, KafkaSource, SparkSource

Capture = pytest.CaptureFixture[str]

SMALL = """\
sources:
  - kind: files
    path: .
registry:
  subscriptions:
    - {name: a, query: //a}
sinks:
  - kind: console
"""

FULL = """\
name: books
sources:
  - kind: files
    path: "*.xml"
    stream: shelf
    record: //b:book
    namespaces: {b: urn:books}
    ancestors: {shelf: /b:shelf/@id}
  - kind: kafka
    servers: [one:9092, two:9092]
    topics: orders
    options: {startingOffsets: earliest}
  - {kind: spark, format: parquet, path: old, document: xml, id: key, time: at}
registry: subscriptions
sinks:
  - {kind: parquet, path: out/results}
  - {kind: json, path: s3a://bucket/quarantine, rows: quarantine}
  - {kind: sqlite, path: out/books.db, table: found, rows: all}
  - {kind: jdbc, url: "jdbc:postgresql://u:secret@host/db?password=secret"}
  - {kind: kafka, servers: "one:9092", topic: found}
  - {kind: console, name: shown}
checkpoint: out/checkpoint
limits: {depth_max: 64, text_bytes_max: 1_000_000}
trigger: {processing_time: 10 seconds}
spark:
  master: local[2]
  settings: {spark.sql.shuffle.partitions: 2}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "pipeline.yaml"
    path.write_text(text, "utf-8")
    return path


def test_a_small_file_has_defaults(tmp_path: Path) -> None:
    pipeline = load(written(tmp_path, SMALL))
    assert pipeline.name == "pipeline"
    assert pipeline.trigger == Trigger("batch")
    assert pipeline.sources == (FileSource("default", str(tmp_path)),)
    assert [one.name for one in pipeline.registry] == ["a"]
    (sink,) = pipeline.sinks
    assert isinstance(sink.sink, ConsoleSink)
    assert (sink.name, sink.rows) == ("console results", "results")
    assert pipeline.limits == penstock.Limits()


def test_a_subscription_has_the_options_of_its_language(tmp_path: Path) -> None:
    options = "query: b, select: {id: ../@id}, context: //a, variables: {n: 2}"
    pipeline = load(written(tmp_path, SMALL.replace("query: //a", options)))
    (subscription,) = pipeline.registry
    expected = penstock.xpath("b", select={"id": "../@id"}, context="//a")
    assert subscription.query == expected


def test_a_full_file_is_read_whole(tmp_path: Path) -> None:
    penstock.Registry.open(tmp_path / "subscriptions").add("a", "//a")
    pipeline = load(written(tmp_path, FULL))
    books, orders, old = pipeline.sources
    assert books == FileSource(
        "shelf",
        str(tmp_path / "*.xml"),
        "//b:book",
        {"b": "urn:books"},
        {"shelf": "/b:shelf/@id"},
    )
    assert orders == KafkaSource(
        "default", "one:9092,two:9092", ("orders",), {"startingOffsets": "earliest"}
    )
    assert isinstance(old, SparkSource)
    assert (old.path, old.time) == (str(tmp_path / "old"), "at")
    kinds = [type(one.sink) for one in pipeline.sinks]
    assert kinds == [FilesSink, FilesSink, SqliteSink, JdbcSink, KafkaSink, ConsoleSink]
    assert pipeline.sinks[1].sink.path == "s3a://bucket/quarantine"  # type: ignore[attr-defined]
    assert pipeline.trigger == Trigger("processing_time", "10 seconds")
    assert (pipeline.limits.depth_max, pipeline.limits.text_bytes_max) == (64, 1_000_000)
    assert (pipeline.master, pipeline.settings) == (
        "local[2]",
        {"spark.sql.shuffle.partitions": "2"},
    )


@pytest.mark.parametrize(
    ("before", "after", "code", "place", "found"),
    [
        ("registry:", "registery:", "PC0002", (4, 1), "did you mean `registry`?"),
        ("kind: console", "kind: consol", "PC0005", (8, 11), "did you mean `console`?"),
        ("  - kind: console", "  - rows: all", "PC0003", (8, 5), "`kind` is missing"),
        ("sinks:\n  - kind: console\n", "", "PC0003", (1, 1), "`sinks` is missing"),
        ("    path: .\n", "", "PC0003", (2, 5), "`path` is missing"),
        ("    path: .", "    path: nowhere", "PC0008", (3, 11), "no file or folder"),
        ("    path: .", "    path: [.]", "PC0004", (3, 11), "text is needed here, not a list"),
        ("    path: .", "    path: .\n    path: .", "PC0006", (4, 5), "given twice"),
        ("query: //a", "query: '//a['", "PC0005", (6, 24), "PQ0104"),
        ("query: //a", "query: //a, mode: all", "PC0005", (6, 35), "query, filter"),
        ("sinks:", "trigger: available_now\nsinks:", "PC0007", (7, 10), "needs a checkpoint"),
        ("sinks:", "checkpoint: c\nsinks:", "PC0007", (7, 13), "a batch has no checkpoint"),
        ("sinks:", "trigger: now\nsinks:", "PC0005", (7, 10), "batch, available_now, once"),
        ("sinks:", "limits: {depth_max: 0}\nsinks:", "PC0005", (7, 21), "above zero"),
        ("sinks:", "limits: {depth: 1}\nsinks:", "PC0002", (7, 10), "depth_max"),
        ("sinks:", "limits: {depth_max: many}\nsinks:", "PC0004", (7, 21), "whole number"),
        ("  - kind: console", "  - kind: console\n  - kind: console", "PC0005", (9, 5), "called"),
        ("  - kind: console", "  []", "PC0005", (8, 3), "empty"),
        ("    path: .", "    path: .\n    ancestors: {a: b}", "PC0007", (4, 16), "no `record`"),
        ("    path: .", "    path: .\n    record: a[", "PC0005", (4, 13), "PQ0104"),
        ("    path: .", "    path: .\n    record: //@a", "PC0005", (4, 13), "PQ0119"),
        ("    path: .", "    path: .\n    options: {mode: x}", "PC0005", (4, 14), "PERMISSIVE"),
        ("kind: files\n    path: .", "{kind: feeds, urls: [a]}", "PC0005", (2, 25), "http"),
        ("sources:", "sources: [", "PC0001", (2, 3), "no YAML"),
        ("sources:", "sources: !!python/list", "PC0004", (1, 10), "a list is needed here"),
        ("path: .", "path: !!python/name:os.system x", "PC0004", (3, 11), "text is needed"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    tmp_path: Path, before: str, after: str, code: str, place: tuple[int, int], found: str
) -> None:
    assert before in SMALL
    path = written(tmp_path, SMALL.replace(before, after, 1))
    with pytest.raises(ConfigurationError) as caught:
        load(path)
    error = caught.value
    assert (error.code, error.line, error.column) == (code, *place), str(error)
    assert found in str(error)
    assert f"{path}:{place[0]}:{place[1]}" in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize("text", ["", "- a\n", "just text", "sources: \x00"])
def test_what_is_no_pipeline_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigurationError):
        load(written(tmp_path, text))


def test_feeds_of_a_stream_remember_beside_the_checkpoint(tmp_path: Path) -> None:
    feeds = "  - {kind: feeds, urls: [https://example.org/feed]}\n"
    text = SMALL.replace("  - kind: files\n    path: .\n", feeds)
    (source,) = load(written(tmp_path, text)).sources
    assert source == FeedSource("default", ("https://example.org/feed",))
    text += "trigger: once\ncheckpoint: out\n"
    (source,) = load(written(tmp_path, text)).sources
    assert isinstance(source, FeedSource)
    assert source.state is not None
    assert source.state.startswith(str(tmp_path / "out-feeds-"))


def test_a_registry_must_be_there(tmp_path: Path) -> None:
    text = SMALL.replace("  subscriptions:\n    - {name: a, query: //a}\n", "  path: nowhere\n")
    with pytest.raises(ConfigurationError, match="no registry in") as caught:
        load(written(tmp_path, text))
    assert caught.value.code == "PC0008"
    assert not (tmp_path / "nowhere").exists()


def test_the_command_checks_without_spark(tmp_path: Path, capsys: Capture) -> None:
    penstock.Registry.open(tmp_path / "subscriptions").add("a", "//a")
    assert main(["run", str(written(tmp_path, FULL)), "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("pipeline books on local[2], every 10 seconds\n")
    assert "asks 1 subscription, version 1" in out
    assert "the table results at jdbc:postgresql://host/db" in out
    assert "secret" not in out


def test_a_wrong_file_is_bad_usage(tmp_path: Path, capsys: Capture) -> None:
    path = written(tmp_path, SMALL.replace("sinks:", "sink:"))
    assert main(["run", str(path)]) == 2
    error = capsys.readouterr().err
    assert "PC0002: there is no key `sink` here" in error
    assert "  7 | sink:\n    | ^^^^\n" in error
    assert main(["run", str(tmp_path / "none.yaml")]) == 4
