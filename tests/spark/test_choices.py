"""Sinks of a pipeline get the rows of the subscriptions that they choose, and no others."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from functools import reduce
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import penstock
from penstock.spark.pipelines import load, run
from penstock.spark.pipelines.choices import Choice, chosen_rows, names_like

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SINKS = {
    "everything": "rows: all",
    "cheap": "subscriptions: cheap",
    "books": 'subscriptions: ["books_*", dear]',
    "ann": "owner: ann",
    "both": 'subscriptions: "*a*", owner: [ann, bob]',
    "failures": "rows: errors, owner: bob",
    "nobody": "subscriptions: later, owner: eve",
}
CHOSEN = {
    "cheap": {"cheap"},
    "books": {"books_1", "dear"},
    "ann": {"cheap", "books_1"},
    "both": {"cheap", "dear"},
    "nobody": set[str](),
}
SUBSCRIPTIONS = (
    ("cheap", "//book[price < 10]", "ann"),
    ("dear", "//book[price > 5]", "bob"),
    ("books_1", "//book", "ann"),
    ("booksx1", "//book/price", None),
)


STREAM = ("everything", "books", "both", "nobody")
"""The sinks of the stream: each writes every batch, and all have been tried in batch."""


def project(folder: Path, sinks: Iterable[str], trigger: str) -> Path:
    """Write documents, one of them broken, a registry and a pipeline of many sinks."""
    (folder / "in").mkdir()
    for number in range(12):
        text = f"<book><price>{number}</price></book>"
        (folder / f"in/{number}.xml").write_text(text if number != 7 else text[:-2])
    registry = penstock.Registry.open(folder / "subscriptions")
    for name, query, owner in SUBSCRIPTIONS:
        registry.add(name, query, owner=owner)
    lines = [f"  - {{kind: json, name: {n}, path: out/{n}, {SINKS[n]}}}" for n in sinks]
    source = "{kind: files, path: in, options: {maxFilesPerTrigger: 6}}"
    text = f"sources: [{source}]\nregistry: subscriptions\nsinks:\n" + "\n".join(lines)
    (folder / "p.yaml").write_text(f"{text}\n{trigger}")
    return folder / "p.yaml"


def rows_in(folder: Path) -> list[tuple[str | None, str, int]]:
    lines = [line for path in folder.rglob("*.json") for line in path.read_text().splitlines()]
    rows = [json.loads(line) for line in lines]
    return sorted(
        (row.get("subscription") or "", row["document"], row["ordinal"] or 0) for row in rows
    )


@pytest.mark.parametrize(
    ("sinks", "trigger"),
    [(SINKS, ""), (STREAM, "trigger: available_now\ncheckpoint: checkpoint\n")],
)
def test_each_sink_has_the_rows_that_it_chooses(
    spark: SparkSession, tmp_path: Path, sinks: Collection[str], trigger: str
) -> None:
    run(load(project(tmp_path, sinks, trigger)), spark)
    every = rows_in(tmp_path / "out/everything")
    assert {name for name, *_ in every} == {"", *(name for name, *_ in SUBSCRIPTIONS)}
    for sink in CHOSEN.keys() & sinks:
        names = CHOSEN[sink]
        found = rows_in(tmp_path / "out" / sink)
        assert found == [row for row in every if row[0] in names], sink
        assert bool(found) == bool(names)
    assert rows_in(tmp_path / "out/failures") == []


def test_globs_are_the_same_in_spark_and_here(spark: SparkSession) -> None:
    from pyspark.sql import functions as f

    random = Random(3)
    names = sorted(
        {"".join(random.choices("ab%_\\*\n.", k=random.randrange(5))) for _ in range(400)}
    )
    table = pa.table({"subscription": names})
    rows = spark.createDataFrame(table).coalesce(1)
    globs = ["".join(random.choices("ab%_\\**??\n.", k=random.randrange(1, 5))) for _ in range(30)]
    # One job for all: a job costs as much as the rest of the test.
    chosen = [
        chosen_rows(rows, Choice((glob,)), ()).withColumn("glob", f.lit(number))
        for number, glob in enumerate(globs)
    ]
    found: dict[int, list[str]] = {}
    for name, number in reduce(lambda left, right: left.unionAll(right), chosen).collect():
        found.setdefault(number, []).append(name)
    for number, glob in enumerate(globs):
        assert sorted(found.get(number, [])) == names_like(glob, names), repr(glob)
    assert len(found) > 10
