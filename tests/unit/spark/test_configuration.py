"""A pipeline's file is read with its places: what is wrong is told by line and column."""

import pickle
from pathlib import Path
from random import Random

import pytest

import penstock
from penstock.cli import main
from penstock.sinks import ConsoleSink, FilesSink, JdbcSink, KafkaSink, SqliteSink
from penstock.spark.pipelines import ConfigurationError, load
from penstock.spark.pipelines.settings import (
    FeedSource,
    FileSource,
    KafkaSource,
    SparkSource,
    Trigger,
)

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


def test_a_subscription_may_be_in_xquery(tmp_path: Path) -> None:
    text = "<r>{//a[b < $n]}</r>"
    options = f"query: '{text}', language: xquery, variables: {{n: 2}}, empty: send"
    pipeline = load(written(tmp_path, SMALL.replace("query: //a", options)))
    (subscription,) = pipeline.registry
    assert subscription.query == penstock.xquery(text, variables={"n": 2}, empty="send")


def test_a_query_over_streams_may_have_a_window(tmp_path: Path) -> None:
    text = "for $a in stream(s)//a, $b in stream(t)//b where $a/@n = $b/@n return $b"
    text = text.replace("(s)", "('s')").replace("(t)", "('t')")
    options = f'query: "{text}", language: xquery, within: 2 h'
    pipeline = load(written(tmp_path, SMALL.replace("query: //a", options)))
    (subscription,) = pipeline.registry
    assert subscription.query == penstock.xquery(text, within="2 h")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("query: //a, language: xquery, context: //a", ("PC0007", "has no `context`")),
        ("query: //a, untyped: 'false'", ("PC0007", "has no `untyped`")),
        ("query: //a, language: xslt", ("PC0005", "`xslt`")),
        ("query: $x, language: xquery", ("PQ0115", "`$x` has no value")),
    ],
)
def test_a_subscription_in_the_wrong_language_is_refused(
    tmp_path: Path, options: str, expected: tuple[str, str]
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load(written(tmp_path, SMALL.replace("query: //a", options)))
    told = str(caught.value)
    assert all(part in told for part in expected), told


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
        ("sinks:", "limits: {seconds_max: 2}\nsinks:", "PC0005", (7, 23), "same rows"),
        ("  - kind: console", "  - kind: console\n  - kind: console", "PC0005", (9, 5), "called"),
        ("  - kind: console", "  []", "PC0005", (8, 3), "empty"),
        ("    path: .", "    path: .\n    ancestors: {a: b}", "PC0007", (4, 16), "no `record`"),
        ("    path: .", "    path: .\n    record: a[", "PC0005", (4, 13), "PQ0104"),
        ("    path: .", "    path: .\n    record: //@a", "PC0005", (4, 13), "PQ0119"),
        ("    path: .", "    path: .\n    options: {mode: x}", "PC0005", (4, 21), "PERMISSIVE"),
        ("kind: files\n    path: .", "{kind: feeds, urls: [a]}", "PC0005", (2, 25), "http"),
        ("sources:", "sources: [", "PC0001", (2, 3), "no YAML"),
        ("sources:", "sources: !!python/list", "PC0004", (1, 10), "a list is needed here"),
        ("path: .", "path: !!python/name:os.system x", "PC0004", (3, 11), "text is needed"),
        (
            "path: .",
            "path: .\n    options: {maxFilePerTrigger: 1}",
            "PC0005",
            (4, 34),
            "`maxFilesP",
        ),
        ("path: .", "path: .\n    options: {zzz: 1}", "PC0005", (4, 20), "there are path,"),
        (
            "kind: files\n    path: .",
            "{kind: feeds, urls: [http://a/b], options: {pollSecond: 1}}",
            *("PC0005", (2, 61), "did you mean `pollSeconds`?"),
        ),
        (
            "kind: files\n    path: .",
            "{kind: kafka, servers: a, topics: b, options: {startingOffset: earliest}}",
            *("PC0005", (2, 68), "did you mean `startingOffsets`?"),
        ),
        ("sinks:", "spark: {master: locl}\nsinks:", "PC0005", (7, 17), "local[2]"),
        ("sinks:", "spark: {master: 'local[0]'}\nsinks:", "PC0005", (7, 17), "no master"),
        ("sinks:", "spark: {master: 'spark://host'}\nsinks:", "PC0005", (7, 17), "no master"),
        (
            "kind: console",
            "{kind: jdbc, url: postgresql://h/d}",
            "PC0005",
            (8, 23),
            "jdbc:postgres",
        ),
        (
            "kind: console",
            "{kind: jdbc, url: jdbc:postgres://h/d}",
            "PC0005",
            (8, 23),
            "`postgresql`?",
        ),
        ("kind: console", "{kind: jdbc, url: 'jdbc:h2'}", "PC0005", (8, 23), "no address"),
        ("kind: console", "{kind: parquet, path: o, write: upsert}", "PC0005", (8, 37), "append,"),
        ("kind: console", "{kind: console, write: overwrite}", "PC0005", (8, 28), "append"),
        (
            "kind: console",
            "{kind: sqlite, path: o, write: uppsert}",
            "PC0005",
            (8, 36),
            "`upsert`?",
        ),
        ("kind: console", "{kind: delta}", "PC0007", (8, 5), "give one of the two"),
        ("kind: console", "{kind: delta, path: a, table: b}", "PC0007", (8, 5), "one of the two"),
        ("kind: console", "{kind: delta, table: a b}", "PC0005", (8, 26), "no name of a table"),
        ("kind: console", "{kind: iceberg, table: a.}", "PC0005", (8, 28), "no name of a table"),
        (
            "kind: console",
            "{kind: delta, path: a, partition_by: subscripton}",
            *("PC0005", (8, 42), "did you mean `subscription`?"),
        ),
        (
            "kind: console",
            "{kind: table, table: a, partition_by: [kind, run]}",
            *("PC0005", (8, 43), "`run` is no column"),
        ),
        ("kind: console", "{kind: table}", "PC0003", (8, 5), "`table` is missing"),
        ("kind: console", "{kind: table, table: a, format: csv}", "PC0005", (8, 37), "parquet"),
        ("kind: console", "{kind: sqlite, path: 's3a://b/x'}", "PC0005", (8, 26), "on a disk"),
        ("kind: files\n    path: .", "{kind: table, table: a}", "PC0003", (2, 5), "`document` is"),
        (
            "registry:\n  subscriptions:\n    - {name: a, query: //a}",
            "registry: s3a://bucket/subscriptions",
            *("PC0005", (4, 11), "needs a disk"),
        ),
        (
            "kind: files\n    path: .",
            "{kind: feeds, urls: [http://a/b], state: hdfs://h/x}",
            *("PC0005", (2, 46), "on a disk"),
        ),
        (
            "kind: files\n    path: .",
            "{kind: feeds, urls: [http://a/b]}\ntrigger: once\ncheckpoint: s3a://b/c",
            *("PC0007", (4, 13), "give the source of feeds a key: state"),
        ),
        (
            "registry:\n  subscriptions:\n    - {name: a, query: //a}",
            "registry:\n  - {name: a, query: //a}",
            *("PC0004", (5, 3), "registry: {subscriptions: ["),
        ),
        (
            "sinks:",
            "checkpoint: out/c\ntrigger: once\nsinks:\n  - {kind: json, path: out}",
            *("PC0007", (7, 13), "lie in each other"),
        ),
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


@pytest.mark.parametrize(
    ("one", "other", "is_shared"),
    [
        ("kind: parquet, path: out", "kind: parquet, path: ./out/", True),
        ("kind: parquet, path: out", "kind: json, path: out/below", True),
        ("kind: parquet, path: out/a", "kind: json, path: out/ab", False),
        ("kind: parquet, path: s3a://b/out", "kind: json, path: s3a://b/out/", True),
        ("kind: sqlite, path: a.db", "kind: sqlite, path: ./a.db, table: Results", True),
        ("kind: sqlite, path: a.db", "kind: sqlite, path: a.db, table: other", False),
        ("kind: sqlite, path: a.db", "kind: sqlite, path: link.db", True),
        ("kind: sqlite, path: out/a.db", "kind: parquet, path: out", True),
        ('kind: jdbc, url: "jdbc:h2:a"', 'kind: jdbc, url: "jdbc:h2:a"', True),
        ("kind: kafka, servers: a, topic: t", "kind: kafka, servers: a, topic: t", False),
        ("kind: delta, path: out", "kind: delta, path: ./out", True),
        ("kind: delta, path: out/below", "kind: parquet, path: out", True),
        ("kind: delta, path: out", "kind: iceberg, path: other", False),
        ("kind: delta, table: a.b", "kind: table, table: A.B", True),
        ("kind: table, table: a", "kind: table, table: b", False),
    ],
)
def test_two_sinks_have_two_places(tmp_path: Path, one: str, other: str, is_shared: bool) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "a.db")
    sinks = f"{{{one}, name: one}}\n  - {{{other}, rows: all, name: other}}"
    path = written(tmp_path, SMALL.replace("kind: console", sinks))
    if not is_shared:
        assert len(load(path).sinks) == 2
        return
    with pytest.raises(ConfigurationError, match="the sinks `one` and `other` both") as caught:
        load(path)
    assert (caught.value.code, caught.value.line) == ("PC0007", 9)


