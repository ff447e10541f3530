"""DataFrames in this process, without Spark: as much of them as joins of a batch use.

Every task runs twice, as where one is repeated, and the second attempt counts. What a task is
given comes in an order of its own each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any
from zlib import crc32

import pyarrow as pa

Row = dict[str, Any]


class Column:
    """A column to sort by."""

    def __init__(self, name: str) -> None:
        self.name = name

    def desc(self) -> Column:
        return Column(f"-{self.name}")


class LocalFrame:
    """Partitions of rows, each in an order that nobody may rely on."""

    def __init__(self, random: Random, parts: Sequence[Sequence[Row]], schema: pa.Schema) -> None:
        self._random = random
        self._parts = [[*part] for part in parts]
        self._schema = schema

    def _with(self, parts: Sequence[Sequence[Row]]) -> LocalFrame:
        return LocalFrame(self._random, parts, self._schema)

    def mapInArrow(self, work: Callable[..., Iterator[Any]], schema: Any) -> LocalFrame:  # noqa: N802
        parts = []
        made = self._schema
        for rows in self._parts:
            for _ in range(2):
                # Batches of any size.
                size = self._random.choice((1, 3, 1000))
                cut = [rows[at : at + size] for at in range(0, len(rows), size)]
                batches = (pa.RecordBatch.from_pylist(one, self._schema) for one in cut)
                found = list(work(batches))
            parts.append([row for batch in found for row in batch.to_pylist()])
            made = found[0].schema if found else made
        return LocalFrame(self._random, parts, made)

    def localCheckpoint(self, eager: bool = True) -> LocalFrame:  # noqa: N802
        return self

    def where(self, condition: str) -> LocalFrame:
        match condition.split():
            case ["length(body)", "<=", most]:
                return self._with(
                    [[r for r in p if len(r["body"]) <= int(most)] for p in self._parts]
                )
            case [name, "=", value]:
                return self._with([[r for r in p if r[name] == value[1:-1]] for p in self._parts])
            case [name, "IS", "NULL"]:
                return self._with([[r for r in p if r[name] is None] for p in self._parts])
            case [name, "IS", "NOT", "NULL"]:
                return self._with([[r for r in p if r[name] is not None] for p in self._parts])
        raise AssertionError(condition)

    def select(self, *names: str) -> LocalFrame:
        def chosen(row: Row) -> Row:
            found: Row = {}
            for name in names:
                found |= row[name[:-2]] if name.endswith(".*") else {name: row[name]}
            return found

        fields = [self._schema.field(name) for name in names if not name.endswith(".*")]
        parts = [[chosen(row) for row in part] for part in self._parts]
        return LocalFrame(self._random, parts, pa.schema(fields))

    def unionAll(self, other: LocalFrame) -> LocalFrame:  # noqa: N802
        return self._with([*self._parts, *other._parts])

    def coalesce(self, count: int) -> LocalFrame:
        assert count == 1
        return self._with([self._shuffled(self._rows())])

    def repartition(self, count: int, name: str) -> LocalFrame:
        parts: list[list[Row]] = [[] for _ in range(count)]
        for row in self._shuffled(self._rows()):
            parts[crc32(str(row[name]).encode()) % count].append(row)
        return self._with(parts)

    def __getitem__(self, name: str) -> Column:
        return Column(name)

    def sortWithinPartitions(self, first: str, second: Column) -> LocalFrame:  # noqa: N802
        for part in self._parts:
            part.sort(key=lambda row: row[second.name[1:]], reverse=True)
            part.sort(key=lambda row: row[first])
        return self

    def dropDuplicates(self, names: Sequence[str]) -> LocalFrame:  # noqa: N802
        rows = {tuple(row[name] for name in names): row for row in self._rows()}
        return self._with([[*rows.values()]])

    def drop(self, name: str) -> LocalFrame:
        rows = [{key: row[key] for key in row if key != name} for row in self._rows()]
        return self._with([rows])

    def limit(self, count: int) -> LocalFrame:
        return self._with([self._rows()[:count]])

    def collect(self) -> list[Any]:
        return [tuple(row.values()) for row in self._rows()]

    def rows(self) -> list[Row]:
        """Return all rows by the names of their columns."""
        return self._rows()

    def _rows(self) -> list[Row]:
        return [row for part in self._parts for row in part]

    def _shuffled(self, rows: list[Row]) -> list[Row]:
        return self._random.sample(rows, len(rows))
