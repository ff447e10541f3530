"""kill -9 of the driver at random moments: nothing is lost, nothing comes twice."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

import pyarrow.parquet as pq
import pytest

import penstock
from penstock.registry.durable import DurableRegistry
from tests.spark.test_streaming import identities, write_items
from tests.spark.victims import Victim, committed, kill_some_time

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

KILLS = 22
FILES_AHEAD = 60
"""So many files wait when the driver starts: more than it can read before it is killed."""
_NAMES = ("document", "subscription", "ordinal", "kind", "value", "start", "decided_at")


def files_of_batches(checkpoint: Path) -> dict[int, list[Path]]:
    """Return which files belong to which batch, as Spark took them down.

    The source numbers its own entries, and a batch goes up to one of them: after a kill it may
    take two entries at once.
    """
    entries: dict[int, set[Path]] = {}
    for log in (checkpoint / "sources" / "0").glob("[0-9]*"):
        for line in log.read_text("utf-8").splitlines()[1:]:
            entry = json.loads(line)
            path = Path(unquote(urlparse(entry["path"]).path))
            entries.setdefault(entry["batchId"], set()).add(path)
    batches: dict[int, list[Path]] = {}
    taken = -1
    offsets = checkpoint / "offsets"
    for batch in sorted(int(file.name) for file in offsets.glob("[0-9]*")):
        last = json.loads((offsets / str(batch)).read_text("utf-8").splitlines()[-1])["logOffset"]
        batches[batch] = [path for at in range(taken + 1, last + 1) for path in entries[at]]
        taken = last
    return batches


def expected_rows(folder: Path, registry: DurableRegistry) -> tuple[list[dict[str, Any]], set[int]]:
    """Return what the engine finds, each batch with its own version, and these versions."""
    batches = files_of_batches(folder / "checkpoint")
    assert sorted(file for files in batches.values() for file in files) == sorted(
        (folder / "in").iterdir()
    )
    query = json.loads((folder / "checkpoint" / "metadata").read_text("utf-8"))["id"]
    versions = {batch: registry.pin(query, batch) for batch in batches}
    expected = []
    for batch, files in batches.items():
        engine = penstock.Engine(registry.at(versions[batch]))
        for file in files:
            table = pq.read_table(file).to_pylist()
            documents = [penstock.Document(row["xml"], id=str(row["id"])) for row in table]
            expected += [
                {name: getattr(row, name) for name in _NAMES} for row in engine.run(documents)
            ]
    return expected, set(versions.values())


def test_killed_driver_loses_and_doubles_nothing(spark: SparkSession, tmp_path: Path) -> None:
    random, checkpoint, files = Random(17), tmp_path / "checkpoint", 0
    registry = penstock.Registry.open(tmp_path / "registry")
    registry.add("tags", "//tag")
    registry.add("cheap", "//item[price < 20]/@id")
    command = ["tests.spark.driver", str(tmp_path)]
    for kills in range(KILLS):
        before = committed(checkpoint)
        write_items(tmp_path / "in", range(files, before + FILES_AHEAD))
        files = before + FILES_AHEAD
        kill_some_time(Victim(command, tmp_path), random, kills, checkpoint)
        registry.replace("cheap", f"//item[price < {21 + kills}]/@id")
        if kills % 5 == 0:
            registry.add(f"title {kills}", "/item/title")
    Victim(command, tmp_path).finish()

    expected, versions = expected_rows(tmp_path, registry)
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    assert identities(found) == identities(expected)
    assert len(versions) > KILLS / 2