def test_sinks_have_modes(tmp_path: Path) -> None:
    sinks = "{kind: sqlite, path: a.db}\n  - {kind: parquet, path: out, write: overwrite}"
    table, files = load(written(tmp_path, SMALL.replace("kind: console", sinks))).sinks
    assert isinstance(table.sink, SqliteSink)
    assert isinstance(files.sink, FilesSink)
    assert (table.sink.write_mode, files.sink.write_mode) == ("upsert", "overwrite")


MISTAKES = (
    ("name: books", "nam: books"),
    ('path: "*.xml"', "pat: '*.xml'"),
    ("stream: shelf", "stream: {a: b}"),
    ("record: //b:book", "record: //b:book["),
    ("ancestors: {shelf: /b:shelf/@id}", "options: {mode: x, nothing: 1}"),
    ("topics: orders", "topics: [[], a, {}]"),
    ("startingOffsets: earliest", "startingOfsets: earliest"),
    ("format: parquet, path: old", "format: parquet, pth: old"),
    ("registry: subscriptions", "registry: {}"),
    ("kind: parquet, path: out/results}", "kind: parquet, path: out/results, write: x, row: 1}"),
    ("rows: quarantine", "rows: bad"),
    ("table: found", "table: a-b"),
    ("jdbc:postgresql:", "postgresql:"),
    ("topic: found", "topc: found"),
    ("kind: console", "kind: consle"),
    ("depth_max: 64, text", "depth_max: 0, depth: 1, text"),
    ("10 seconds", "10 secs"),
    ("master: local[2]", "master: lcal"),
)
"""Changes of the full file, each with mistakes of its own, none of which moves a line."""


