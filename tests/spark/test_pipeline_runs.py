"""Repeated runs: what each adds, replaces or refuses, with counts that are right for any sinks."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import penstock
from penstock.cli import run as command
from penstock.errors import SinkError
from penstock.sinks import Sink
from penstock.spark import join_stream
from penstock.spark.pipelines import Outcome, load, run
from penstock.spark.pipelines.running import STARTS_MAX
from penstock.spark.pipelines.runs import new_run
from penstock.spark.pipelines.settings import SinkSetting

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

SINKS = {
    "parquet": "{kind: parquet, path: out/parquet, rows: all}",
    "json": "{kind: json, path: out/json, rows: quarantine}",
    "sqlite": "{kind: sqlite, path: out/rows.db, rows: all}",
    "console": "{kind: console, rows: quarantine}",
}

Key = tuple[str, str, int]


def project(folder: Path, sinks: list[str], more: str = "") -> Path:
    """Make a pipeline over an inbox, and return its file."""
    listed = "".join(f"  - {sink}\n" for sink in sinks)
    (folder / "inbox").mkdir()
    (folder / "pipeline.yaml").write_text(f"""\
sources:
  - {{kind: files, path: inbox}}
registry:
  subscriptions:
    - {{name: items, query: //item}}
    - {{name: big, query: /order, mode: filter}}
sinks:
{listed}{more}""")
    return folder / "pipeline.yaml"


def put(folder: Path, name: str, items: int, is_broken: bool = False) -> None:
    end = "" if is_broken else "</order>"
    text = "<order>" + "".join(f"<item>{n}</item>" for n in range(items)) + end
    (folder / "inbox" / name).write_text(text)


def expected(folder: Path) -> list[Key]:
    """Return what the engine finds in the inbox as it is now."""
    registry = load(folder / "pipeline.yaml").registry
    documents = (penstock.Document(path) for path in sorted((folder / "inbox").iterdir()))
    rows = penstock.Engine(registry).run(documents)
    return sorted((row.subscription or "", Path(row.document).name, row.ordinal) for row in rows)


def in_table(folder: Path, table: str = "results") -> list[Key]:
    with closing(sqlite3.connect(folder / "out/rows.db")) as database:
        chosen = f"SELECT subscription, document, ordinal FROM {table}"
        rows = database.execute(chosen).fetchall()
    return sorted((row[0] or "", Path(row[1]).name, row[2]) for row in rows)


def in_parquet(spark: SparkSession, folder: Path) -> dict[str, list[Key]]:
    """Return the rows of each run."""
    runs: dict[str, list[Key]] = {}
    for row in spark.read.parquet(str(folder / "out/parquet")).collect():
        key = (row["subscription"] or "", Path(row["document"]).name, row["ordinal"])
        runs.setdefault(str(row["run"]), []).append(key)
    return {name: sorted(keys) for name, keys in sorted(runs.items())}


def in_json(folder: Path) -> int:
    return sum(
        len(path.read_text().splitlines()) for path in folder.rglob("out/json/run=*/**/*.json")
    )


def counts(outcome: Outcome) -> tuple[int, int, int, int]:
    return outcome.documents, outcome.bytes, outcome.results, outcome.quarantined


@pytest.mark.parametrize(
    "names",
    [("sqlite",), ("console",), ("parquet",), *permutations(("sqlite", "parquet", "json"), 2)],
)
def test_every_run_counts_all_documents_and_reaches_every_sink(
    spark: SparkSession, tmp_path: Path, names: tuple[str, ...]
) -> None:
    file = project(tmp_path, [SINKS[name] for name in names])
    put(tmp_path, "a.xml", 2)
    put(tmp_path, "b.xml", 1, is_broken=True)
    wanted: list[list[Key]] = []
    for number in range(3):
        outcome = run(load(file), spark)
        wanted.append(expected(tmp_path))
        size = sum(path.stat().st_size for path in (tmp_path / "inbox").iterdir())
        errors = Counter(key[0] == "" for key in wanted[-1])
        assert counts(outcome) == (2 + number, size, errors[False], errors[True])
        assert command.exit_code(outcome) == 3
        put(tmp_path, f"c{number}.xml", number)
    if "sqlite" in names:
        assert in_table(tmp_path) == wanted[-1]
    if "parquet" in names:
        assert list(in_parquet(spark, tmp_path).values()) == wanted
    if "json" in names:
        assert in_json(tmp_path) == 3


def test_a_table_follows_documents_that_change(spark: SparkSession, tmp_path: Path) -> None:
    file = project(tmp_path, [SINKS["sqlite"]])
    put(tmp_path, "a.xml", 2)
    put(tmp_path, "b.xml", 3)
    run(load(file), spark, run_name="one")
    put(tmp_path, "a.xml", 4)
    put(tmp_path, "b.xml", 1)
    run(load(file), spark, run_name="two")
    with closing(sqlite3.connect(tmp_path / "out/rows.db")) as database:
        of_two = "SELECT subscription, document, ordinal FROM results WHERE run = 'two'"
        rows = database.execute(of_two).fetchall()
        stale = "SELECT subscription, document, ordinal FROM results WHERE run = 'one'"
        left = database.execute(stale).fetchall()
    assert sorted((row[0], Path(row[1]).name, row[2]) for row in rows) == expected(tmp_path)
    # Nothing is deleted: what a document no longer gives is told by the run that wrote it.
    assert [(row[0], Path(row[1]).name, row[2]) for row in left] == [
        ("items", "b.xml", 1),
        ("items", "b.xml", 2),
    ]


@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_the_mode_says_what_a_second_run_leaves(
    spark: SparkSession, tmp_path: Path, mode: str
) -> None:
    sinks = [
        f"{{kind: parquet, path: out/parquet, rows: all, write: {mode}}}",
        f"{{kind: sqlite, path: out/rows.db, rows: all, write: {mode}}}",
    ]
    file = project(tmp_path, sinks)
    put(tmp_path, "a.xml", 2)
    run(load(file), spark, run_name="one")
    first = expected(tmp_path)
    put(tmp_path, "a.xml", 1)
    run(load(file), spark, run_name="two")
    second = expected(tmp_path)
    if mode == "overwrite":
        first = []
    assert in_table(tmp_path) == sorted(first + second)
    assert in_parquet(spark, tmp_path) == {
        name: keys for name, keys in (("one", first), ("two", second)) if keys
    }


def test_overwriting_with_no_rows_leaves_none(spark: SparkSession, tmp_path: Path) -> None:
    sinks = [
        "{kind: parquet, path: out/parquet, write: overwrite}",
        "{kind: sqlite, path: out/rows.db, write: overwrite}",
    ]
    file = project(tmp_path, sinks)
    put(tmp_path, "a.xml", 2)
    run(load(file), spark)
    (tmp_path / "inbox/a.xml").write_text("<other/>")
    assert counts(run(load(file), spark)) == (1, 8, 0, 0)
    assert in_table(tmp_path) == []
    assert in_parquet(spark, tmp_path) == {}


@pytest.mark.parametrize("kind", ["parquet", "sqlite"])
def test_a_run_that_must_not_find_rows_does_no_work(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    sinks = [SINKS["json"], SINKS[kind].replace("}", ", write: fail}")]
    file = project(tmp_path, sinks)
    put(tmp_path, "b.xml", 1, is_broken=True)
    run(load(file), spark)
    with pytest.raises(SinkError) as caught:
        run(load(file), spark)
    assert caught.value.code == "PO0004"
    assert in_json(tmp_path) == 1


@pytest.mark.parametrize("kind", ["parquet", "sqlite"])
def test_a_run_without_rows_leaves_nothing_that_a_later_run_must_not_find(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    file = project(tmp_path, [SINKS[kind].replace("}", ", write: fail}")])
    (tmp_path / "inbox/other.xml").write_text("<other/>")
    for _ in range(2):
        assert run(load(file), spark).documents == 1
    put(tmp_path, "a.xml", 1)
    assert run(load(file), spark).results == 2
    with pytest.raises(SinkError, match="holds rows of another run"):
        run(load(file), spark)


def test_a_stream_that_must_not_find_rows_goes_on_with_its_own(
    spark: SparkSession, tmp_path: Path
) -> None:
    stream = "trigger: available_now\ncheckpoint: {}\n"
    sinks = [SINKS[kind].replace("}", ", write: fail}") for kind in ("parquet", "sqlite")]
    file = project(tmp_path, sinks, stream.format("one"))
    put(tmp_path, "a.xml", 2)
    run(load(file), spark)
    put(tmp_path, "b.xml", 1)
    assert run(load(file), spark).documents == 1
    assert in_table(tmp_path) == expected(tmp_path)
    file.write_text(file.read_text().replace("checkpoint: one", "checkpoint: two"))
    with pytest.raises(SinkError, match="holds rows of another run"):
        run(load(file), spark)


def test_a_new_stream_overwrites_and_its_restarts_do_not(
    spark: SparkSession, tmp_path: Path
) -> None:
    sinks = [SINKS[kind].replace("}", ", write: overwrite}") for kind in ("parquet", "sqlite")]
    file = project(tmp_path, sinks, "trigger: available_now\ncheckpoint: one\n")
    for name, text in (("one", "checkpoint: one"), ("two", "checkpoint: two")):
        file.write_text(file.read_text().replace("checkpoint: one", text))
        for number in range(2):
            put(tmp_path, f"{name}{number}.xml", number)
            run(load(file), spark)
        assert in_table(tmp_path) == expected(tmp_path)
        (keys,) = in_parquet(spark, tmp_path).values()
        assert keys == expected(tmp_path)


def test_a_replayed_batch_is_written_once(spark: SparkSession, tmp_path: Path) -> None:
    modes = ("parquet", "append"), ("sqlite", "append"), ("sqlite", "upsert")
    sinks = [
        SINKS[kind].replace("}", f", write: {mode}, name: {kind} {mode}}}") for kind, mode in modes
    ]
    sinks[2] = sinks[2].replace("rows: all", "rows: all, table: other")
    file = project(tmp_path, sinks, "trigger: available_now\ncheckpoint: one\n")
    put(tmp_path, "a.xml", 2)
    run(load(file), spark)
    # As if the process had been killed after the sinks and before the commit.
    for path in (tmp_path / "one/commits").iterdir():
        path.unlink()
    put(tmp_path, "b.xml", 1, is_broken=True)
    run(load(file), spark)
    assert in_table(tmp_path) == in_table(tmp_path, "other") == expected(tmp_path)
    (keys,) = in_parquet(spark, tmp_path).values()
    assert keys == expected(tmp_path)


def test_rows_without_a_document_id_are_in_every_sink(spark: SparkSession, tmp_path: Path) -> None:
    documents = [(None, "<a/>"), (None, "<a><b/></a>"), ("x", "<a>"), (None, "<a>"), ("x", "<a/>")]
    spark.createDataFrame(documents, "id string, xml string").write.parquet(str(tmp_path / "in"))
    (tmp_path / "pipeline.yaml").write_text("""\
sources:
  - {kind: spark, format: parquet, path: in, document: xml, id: id}
registry:
  subscriptions:
    - {name: all, query: //*}
sinks:
  - {kind: parquet, path: out/parquet, rows: all}
  - {kind: sqlite, path: out/rows.db, rows: all}
""")
    outcome = run(load(tmp_path / "pipeline.yaml"), spark)
    assert (outcome.documents, outcome.results, outcome.quarantined) == (5, 4, 2)
    with closing(sqlite3.connect(tmp_path / "out/rows.db")) as database:
        rows = database.execute("SELECT document, kind, value FROM results").fetchall()
    found = spark.read.parquet(str(tmp_path / "out/parquet")).select("document", "kind", "value")
    assert Counter(map(str, rows)) == Counter(str(tuple(row)) for row in found.collect())
    assert len(rows) == 6


def test_runs_have_names_that_sort_by_time() -> None:
    moment = datetime(2026, 11, 16, 14, 5, 9, 42_999, tzinfo=UTC)
    assert new_run(moment, "ab12") == "20261116T140509.042Z-ab12"
    assert new_run(moment, "ff") < new_run(moment + timedelta(milliseconds=1), "00")
    assert len({new_run(moment) for _ in range(100)}) == 100


def test_quarantine_of_a_run_is_readable_json(spark: SparkSession, tmp_path: Path) -> None:
    file = project(tmp_path, [SINKS["json"]])
    put(tmp_path, "b.xml", 1, is_broken=True)
    run(load(file), spark, run_name="one")
    (line,) = [
        json.loads(line)
        for path in (tmp_path / "out/json/run=one/batch=0").glob("*.json")
        for line in path.read_text().splitlines()
    ]
    assert line["error"]["code"] == "PD0026"


LEFTOVERS = (
    ".metadata.{}.tmp",
    "offsets/.0.{}.tmp",
    "offsets/..0.{}.tmp.crc",
    "offsets/.0.crc",
    "commits/.0.{}.tmp",
)
"""What processes that were killed before their first batch leave; some make Spark refuse."""


def leave(checkpoint: Path) -> None:
    for name in LEFTOVERS:
        path = checkpoint / name.format("6b0e2a32-0f3c-4a2b-a6a4-b0d2b8a4d111")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    (checkpoint / "metadata").write_text('{"id":"0a7a3b3c-5f3e-4c73-8ef7-6a1f16e6ee4f"}')


def test_a_stream_starts_after_a_kill_before_its_first_batch(
    spark: SparkSession, tmp_path: Path
) -> None:
    stream = "trigger: available_now\ncheckpoint: checkpoint\n"
    file = project(tmp_path, [SINKS["sqlite"]], stream)
    put(tmp_path, "a.xml", 2)
    leave(tmp_path / "checkpoint")
    assert run(load(file), spark).documents == 1
    assert in_table(tmp_path) == expected(tmp_path)


def test_a_stream_of_joins_starts_after_a_kill_before_its_first_batch(
    spark: SparkSession, tmp_path: Path
) -> None:
    from pyspark.sql.functions import lit, timestamp_seconds

    documents = [("a", "<x><k>1</k></x>", 1), ("b", "<y><k>1</k></y>", 2)]
    schema = "id string, xml string, at long"
    spark.createDataFrame(documents, schema).write.parquet(str(tmp_path / "in"))
    registry = penstock.Registry()
    registry.add("pair", penstock.xscl("S//x->a[k->p] FOLLOWED BY{p = q, 10} S//y->b[k->q]"))
    leave(tmp_path / "state/checkpoint")
    query = join_stream(
        spark.readStream.schema(schema).parquet(str(tmp_path / "in")),
        registry,
        state=tmp_path / "state",
        into=tmp_path / "out",
        time=timestamp_seconds("at"),
        stream=lit("S"),
        trigger={"availableNow": True},
    )
    query.awaitTermination()
    (row,) = spark.read.parquet(str(tmp_path / "out")).collect()
    assert row["documents"] == ["a", "b"]


def test_a_damaged_version_of_a_registry_does_not_stop_a_stream(
    spark: SparkSession, tmp_path: Path
) -> None:
    stream = "trigger: available_now\ncheckpoint: checkpoint\n"
    file = project(tmp_path, [SINKS["sqlite"]], stream)
    registry = penstock.Registry.open(tmp_path / "subscriptions")
    registry.add("items", "//item")
    text = file.read_text()
    below = text[text.index("  subscriptions:") : text.index("sinks:")]
    file.write_text(text.replace(f"registry:\n{below}", "registry: subscriptions\n"))
    for number in range(2):
        put(tmp_path, f"{number}.xml", 2)
        run(load(file), spark)
        (tmp_path / "subscriptions/current").write_bytes(b"")
    assert in_table(tmp_path) == expected(tmp_path)


class Slow(Sink):
    """Fails as Spark does when Python starts too slowly, so many times."""

    def __init__(self, times: int) -> None:
        self.left = times

    def write_batch(self, rows: DataFrame, batch: int, run: str = "default") -> None:
        from pyspark.errors import PySparkRuntimeError

        if self.left:
            self.left -= 1
            raise PySparkRuntimeError("Python worker failed to connect back.")


@pytest.mark.parametrize("trigger", ["batch", "available_now"])
def test_a_run_whose_python_starts_slowly_is_started_again(
    spark: SparkSession, tmp_path: Path, trigger: str
) -> None:
    from pyspark.errors import PySparkException

    more = "" if trigger == "batch" else f"trigger: {trigger}\ncheckpoint: checkpoint\n"
    modes = [SINKS[kind].replace("}", ", write: append}") for kind in ("sqlite", "parquet")]
    file = project(tmp_path, modes, more)
    put(tmp_path, "a.xml", 2)
    pipeline = load(file)
    slow = Slow(STARTS_MAX - 1)
    sinks = (*pipeline.sinks, SinkSetting("slow", slow, "all"))
    assert run(replace(pipeline, sinks=sinks), spark).documents == 1
    assert in_table(tmp_path) == expected(tmp_path)
    (keys,) = in_parquet(spark, tmp_path).values()
    assert keys == expected(tmp_path)
    slow.left = STARTS_MAX
    put(tmp_path, "b.xml", 2)
    with pytest.raises(PySparkException):
        run(replace(pipeline, sinks=sinks), spark)
    assert slow.left == 0
