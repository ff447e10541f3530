"""Rows in a SQL table, each once: SQLite by itself, every other database through JDBC.

The id of a result is unique in the table. Lists, maps and the fault of a document become text
and plain columns, since few databases have anything else in common.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.errors import SinkError
from penstock.results import Result
from penstock.sinks.base import Sink

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

TYPES = {
    "subscription": "TEXT",
    "stream": "TEXT",
    "document": "TEXT NOT NULL",
    "documents": "TEXT",
    "ordinal": "INTEGER NOT NULL",
    "kind": "TEXT NOT NULL",
    "name": "TEXT",
    "value": "TEXT",
    "start": "INTEGER",
    "end": "INTEGER",
    "decided_at": "INTEGER",
    "event_time": "TEXT",
    "bindings": "TEXT",
    "error_code": "TEXT",
    "error_reason": "TEXT",
    "error_byte": "INTEGER",
    "error_line": "INTEGER",
    "error_path": "TEXT",
    "source": "BLOB",
}
"""The columns of the table, as SQLite declares them."""

BATCHES = "penstock_batches"
_KEYS = ("subscription", "document", "ordinal")
_TABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BUSY_SECONDS = 60.0
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class SqliteSink(Sink):
    """A table in a SQLite file.

    A batch is one transaction that also records the batch, so a batch is in the table whole or
    not at all, and once however often it is written. The driver writes it.

    Raises:
        ValueError: The table's name is none.
    """

    def __init__(self, path: str | Path, table: str = "results") -> None:
        self.path = Path(path)
        self.table = _checked(table)

    def write(self, rows: Iterable[Result], batch: int = 0, run: str = "default") -> int:
        """Add a batch of rows, unless it is there, and return how many are new."""
        return self._insert((_values(row) for row in rows), batch, run)

    def write_batch(self, rows: DataFrame, batch: int, run: str = "default") -> None:
        """Add a batch, unless it is there."""
        from pyspark.sql import functions

        micros = functions.unix_micros("event_time")
        flat = rows.select(*_columns({"event_time": micros}))
        place = list(TYPES).index("event_time")

        def values() -> Iterator[tuple[Any, ...]]:
            for row in flat.toLocalIterator():
                found = list(row)
                if found[place] is not None:
                    # Spark's own conversion would depend on the time zone of this process.
                    found[place] = _moment(found[place])
                yield tuple(found)

        self._insert(values(), batch, run)

    def _insert(self, rows: Iterable[tuple[Any, ...]], batch: int, run: str) -> int:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(
                sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None)
            ) as database:
                database.execute("PRAGMA journal_mode = WAL")
                database.execute("BEGIN IMMEDIATE")
                # Leaving without a commit, by whatever exception, leaves the file as it was.
                count = self._insert_once(database, rows, batch, run)
                database.execute("COMMIT")
                return count
        except (sqlite3.Error, OSError) as error:
            message = f"the table `{self.table}` in {self.path} cannot be written: {error}"
            raise SinkError("PO0001", message) from error

    def _insert_once(
        self, database: sqlite3.Connection, rows: Iterable[tuple[Any, ...]], batch: int, run: str
    ) -> int:
        self._create(database)
        known = f"SELECT 1 FROM {BATCHES} WHERE target = ? AND run = ? AND batch = ?"
        key = (self.table, run, batch)
        if database.execute(known, key).fetchone():
            return 0
        before = database.total_changes
        marks = ", ".join("?" * len(TYPES))
        database.executemany(f'INSERT OR IGNORE INTO "{self.table}" VALUES ({marks})', rows)
        count = database.total_changes - before
        written = datetime.now(UTC).isoformat()
        database.execute(f"INSERT INTO {BATCHES} VALUES (?, ?, ?, ?, ?)", (*key, count, written))
        return count

    def _create(self, database: sqlite3.Connection) -> None:
        columns = ", ".join(f'"{name}" {kind}' for name, kind in TYPES.items())
        database.execute(f'CREATE TABLE IF NOT EXISTS "{self.table}" ({columns})')
        found = [row[1] for row in database.execute(f'PRAGMA table_info("{self.table}")')]
        if found != list(TYPES):
            message = f"the table `{self.table}` in {self.path} has other columns"
            raise SinkError("PO0003", message)
        # A failed document has no subscription, and nulls are never equal.
        key = "coalesce(subscription, ''), document, ordinal"
        index = f'"{self.table}_id" ON "{self.table}" ({key})'
        database.execute(f"CREATE UNIQUE INDEX IF NOT EXISTS {index}")
        database.execute(
            f"CREATE TABLE IF NOT EXISTS {BATCHES} (target TEXT, run TEXT, batch INTEGER, "
            '"rows" INTEGER, written TEXT, PRIMARY KEY (target, run, batch))'
        )


class JdbcSink(Sink):
    """A table that Spark's JDBC writer reaches; ``options`` are those of the writer.

    A batch that is written again adds only the rows that are missing: those of the batch that
    are there are read first. One pipeline writes to the table at a time. A table that is missing
    is made with Spark's types; make it beforehand for others, or for a primary key.

    Raises:
        ValueError: The table's name is none.
    """

    def __init__(
        self, url: str, table: str = "results", options: Mapping[str, str] | None = None
    ) -> None:
        self.url = url
        self.table = _checked(table)
        self.options = dict(options or {})

    @property
    def place(self) -> str:
        """The address without what may be secret in it."""
        return re.sub(r"//[^/@]*@", "//", re.split(r"[?;]", self.url)[0])

    def write_batch(self, rows: DataFrame, batch: int, run: str = "default") -> None:
        """Add the rows of a batch that are not there."""
        from pyspark.sql import functions

        flat = rows.select(
            *_columns({}), functions.lit(run).alias("run"), functions.lit(batch).alias("batch")
        )
        there = self._there(rows, batch, run)
        if there is not None:
            flat = flat.join(there, _is_same(flat, there), "left_anti")
        # Spark's type for text is one that not every database compares.
        writer = flat.write.format("jdbc").mode("append")
        writer = writer.option("createTableColumnTypes", "run VARCHAR(100)")
        writer = writer.options(**self.options)
        try:
            writer.option("url", self.url).option("dbtable", self.table).save()
        except Exception as error:
            message = f"the table `{self.table}` at {self.place} cannot be written: {_first(error)}"
            raise SinkError("PO0001", message) from error

    def _there(self, rows: DataFrame, batch: int, run: str) -> DataFrame | None:
        """Return the ids of a batch that are in the table, or None if there is no table."""
        reader = rows.sparkSession.read.format("jdbc").options(**self.options)
        try:
            table = reader.option("url", self.url).option("dbtable", self.table).load()
        except Exception:
            # No two databases say in the same way that there is no table. If it is something
            # else, writing fails of the same.
            return None
        return table.where((table["batch"] == batch) & (table["run"] == run)).select(*_KEYS)


def _is_same(flat: DataFrame, there: DataFrame) -> Column:
    same = flat["subscription"].eqNullSafe(there["subscription"])
    return same & (flat["document"] == there["document"]) & (flat["ordinal"] == there["ordinal"])


def _columns(instead: Mapping[str, Column]) -> list[Column]:
    """Return the columns of the table, made of those of the rows."""
    from pyspark.sql import functions

    found = []
    for name in TYPES:
        if name in instead:
            column = instead[name]
        elif name in ("documents", "bindings"):
            column = functions.to_json(name)
        elif name.startswith("error_"):
            column = functions.col(f"error.{name.removeprefix('error_')}")
        else:
            column = functions.col(name)
        found.append(column.alias(name))
    return found


def _values(row: Result) -> tuple[Any, ...]:
    fault = row.error
    return (
        row.subscription,
        row.stream,
        row.document,
        None if row.documents is None else _json(row.documents),
        row.ordinal,
        row.kind,
        row.name,
        row.value,
        row.start,
        row.end,
        row.decided_at,
        None if row.event_time is None else _moment(_micros(row.event_time)),
        None if row.bindings is None else _json(row.bindings),
        *(
            (None,) * 5
            if fault is None
            else (fault.code, fault.reason, fault.byte, fault.line, fault.path)
        ),
        row.source,
    )


def _json(value: Any) -> str:
    plain = dict(value) if isinstance(value, Mapping) else list(value)
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def _micros(moment: datetime) -> int:
    passed = moment - _EPOCH
    return (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds


def _moment(micros: int) -> str:
    seconds, rest = divmod(micros, 1_000_000)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest).isoformat()


def _first(error: Exception) -> str:
    """Return the first line of an error that says something."""
    lines = [line.strip(" :") for line in str(error).splitlines()]
    said = [line for line in lines if line and not line.startswith("An error occurred while")]
    return said[0] if said else type(error).__name__


def _checked(table: str) -> str:
    if not _TABLE.fullmatch(table):
        raise ValueError(f"a table's name is letters, digits and _, not {table!r}")
    return table