def mistakes_of(folder: Path, text: str) -> list[tuple[int, int, str, str]]:
    try:
        load(written(folder, text))
    except ConfigurationError as error:
        every = (error, *error.others)
        return [(one.line, one.column, one.code, one.message) for one in every]
    return []


@pytest.mark.parametrize("seed", range(40))
def test_all_mistakes_are_reported_in_the_order_of_their_places(tmp_path: Path, seed: int) -> None:
    penstock.Registry.open(tmp_path / "subscriptions").add("a", "//a")
    chosen = Random(seed).sample(MISTAKES, seed % len(MISTAKES) + 1)
    alone: set[tuple[int, int, str, str]] = set()
    text = FULL
    for before, after in chosen:
        assert FULL.count(before) == 1
        single = mistakes_of(tmp_path, FULL.replace(before, after))
        assert single, after
        # Columns of what stands behind a change in its line move; nothing else does.
        alone |= {(line, 0, code, message) for line, _, code, message in single}
        text = text.replace(before, after)
    together = mistakes_of(tmp_path, text)
    assert together == sorted(together)
    assert {(line, 0, code, message) for line, _, code, message in together} == alone


def test_a_sink_without_a_place_shares_none(tmp_path: Path) -> None:
    sinks = "{kind: parquet, rows: bad}\n  - {kind: json}\n  - {kind: sqlite, path: a.db}"
    found = mistakes_of(tmp_path, SMALL.replace("kind: console", sinks))
    assert [(line, code) for line, _, code, _ in found] == [
        (8, "PC0003"),
        (8, "PC0005"),
        (9, "PC0003"),
    ]


