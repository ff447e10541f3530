"""A pipeline is killed again and again; nothing is lost and nothing doubled."""

from __future__ import annotations

import json
import random
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pyarrow.dataset as ds
import pytest

import penstock
from tests.spark.victims import Victim, committed

pytestmark = [pytest.mark.spark, pytest.mark.slow]

KILLS = 20
BATCH_FILES = 3
FILES_AHEAD = 180
"""So many files wait when the pipeline starts: more than it can read before it is killed."""

PIPELINE = """\
sources:
  - {{kind: files, path: inbox, options: {{maxFilesPerTrigger: {files}}}}}
registry: subscriptions
sinks:
  - {{kind: parquet, path: out/results}}
  - {{kind: json, path: out/quarantine, rows: quarantine}}
  - {{kind: sqlite, path: out/rows.db, rows: all}}
trigger: {trigger}
checkpoint: out/checkpoint
spark: {{master: "local[2]"}}
"""

Key = tuple[str, str, int]


def document(number: int) -> str:
    """Return a document; one in twenty is broken."""
    end = "" if number % 20 == 7 else "</order>"
    lines = "".join(f"<line sku='s{number % 9}'>{n}</line>" for n in range(number % 5))
    return f"<order id='{number}'>{lines}<total>{number % 100}</total>{end}"


def kill_in_the_middle(project: Path, randomness: random.Random) -> None:
    """Start the pipeline and kill it, driver and all, some moments after its first batch."""
    before = committed(project / "out/checkpoint")
    running = Victim(command(project), project)
    # Now and then it does not even come to a batch.
    if randomness.random() < 0.2:
        time.sleep(randomness.uniform(0.5, 15))
    else:
        running.wait_until(lambda: committed(project / "out/checkpoint") > before)
        time.sleep(randomness.uniform(0.0, 1.5))
    running.kill()


def command(project: Path) -> list[str]:
    return ["penstock", "run", str(project / "pipeline.yaml"), "--quiet"]


def keys_in_files(folder: Path, form: str) -> list[Key]:
    if form == "parquet":
        table = ds.dataset(str(folder), format="parquet", partitioning="hive").to_table()
        rows = table.select(["subscription", "document", "ordinal"]).to_pylist()
    else:
        lines = [line for path in folder.rglob("*.json") for line in path.open()]
        rows = [json.loads(line) for line in lines]
    return sorted(
        (row["subscription"] or "", Path(row["document"]).name, row["ordinal"]) for row in rows
    )


def test_kills_at_random_moments_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    randomness = random.Random(20)
    (tmp_path / "inbox").mkdir()
    registry = penstock.Registry.open(tmp_path / "subscriptions")
    registry.add("large", "/order[total > 50]/@id")
    registry.add("lines", "//line/@sku")
    registry.add("empty", "/order[not(line)]", mode="filter")
    endless = PIPELINE.format(files=BATCH_FILES, trigger="{processing_time: 50 milliseconds}")
    (tmp_path / "pipeline.yaml").write_text(endless)
    files = 0
    for _ in range(KILLS):
        wanted = BATCH_FILES * committed(tmp_path / "out/checkpoint") + FILES_AHEAD
        for number in range(files, wanted):
            (tmp_path / "inbox" / f"{number:04}.xml").write_text(document(number))
        files = max(files, wanted)
        kill_in_the_middle(tmp_path, randomness)
    killed_at = committed(tmp_path / "out/checkpoint")
    rest = PIPELINE.format(files=100, trigger="available_now")
    (tmp_path / "pipeline.yaml").write_text(rest)
    Victim(command(tmp_path), tmp_path).finish(3)  # there is quarantine

    found = penstock.Engine(registry).run(
        penstock.Document(path, id=path.name) for path in sorted((tmp_path / "inbox").iterdir())
    )
    expected = sorted((row.subscription or "", row.document, row.ordinal) for row in found)
    results = [key for key in expected if key[0]]
    quarantined = [key for key in expected if not key[0]]
    assert len(quarantined) == len([n for n in range(files) if n % 20 == 7])
    with closing(sqlite3.connect(tmp_path / "out/rows.db")) as database:
        rows = database.execute("SELECT subscription, document, ordinal FROM results").fetchall()
    assert sorted((row[0] or "", Path(row[1]).name, row[2]) for row in rows) == expected
    assert keys_in_files(tmp_path / "out/results", "parquet") == results
    assert keys_in_files(tmp_path / "out/quarantine", "json") == quarantined
    assert killed_at >= KILLS // 2, "the kills came before there was anything to lose"
