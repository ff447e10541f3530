"""Subscriptions that fail alone: their rows, where these go, and suspension in streams."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import penstock
from penstock.errors import RegistryError
from penstock.spark import match, quarantine, results
from penstock.spark.pipelines import Outcome, load, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

GREEDY = "//a[preceding::a/following::a = .]"
COUNT = "count(//a)"
BAD = "<r>" + "<a>x</a>" * 3_000 + "</r>"
GOOD = "<r><a/></r>"
BROKEN = "<r><a></r>"

STREAM = """\
sources:
  - {kind: files, path: inbox, options: {maxFilesPerTrigger: FILES}}
registry: REGISTRY
sinks:
  - {kind: json, path: out/results}
  - {kind: json, path: out/quarantine, rows: quarantine}
  - {kind: json, path: out/errors, rows: errors}
  - {kind: sqlite, path: out/rows.db, rows: all}
trigger: available_now
checkpoint: out/checkpoint
limits: {steps_max: 10_000}
spark: {master: "local[2]"}
"""
IN_FILE = f"""
  subscriptions:
    - {{name: greedy, query: '{GREEDY}'}}
    - {{name: number, query: '{COUNT}'}}"""


class Project:
    """A folder with a pipeline, to which documents come one by one."""

    def __init__(self, folder: Path, spark: SparkSession, is_durable: bool, files: int = 1) -> None:
        self.folder = folder
        self._spark = spark
        self._count = 0
        (folder / "inbox").mkdir()
        text = STREAM.replace("REGISTRY", "subscriptions" if is_durable else IN_FILE)
        (folder / "pipeline.yaml").write_text(text.replace("FILES", str(files)))
        if is_durable:
            registry = penstock.Registry.open(folder / "subscriptions")
            registry.add("greedy", GREEDY)
            registry.add("number", COUNT)

    def run(self, *documents: str, resume: list[str] | None = None) -> Outcome:
        for text in documents:
            (self.folder / "inbox" / f"{self._count:03}.xml").write_text(text)
            self._count += 1
        return run(load(self.folder / "pipeline.yaml"), self._spark, resume=resume or [])

    def change(self, before: str, after: str) -> None:
        path = self.folder / "pipeline.yaml"
        path.write_text(path.read_text().replace(before, after))

    def rows(self) -> list[tuple[int, str, str]]:
        """Return batch, subscription, and code or value of all rows."""
        chosen = "SELECT batch, subscription, coalesce(error_code, value) FROM results"
        with closing(sqlite3.connect(self.folder / "out/rows.db")) as database:
            return sorted((one[0], one[1] or "", one[2]) for one in database.execute(chosen))

    def errors(self) -> list[tuple[int, str]]:
        return [(batch, code) for batch, name, code in self.rows() if name == "greedy"]

    def codes(self, sink: str) -> list[str | None]:
        files = (self.folder / "out" / sink).rglob("*.json")
        lines = [line for file in files for line in file.read_text().splitlines()]
        return sorted((json.loads(line).get("error") or {}).get("code", "") for line in lines)


def test_error_rows_of_subscriptions_are_neither_results_nor_quarantine(
    spark: SparkSession,
) -> None:
    registry = penstock.Registry()
    registry.add("greedy", GREEDY)
    registry.add("number", COUNT)
    given = [("d0", BAD), ("d1", BROKEN), ("d2", GOOD), ("d3", BAD), ("d4", BAD), ("d5", BAD)]
    documents = spark.createDataFrame(given, "id string, xml string").coalesce(1)
    rows = match(documents, registry, limits=penstock.Limits(steps_max=10_000)).collect()
    frame = spark.createDataFrame(rows, match(documents, registry).schema)
    errors = [
        (row.document, row.subscription, row.error.code, row.source is None)
        for row in rows
        if row.error
    ]
    # In batch nobody is suspended: the last document is an error, too.
    failed = [(name, "greedy", "PL0014", True) for name in ("d0", "d3", "d4", "d5")]
    assert sorted(errors, key=str) == sorted([*failed, ("d1", None, "PD0007", False)], key=str)
    assert [row.document for row in quarantine(frame).collect()] == ["d1"]
    found = sorted((row.document, row.subscription, row.value) for row in results(frame).collect())
    numbers = {"d0": "3000", "d2": "1", "d3": "3000", "d4": "3000", "d5": "3000"}
    assert found == [(name, "number", number) for name, number in numbers.items()]


def test_sinks_and_counts_tell_errors_of_subscriptions_from_quarantine(
    spark: SparkSession, tmp_path: Path
) -> None:
    project = Project(tmp_path, spark, is_durable=False, files=9)
    outcome = project.run(BAD, BROKEN, GOOD)
    counts = (outcome.documents, outcome.results, outcome.quarantined, outcome.failures)
    assert counts == (3, 2, 1, 1)
    assert "1 failures of subscriptions" in outcome.describe()
    assert project.codes("results") == ["", ""]
    assert project.codes("quarantine") == ["PD0007"]
    assert project.codes("errors") == ["PD0007", "PL0014"]
    assert len(project.rows()) == 4


@pytest.mark.parametrize("is_durable", [False, True])
def test_a_stream_suspends_between_micro_batches(
    spark: SparkSession, tmp_path: Path, is_durable: bool
) -> None:
    project = Project(tmp_path, spark, is_durable)
    outcome = project.run(BAD, BAD, GOOD, BAD, BAD, BAD, BAD)
    failed = [(batch, "PL0014") for batch in (0, 1, 3, 4, 5)]
    assert project.errors() == [*failed, (6, "PL0018")]
    assert outcome.suspended == ("greedy",)
    # It is told once, and stays so when the stream goes on.
    assert project.run(BAD, BAD).suspended == ("greedy",)
    assert project.errors() == [*failed, (6, "PL0018")]
    numbers = [value for _, name, value in project.rows() if name == "number"]
    assert (len(numbers), numbers.count("3000")) == (9, 8)


def test_many_failures_in_one_micro_batch_suspend_from_the_next_on(
    spark: SparkSession, tmp_path: Path
) -> None:
    project = Project(tmp_path, spark, is_durable=True, files=5)
    project.run(BAD, BAD, BAD, BAD, BAD)
    assert project.errors() == [(0, "PL0014")] * 5
    project.run(BAD, BAD)
    assert project.errors() == [(0, "PL0014")] * 5 + [(1, "PL0018")]


def test_a_micro_batch_that_comes_again_gives_the_same_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    project = Project(tmp_path, spark, is_durable=True)
    project.run(BAD, BAD, BAD, BAD)
    assert project.errors() == [(0, "PL0014"), (1, "PL0014"), (2, "PL0014"), (3, "PL0018")]

    def forget(batch: int) -> None:
        # As if the driver had died between the sinks and the commit.
        for file in (tmp_path / "out/checkpoint/commits").glob(f"*{batch}*"):
            file.unlink()

    before = project.rows()
    forget(3)
    registry = penstock.Registry.open(tmp_path / "subscriptions")
    registry.replace("greedy", "//a[1]")
    with closing(sqlite3.connect(tmp_path / "out/rows.db")) as database:
        database.execute("DELETE FROM results WHERE batch = 3")
        database.execute("DELETE FROM penstock_batches WHERE batch = 3")
        database.commit()
    project.run()
    assert project.rows() == before
    # The one that has replaced it is not suspended.
    project.run(GOOD)
    assert project.rows()[-2:] == [(4, "greedy", "<a/>"), (4, "number", "1")]


def test_a_suspended_subscription_is_resumed_by_name(spark: SparkSession, tmp_path: Path) -> None:
    project = Project(tmp_path, spark, is_durable=False)
    with pytest.raises(RegistryError, match="PR0012"):
        project.run(resume=["greedy"])
    project.run(BAD, BAD, BAD, BAD)
    assert project.run(BAD, BAD, resume=["greedy"]).suspended == ()
    assert project.errors()[-2:] == [(4, "PL0014"), (5, "PL0014")]
    with pytest.raises(RegistryError, match="PR0012"):
        project.run(resume=["greedy"])


def test_nobody_is_suspended_if_nobody_is_to_be(spark: SparkSession, tmp_path: Path) -> None:
    project = Project(tmp_path, spark, is_durable=False)
    project.change("limits:", "suspend_after: never\nlimits:")
    assert project.run(BAD, BAD, BAD, BAD, BAD).suspended == ()
    assert project.errors() == [(batch, "PL0014") for batch in range(5)]
    assert not (tmp_path / "out/checkpoint-suspensions").exists()
    project.change("never", "1")
    assert project.run(BAD, BAD).suspended == ("greedy",)
    assert project.errors()[-2:] == [(5, "PL0014"), (6, "PL0018")]
