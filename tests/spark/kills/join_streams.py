"""A stream of ``join_stream`` that is killed while its subscriptions change."""

from __future__ import annotations

from base64 import b64decode
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.dataset as ds
import pyarrow.parquet as pq

import penstock
from penstock.planning.programs import compile_program
from penstock.results import Document
from penstock.spark.joins.changes import read_changes
from penstock.spark.joins.state import State
from penstock.twigs import Query
from tests.spark.joins.helpers.cases import END, identities
from tests.spark.joins.helpers.driver import LATENESS
from tests.spark.joins.helpers.streams import write_batch
from tests.spark.kills.checkpoints import committed, files_of_batches

FILES_AHEAD = 12
"""So many files wait when the driver starts, one for each batch."""
FILE_DOCUMENTS = 20
QUERIES = {
    "pairs": "S//a->x[k->y] FOLLOWED BY{y = z, 12} S//b->w[k->z]",
    "both": "S//a->x[k->y][m->m] JOIN{y = z AND m = n, 20} S//b->w[k->z][m->n]",
    "lonely": "S//a->x[k->y] NOT FOLLOWED BY{y = z, 4} S//b->w[k->z]",
    "chain": "S//a->x[k->y] FOLLOWED BY{y = z, 6} S//b[k->z] NOT FOLLOWED BY{z = u, 3} S//c[k->u]",
    "made": "SELECT <p k='{y}'>{x}</p> FROM S//a->x[k->y] JOIN{y = z, 2} S//c[k->z] PUBLISH P",
    "read": "P//p->p[@k->y] FOLLOWED BY{y = z, 5} S//b[k->z]",
}
OVER_STREAMS = """
    for $a in stream("S")//a, $d in stream("T")//d where $a/k = $d/k and $a/m <= $d/m
    return <m>{string($a/k)}</m>
"""
"""Within a few seconds."""
CHANGING = "S//a->x[k->y] FOLLOWED BY{{y = z, {}}} S//c->w[k->z]"


def documents_of(number: int) -> list[Document]:
    """Return the documents of a file, nearly in order of time."""
    random, made = Random(number), []
    for one in range(number * FILE_DOCUMENTS, (number + 1) * FILE_DOCUMENTS):
        name, key, kind = random.choice("abcd"), random.randrange(40), random.randrange(3)
        xml = f"<{name}><k>{key}</k><m>{kind}</m></{name}>".encode()
        time = one / 10 + random.uniform(0, LATENESS - 1)
        made.append(Document(xml, f"d{one}", "T" if name == "d" else "S", time))
    return made


def queries_of(starts: int) -> dict[str, penstock.Query]:
    """Return the subscriptions after so many starts, by name."""
    queries = {name: penstock.xscl(text) for name, text in QUERIES.items()}
    queries["streams"] = penstock.xquery(OVER_STREAMS, within="9 s")
    return queries | {"changing": penstock.xscl(CHANGING.format(1 + starts))}


@dataclass
class JoinProject:
    """A folder with documents, a registry, the state of the joins and Parquet files of rows.

    A batch is in two places: its rows are written first, then its state. So the state counts as
    the second sink.
    """

    folder: Path
    sinks: Sequence[str] = ("rows", "state")
    exit_code: int = 0
    starts: int = 0
    files: int = 0

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._registry = penstock.Registry.open(self.folder / "registry")
        self._queries = dict[bytes, Query]()
        for name, query in queries_of(0).items():
            self._registry.add(name, self._known(query))

    @property
    def checkpoint(self) -> Path:
        """Where the stream keeps how far it came."""
        return self.folder / "state" / "checkpoint"

    def command(self, *, is_endless: bool) -> list[str]:
        """Return the arguments of the driver; each start finds other subscriptions."""
        self.starts += 1
        changing = self._known(queries_of(self.starts)["changing"])
        self._registry.replace("changing", changing)
        if not is_endless:
            write_batch(self.folder / "in", self.files, [Document(b"<end/>", "end", "S", END)])
            self.files += 1
        return ["tests.spark.joins.helpers.driver", str(self.folder)]

    def feed(self) -> None:
        """Add documents; the driver reads those that are there when it starts."""
        while self.files < committed(self.checkpoint) + FILES_AHEAD:
            write_batch(self.folder / "in", self.files, documents_of(self.files))
            self.files += 1

    def holders_of(self, batch: int) -> tuple[str, ...]:
        """Return where a batch is complete: its rows, its state."""
        places = {
            "rows": self.folder / "out" / f"batch={batch}" / "_SUCCESS",
            "state": self.folder / "state" / "manifests" / f"{batch}.json",
        }
        return tuple(name for name, path in places.items() if path.exists())

    def expected(self) -> list[tuple[Any, ...]]:
        """Return what the engine finds, its subscriptions changing with the batches."""
        state = State(self.folder / "state")
        last = state.last()
        assert last is not None, "there was a batch"
        changes = {number: read_changes(str(state.folder), number) for number, _ in last.changes}
        registry = penstock.Registry()
        names: dict[int, str] = {}

        def arrivals() -> Iterator[Document]:
            for number, files in files_of_batches(self.checkpoint).items():
                if number in changes:
                    for removed in changes[number].removed:
                        registry.remove(names[removed])
                    for added in changes[number].added:
                        registry.add(added.name, self._queries[b64decode(added.program)])
                        names[added.number] = added.name
                for file in files:
                    for row in pq.read_table(file).to_pylist():
                        yield Document(row["xml"], row["id"], row["stream"], row["ts"])

        rows = identities(penstock.Engine(registry, lateness=LATENESS).run(arrivals()))
        assert len(changes) > 1, "no start found other subscriptions"
        assert {row[0] for row in rows} >= {*queries_of(0)}
        return rows

    def _known(self, query: Query) -> Query:
        """Return a query that is found again by its program, which is all that changes keep."""
        self._queries[compile_program(query)] = query
        return query

    def differences(self) -> dict[str, tuple[int, int]]:
        """Return how many rows are lost and how many are there too often."""
        table = ds.dataset(str(self.folder / "out"), format="parquet", partitioning="hive")
        found, wanted = Counter(identities(table.to_table().to_pylist())), Counter(self.expected())
        return {"rows": ((wanted - found).total(), (found - wanted).total())}