def test_the_command_shows_all_mistakes(tmp_path: Path, capsys: Capture) -> None:
    text = SMALL.replace("kind: console", "kind: consle").replace("query: //a", "query: '//a['")
    assert main(["run", str(written(tmp_path, text)), "--dry-run"]) == 2
    shown = capsys.readouterr().err
    assert shown.index(":6:24\n") < shown.index(":8:11\n")
    assert shown.count("PC0005") == 2


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_file_may_be_in_utf_16(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "pipeline.yaml"
    path.write_text(SMALL.replace("name: a,", "name: é,"), encoding)
    assert [one.name for one in load(path).registry] == ["é"]


@pytest.mark.parametrize(
    "data", [b"sources: \xe9", "name: é".encode("utf-16")[:-1], b"\xff\xfe\x00\xd8"]
)
def test_a_file_in_another_encoding_is_refused(
    tmp_path: Path, capsys: Capture, data: bytes
) -> None:
    path = tmp_path / "pipeline.yaml"
    path.write_bytes(data)
    assert main(["run", str(path), "--dry-run"]) == 2
    assert "PC0001: this is no text in UTF-8" in capsys.readouterr().err


def test_subscriptions_that_join_documents_are_read_from_files_and_folders(tmp_path: Path) -> None:
    query = "S//x->a[k->p] FOLLOWED BY{p = q, 10} S//y->b[k->q]"
    penstock.Registry.open(tmp_path / "subscriptions").add("pair", penstock.xscl(query))
    in_file = f"- {{name: pair, language: xscl, query: '{query}'}}"
    more = "trigger: once\ncheckpoint: c\nlateness: 1.5 minutes\nstate: joins\n"
    for registry in ("  path: subscriptions\n", f"  subscriptions:\n    {in_file}\n"):
        text = SMALL.replace("  subscriptions:\n    - {name: a, query: //a}\n", registry)
        pipeline = load(written(tmp_path, text + more))
        assert pipeline.registry["pair"].query.language == "xscl"
        assert (pipeline.lateness, pipeline.state) == (90.0, str(tmp_path / "joins"))


def test_a_query_over_several_streams_is_a_subscription_like_others(tmp_path: Path) -> None:
    text = 'for $a in stream("a")//a, $b in stream("b")//b where $a/k = $b/k return <c/>'
    query = f"- {{name: c, language: xquery, query: '{text}'}}"
    pipeline = load(written(tmp_path, SMALL.replace("- {name: a, query: //a}", query)))
    assert pipeline.registry["c"].query.language == "xquery"


@pytest.mark.parametrize(
    ("lateness", "is_given"),
    [("0", True), ("2 days", True), ("soon", False), ("-1", False), ("9999999999 days", False)],
)
def test_lateness_is_a_duration(tmp_path: Path, lateness: str, is_given: bool) -> None:
    file = written(tmp_path, f"{SMALL}trigger: once\ncheckpoint: c\nlateness: {lateness}\n")
    if is_given:
        assert load(file).lateness is not None
    else:
        with pytest.raises(ConfigurationError, match="is no duration"):
            load(file)


def test_subscriptions_in_another_place_have_a_hint(tmp_path: Path) -> None:
    text = SMALL.replace("registry:\n  subscriptions:", "subscriptions:")
    found = mistakes_of(tmp_path, text)
    assert [code for _, _, code, _ in found] == ["PC0003", "PC0002"]
    with pytest.raises(ConfigurationError, match="subscriptions stand below `registry`"):
        load(written(tmp_path, text))


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
