"""A secret that a pipeline's file takes from elsewhere is in no plan, progress or error."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import penstock
from penstock.cli.main import main as command
from penstock.errors import SinkError
from penstock.spark.pipelines import Outcome, load, run
from penstock.spark.pipelines.inputs import documents
from penstock.spark.pipelines.progress import as_dict

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SECRET = "hunter2-hunter2"
SOURCE = "{kind: files, path: in, options: {pathGlobFilter: '*.xml'}}"
TABLE = (
    "{kind: spark, format: parquet, path: table, schema: 'id string, xml string', document: xml,"
    " id: id, options: {my.phrase: '${file:secret}', password: '${file:secret}'}}"
)


def project(folder: Path, sink: str, more: str = "") -> Path:
    (folder / "in").mkdir()
    (folder / "in/a.xml").write_text("<a/>")
    (folder / "table").mkdir()
    (folder / "secret").write_text(f"{SECRET}\n")
    text = f"sources: [{SOURCE}, {TABLE}]\nsinks: [{sink}]\n{more}"
    text += "registry: {subscriptions: [{name: a, query: //a}]}\n"
    (folder / "p.yaml").write_text(text)
    return folder / "p.yaml"


def test_plans_and_progress_show_no_secret(spark: SparkSession, tmp_path: Path) -> None:
    more = "trigger: available_now\ncheckpoint: c\n"
    pipeline = load(project(tmp_path, "{kind: json, path: out}", more))
    read = documents(spark, pipeline.sources, penstock.Limits(), is_streaming=False)
    assert SECRET in str(pipeline.sources[1].options.values())
    assert SECRET not in read._jdf.queryExecution().toString()
    told = [repr(pipeline)]

    def watch(outcome: Outcome) -> None:
        told.append(outcome.describe())
        told.extend(
            str(as_dict(progress))
            for one in spark.streams.active
            for progress in one.recentProgress
        )

    outcome = run(pipeline, spark, watch)
    assert outcome.results == 1
    files = [path for path in (tmp_path / "c").rglob("*") if path.is_file()]
    assert files
    told += [path.read_text("utf-8", "replace") for path in files]
    assert not [text for text in told if SECRET in text]


def test_errors_of_databases_show_no_secret(spark: SparkSession, tmp_path: Path) -> None:
    url = "jdbc:derby:nowhere/at/all;create=false;user=me;password=${file:secret}"
    driver = "options: {driver: org.apache.derby.jdbc.EmbeddedDriver}"
    path = project(
        tmp_path, f"{{kind: jdbc, url: '{url.replace('nowhere', '${file:secret}')}', {driver}}}"
    )
    with pytest.raises(SinkError) as caught:
        run(load(path), spark)
    said = "".join(traceback.format_exception(caught.value))
    assert SECRET not in said
    assert "${file:secret}" in str(caught.value)


def test_a_dry_run_shows_no_secret(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sink = "{kind: kafka, servers: 'host:1', topic: 'of-${file:secret}'}"
    assert command(["run", "--dry-run", str(project(tmp_path, sink))]) == 0
    told = capsys.readouterr()
    assert "of-${file:secret} at host:1" in told.out
    assert SECRET not in told.out + told.err
