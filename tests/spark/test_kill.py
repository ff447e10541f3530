"""kill -9 of the driver at random moments: nothing is lost, nothing comes twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

import pyarrow.parquet as pq
import pytest

import penstock
from penstock.registry.durable import DurableRegistry
from tests.spark.servers import ROOT, surroundings
from tests.spark.test_streaming import identities, write_items

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

KILLS = 22
FILES = 120
START_SECONDS_MAX = 120.0
RUN_SECONDS_MAX = 600.0
_NAMES = ("document", "subscription", "ordinal", "kind", "value", "start", "decided_at")


def start_driver(folder: Path) -> subprocess.Popen[bytes]:
    with open(folder / "driver.log", "ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.spark.driver", str(folder)],
            cwd=ROOT,
            env=surroundings({}),
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def kill(driver: subprocess.Popen[bytes]) -> None:
    """End the driver and its Java, which are a group of their own."""
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()


def commits(folder: Path) -> int:
    """Return how many batches the sink has for good."""
    return len(list((folder / "checkpoint" / "commits").glob("[0-9]*")))


def wait_for_commits(folder: Path, count: int, driver: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS_MAX
    while commits(folder) < count and driver.poll() is None:
        assert time.monotonic() < deadline, "the driver makes no progress"
        time.sleep(0.02)


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
    random = Random(17)
    write_items(tmp_path / "in", range(FILES))
    registry = penstock.Registry.open(tmp_path / "registry")
    registry.add("tags", "//tag")
    registry.add("cheap", "//item[price < 20]/@id")
    for kills in range(KILLS):
        driver = start_driver(tmp_path)
        # Most moments lie between two batches or inside one, some before the stream begins.
        if kills % 6 == 5:
            time.sleep(random.uniform(0, 10))
        else:
            wait_for_commits(tmp_path, commits(tmp_path) + random.randint(1, 3), driver)
            time.sleep(random.uniform(0, 1))
        is_over = driver.poll() is not None
        assert not is_over, "there were too few files for so many kills"
        kill(driver)
        registry.replace("cheap", f"//item[price < {21 + kills}]/@id")
        if kills % 5 == 0:
            registry.add(f"title {kills}", "/item/title")
    driver = start_driver(tmp_path)
    driver.wait(RUN_SECONDS_MAX)
    assert driver.returncode == 0, (tmp_path / "driver.log").read_text("utf-8")[-3000:]

    expected, versions = expected_rows(tmp_path, registry)
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    assert identities(found) == identities(expected)
    assert len(versions) > KILLS / 2
