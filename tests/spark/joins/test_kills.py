"""kill -9 of a driver with state, at random moments: nothing is lost, nothing comes twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

import penstock
from penstock.results import Document
from penstock.spark.joins.changes import read_changes
from penstock.spark.joins.state import State
from tests.spark.joins.cases import END, identities
from tests.spark.joins.driver import LATENESS
from tests.spark.joins.streams import write_batch
from tests.spark.test_kill import files_of_batches
from tests.spark.victims import Victim, committed, kill_some_time

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

KILLS = 22
FILES_AHEAD = 60
"""So many files wait when the driver starts: more than it can read before it is killed."""
FILE_DOCUMENTS = 20

QUERIES = {
    "pairs": "S//a->x[k->y] FOLLOWED BY{y = z, 12} S//b->w[k->z]",
    "both": "S//a->x[k->y][m->m] JOIN{y = z AND m = n, 20} S//b->w[k->z][m->n]",
    "lonely": "S//a->x[k->y] NOT FOLLOWED BY{y = z, 4} S//b->w[k->z]",
    "chain": "S//a->x[k->y] FOLLOWED BY{y = z, 6} S//b[k->z] NOT FOLLOWED BY{z = u, 3} S//c[k->u]",
    "made": "SELECT <p k='{y}'>{x}</p> FROM S//a->x[k->y] JOIN{y = z, 2} S//c[k->z] PUBLISH P",
    "read": "P//p->p[@k->y] FOLLOWED BY{y = z, 5} S//b[k->z]",
}
CHANGING = "S//a->x[k->y] FOLLOWED BY{{y = z, {}}} S//c->w[k->z]"


def documents_of(number: int) -> list[Document]:
    """Return the documents of a file, nearly in order of time."""
    random, made = Random(number), []
    for one in range(number * FILE_DOCUMENTS, (number + 1) * FILE_DOCUMENTS):
        name, key, kind = random.choice("abc"), random.randrange(40), random.randrange(3)
        xml = f"<{name}><k>{key}</k><m>{kind}</m></{name}>".encode()
        made.append(Document(xml, f"d{one}", "S", one / 10 + random.uniform(0, LATENESS - 1)))
    return made


def expected(folder: Path) -> tuple[list[tuple[object, ...]], int]:
    """Return what the engine finds, its subscriptions changing with the batches, and how often."""
    state = State(folder / "state")
    last = state.last()
    assert last is not None
    changes = {number: read_changes(str(state.folder), number) for number, _ in last.changes}
    registry, names = penstock.Registry(), {}

    def arrivals() -> Iterator[Document]:
        for number, files in files_of_batches(folder / "state" / "checkpoint").items():
            if number in changes:
                for removed in changes[number].removed:
                    registry.remove(names[removed])
                for added in changes[number].added:
                    registry.add(added.name, added.query())
                    names[added.number] = added.name
            for file in files:
                for row in pq.read_table(file).to_pylist():
                    yield Document(row["xml"], row["id"], row["stream"], row["ts"])

    rows = penstock.Engine(registry, lateness=LATENESS).run(arrivals())
    return identities(rows), len(changes)


def test_killed_driver_loses_and_doubles_nothing(spark: SparkSession, tmp_path: Path) -> None:
    random, checkpoint, files = Random(23), tmp_path / "state" / "checkpoint", 0
    registry = penstock.Registry.open(tmp_path / "registry")
    for name, text in QUERIES.items():
        registry.add(name, penstock.xscl(text))
    registry.add("changing", penstock.xscl(CHANGING.format(1)))
    command = ["tests.spark.joins.driver", str(tmp_path)]
    for kills in range(KILLS):
        before = committed(checkpoint)
        for number in range(files, before + FILES_AHEAD):
            write_batch(tmp_path / "in", number, documents_of(number))
        files = max(files, before + FILES_AHEAD)
        kill_some_time(Victim(command, tmp_path), random, kills, checkpoint)
        registry.replace("changing", penstock.xscl(CHANGING.format(2 + kills)))
        if kills % 5 == 0:
            registry.add(f"pairs {kills}", penstock.xscl(QUERIES["pairs"]))
    write_batch(tmp_path / "in", files, [Document(b"<end/>", "end", "S", END)])
    Victim(command, tmp_path).finish()

    wanted, changes = expected(tmp_path)
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    assert identities(found) == wanted
    assert changes > KILLS / 2
    assert {row[0] for row in wanted} >= {*QUERIES, "changing"}
