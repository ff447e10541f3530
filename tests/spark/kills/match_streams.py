"""A stream of ``match`` that is killed while its subscriptions change."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import penstock
from tests.spark.kills.checkpoints import committed, files_of_batches
from tests.spark.test_streaming import write_items

FILES_AHEAD = 12
"""So many files wait when the driver starts, one for each batch."""
_NAMES = ("document", "subscription", "ordinal", "kind", "value", "start", "decided_at")


@dataclass
class MatchProject:
    """A folder with Parquet files of documents and a registry; Spark's own sink gets the rows."""

    folder: Path
    sinks: Sequence[str] = ("rows",)
    exit_code: int = 0
    starts: int = 0

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._registry = penstock.Registry.open(self.folder / "registry")
        self._registry.add("tags", "//tag")
        self._registry.add("cheap", "//item[price < 20]/@id")

    @property
    def checkpoint(self) -> Path:
        """Where the stream keeps how far it came."""
        return self.folder / "checkpoint"

    def command(self, *, is_endless: bool) -> list[str]:
        """Return the arguments of the driver; each start finds other subscriptions."""
        self.starts += 1
        self._registry.replace("cheap", f"//item[price < {20 + self.starts}]/@id")
        return ["tests.spark.helpers.driver", str(self.folder)]

    def feed(self) -> None:
        """Add documents; the driver reads those that are there when it starts."""
        there = len(list((self.folder / "in").glob("*.parquet")))
        write_items(self.folder / "in", range(there, committed(self.checkpoint) + FILES_AHEAD))

    def holders_of(self, batch: int) -> tuple[str, ...]:
        """Return the sink if its own log has the batch."""
        return ("rows",) if (self.folder / "out" / "_spark_metadata" / str(batch)).exists() else ()

    def expected(self) -> list[tuple[Any, ...]]:
        """Return what the engine finds, each batch with the version that it was pinned to."""
        query = json.loads((self.checkpoint / "metadata").read_text("utf-8"))["id"]
        rows = []
        for batch, files in files_of_batches(self.checkpoint).items():
            engine = penstock.Engine(self._registry.at(self._registry.pin(query, batch)))
            for file in files:
                documents = [
                    penstock.Document(row["xml"], id=str(row["id"]))
                    for row in pq.read_table(file).to_pylist()
                ]
                rows += [
                    tuple(getattr(row, name) for name in _NAMES) for row in engine.run(documents)
                ]
        return rows

    def differences(self) -> dict[str, tuple[int, int]]:
        """Return how many rows are lost and how many are there too often."""
        # The sink's log, not the folder, says which files count.
        names = {
            Path(json.loads(line)["path"]).name
            for log in (self.folder / "out" / "_spark_metadata").glob("[0-9]*")
            for line in log.read_text("utf-8").splitlines()[1:]
        }
        found = Counter(
            tuple(row[name] for name in _NAMES)
            for name in names
            for row in pq.read_table(self.folder / "out" / name).to_pylist()
        )
        wanted = Counter(self.expected())
        return {"rows": ((wanted - found).total(), (found - wanted).total())}
