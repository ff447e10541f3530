"""Rounds of joins in this process, without Spark: the same tasks and the same driver.

A micro-batch on Spark takes a second, and properties need thousands. What Spark adds, the tests
beside this one show on Spark itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from penstock import Registry
from penstock.joins import JoinOptions
from penstock.limits import Limits
from penstock.results import Document
from penstock.results.documents import microseconds_of
from penstock.spark.joins.changes import Subscriptions
from penstock.spark.joins.joining import Joining
from penstock.spark.joins.rounds import Rounds
from penstock.spark.joins.state import State
from penstock.spark.joins.stream import Streaming

Row = dict[str, Any]
_INPUTS = pa.schema(
    [
        ("__document", pa.binary()),
        ("__id", pa.string()),
        ("__time", pa.timestamp("us", "UTC")),
        ("__stream", pa.string()),
    ]
)


class Frame:
    """Partitions of record batches that a function is run over."""

    def __init__(self, partitions: Sequence[Sequence[pa.RecordBatch]]) -> None:
        self.partitions = partitions
        self.sparkSession = Session

    def mapInArrow(self, work: Callable[..., Iterator[Any]], schema: str) -> Frame:  # noqa: N802
        return Frame([list(work(iter(batches))) for batches in self.partitions])

    def collect(self) -> list[tuple[Any, ...]]:
        batches = [batch for batches in self.partitions for batch in batches]
        return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]

    def limit(self, count: int) -> Frame:
        return self

    def toArrow(self) -> pa.Table:  # noqa: N802
        batches = [batch for batches in self.partitions for batch in batches]
        return pa.Table.from_batches(batches, _INPUTS)


class Session:
    """Gives frames of numbers."""

    @staticmethod
    def range(start: int, end: int, step: int, partitions: int) -> Frame:
        numbers = range(start, end, step)
        return Frame([[pa.RecordBatch.from_pydict({"id": [number]})] for number in numbers])


def frame_of(documents: Sequence[Document], partitions: int = 2) -> Frame:
    """Return documents as the tasks of a stream get them."""
    rows = [
        {
            "__document": one.data,
            "__id": str(one.id),
            "__time": _time_us(one),
            "__stream": one.stream,
        }
        for one in documents
    ]
    shares = [rows[start::partitions] for start in range(partitions)]
    return Frame([[pa.RecordBatch.from_pylist(share, _INPUTS)] for share in shares if share])


def _time_us(document: Document) -> int | None:
    """Return an event time, which may be one of Spark's that Penstock has not."""
    if document.time is None or isinstance(document.time, datetime):
        moment = document.event_time
        return None if moment is None else microseconds_of(moment)
    return round(document.time * 1_000_000)


class LocalJoins:
    """The joins of a stream whose batches are given one by one."""

    def __init__(self, folder: Path, registry: Registry, **options: Any) -> None:
        self.state = State(folder)
        self.found: dict[int, list[Row]] = {}
        settings: dict[str, Any] = {
            "lateness": None,
            "buckets": 4,
            "hash_bits": 64,
            "limits": Limits(),
            "into": lambda rows, number: self.found.update({number: rows}),
        } | options
        self._streaming = Streaming(
            LocalJoining(
                self.state,
                settings["lateness"],
                settings["limits"],
                settings["buckets"],
                settings["hash_bits"],
            ),
            Subscriptions(registry),
            settings["into"],
        )

    def batch(self, number: int, documents: Sequence[Document]) -> list[Row]:
        """Join a batch; return its rows."""
        self._streaming.batch(frame_of(documents), number)
        return self.found[number]


class LocalJoining(Joining):
    """Joining whose rounds need no Spark."""

    def rounds(self, *arguments: Any) -> Rounds:
        return _LocalRounds(*arguments, JoinOptions(self.lateness).lateness_us)


class _LocalRounds(Rounds):
    def _read(self, names: Sequence[str], *beside: str) -> Any:
        tables = [pq.read_table(Path(self.job.work, name)) for name in names]
        return _Rows([row for table in tables for row in table.to_pylist()])


class _Rows(list[Row]):
    def dropDuplicates(self, names: Sequence[str]) -> _Rows:  # noqa: N802
        return _Rows({tuple(row[name] for name in names): row for row in self}.values())

    def drop(self, name: str) -> _Rows:
        return _Rows([{key: row[key] for key in row if key != name} for row in self])

    def unionByName(self, other: _Rows) -> _Rows:  # noqa: N802
        return _Rows([*self, *other])
