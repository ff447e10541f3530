"""A pipeline with joins that is killed while its subscriptions change."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import penstock
from penstock.planning.programs import compile_program
from penstock.spark.joins.changes import Changes, read_changes
from penstock.spark.joins.state import State
from penstock.twigs import Query
from tests.spark.helpers.stored import Row, engine_row, rows_in
from tests.spark.kills.checkpoints import last_entry
from tests.spark.kills.pipelines import PipelineProject

LATENESS = 3
BEGIN = 1_700_000_000
END = BEGIN + 1_000_000
"""Event times, which are those of files, in seconds."""
PATHS = {"keys": "//k", "first": "/a/@id"}
JOINS = {
    "pairs": "S//a->x[k->y] FOLLOWED BY{y = z, 12} S//b->w[k->z]",
    "lonely": "S//a->x[k->y] NOT FOLLOWED BY{y = z, 4} S//b->w[k->z]",
    "made": "SELECT <p k='{y}'>{x}</p> FROM S//a->x[k->y] JOIN{y = z, 2} S//c[k->z] PUBLISH P",
    "read": "P//p->p[@k->y] FOLLOWED BY{y = z, 5} S//b[k->z]",
}
CHANGING = "S//a->x[k->y] FOLLOWED BY{{y = z, {}}} S//c->w[k->z]"


def document(number: int) -> bytes:
    """Return a document, one in thirteen broken."""
    random = Random(number)
    name, end = random.choice("abc"), "" if number % 13 == 5 else ">"
    return f"<{name} id='{number}'><k>{random.randrange(3)}</k></{name}{end}".encode()


@dataclass
class JoiningPipelineProject(PipelineProject):
    """A pipeline whose batches are in its sinks first and then in the state of its joins."""

    sinks: Sequence[str] = ("parquet", "sqlite", "state")
    starts: int = field(default=0, init=False)

    stream = "S"
    more = f"lateness: {LATENESS}\n"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._queries = dict[bytes, Query]()
        for name, text in JOINS.items():
            self._registry.add(name, self._query(text))
        self._registry.add("changing", self._query(CHANGING.format(1)))

    def subscribe(self) -> None:
        """Make the registry."""
        self._registry = penstock.Registry.open(self.folder / "subscriptions")
        for name, text in PATHS.items():
            self._registry.add(name, text)

    def command(self, *, is_endless: bool) -> list[str]:
        """Return the command; each start finds other subscriptions."""
        self.starts += 1
        self._registry.replace("changing", self._query(CHANGING.format(1 + self.starts)))
        if not is_endless:
            self._put(self.files, b"<end/>", END)
            self.files += 1
        return super().command(is_endless=is_endless)

    def put(self, number: int) -> None:
        """Add a document with an event time of its own."""
        self._put(number, document(number), BEGIN + number)

    def _put(self, number: int, data: bytes, time: int) -> None:
        part = self.folder / "incoming" / f"{number:05}.xml"
        part.write_bytes(data)
        os.utime(part, (time, time))
        part.rename(self.folder / "inbox" / part.name)

    def holders_of(self, batch: int) -> tuple[str, ...]:
        """Return where a batch is complete: in sinks, as they take it down, and in the state."""
        state = self._state.folder / "manifests" / f"{batch}.json"
        has = {
            "parquet": any((self.folder / "out/parquet").glob(f"run=*/batch={batch}")),
            "sqlite": batch in batches_in(self.folder / "out/sqlite"),
            "state": state.exists(),
        }
        return tuple(kind for kind in self.sinks if has[kind])

    def expected(self) -> list[Row]:
        """Return what the engine finds, its subscriptions changing with the batches."""
        registry, changes = penstock.Registry(), self._changes()
        for name, text in PATHS.items():
            registry.add(name, text)
        names: dict[int, str] = {}

        def arrivals() -> Iterator[penstock.Document]:
            for batch in range(last_entry(self.checkpoint / "offsets") + 1):
                if batch in changes:
                    _apply(registry, changes[batch], names, self._queries)
                for path in sorted(self.documents_of(batch)):
                    modified = int(os.stat(path).st_mtime)
                    yield penstock.Document(Path(path), path, "S", modified)

        rows = penstock.Engine(registry, lateness=LATENESS).run(arrivals())
        found = [engine_row(row) for row in rows]
        assert len(changes) > 1, "no start found other subscriptions"
        assert {row[0] for row in found} >= {*PATHS, *JOINS, "changing"}
        return found

    def differences(self) -> dict[str, tuple[int, int]]:
        """Return by sink how many rows are lost and how many are there too often."""
        wanted = Counter(self.expected())
        tables = [kind for kind in self.sinks if kind != "state"]
        found = {kind: Counter(rows_in(kind, self.folder / "out" / kind)) for kind in tables}
        return {
            kind: ((wanted - rows).total(), (rows - wanted).total()) for kind, rows in found.items()
        }

    def _changes(self) -> dict[int, Changes]:
        state = self._state
        last = state.last()
        named = () if last is None else last.changes
        return {batch: read_changes(str(state.folder), batch) for batch, _ in named}

    @property
    def _state(self) -> State:
        stream = json.loads((self.checkpoint / "metadata").read_text("utf-8"))["id"]
        return State(self.folder / "out/checkpoint-joins" / stream)

    def _query(self, text: str) -> Query:
        query = penstock.xscl(text)
        self._queries[compile_program(query)] = query
        return query


def batches_in(path: Path) -> set[int]:
    """Return the batches that a database has, of a copy: opening a database repairs it."""
    if not path.exists():
        return set()
    with tempfile.TemporaryDirectory() as folder:
        for suffix in ("", "-wal"):
            if path.with_name(path.name + suffix).exists():
                shutil.copy(path.with_name(path.name + suffix), Path(folder, f"copy{suffix}"))
        with closing(sqlite3.connect(Path(folder, "copy"))) as database:
            tables = database.execute("SELECT name FROM sqlite_master").fetchall()
            if ("penstock_batches",) not in tables:
                return set()
            return {batch for (batch,) in database.execute("SELECT batch FROM penstock_batches")}


def _apply(
    registry: penstock.Registry,
    changes: Changes,
    names: dict[int, str],
    queries: dict[bytes, Query],
) -> None:
    for number in changes.removed:
        registry.remove(names[number])
    for one in changes.added:
        registry.add(one.name, queries[b64decode(one.program)])
        names[one.number] = one.name
