"""Rows in a table of a SQLite file; a batch is one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.errors import SinkError
from penstock.results import Result
from penstock.sinks.base import Sink, WriteMode, known_mode, refusal
from penstock.sinks.tables import TYPES, checked_name, columns, moment, values
from penstock.storage import disk_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BATCHES = "penstock_batches"
_BUSY_SECONDS = 60.0
_ROWS_MAX = 1000
_EVENT_TIME, _ID = list(TYPES).index("event_time"), list(TYPES).index("id")

_Row = tuple[Any, ...]


class SqliteSink(Sink):
    """A table in a SQLite file.

    The transaction of a batch also records the batch, so a batch is in the table whole or not at
    all, and once however often it is written. All rows of a batch are kept; with ``upsert`` they
    take the place of the rows of earlier batches that have the same id. The driver writes.

    Raises:
        ValueError: The name of the table or the mode is not valid, or the file lies in an object
            store.
    """

    modes = ("upsert", "append", "overwrite", "fail")

    def __init__(
        self, path: str | Path, table: str = "results", write_mode: WriteMode | None = None
    ) -> None:
        on_disk = disk_path(path)
        if on_disk is None:
            raise ValueError(f"a SQLite file needs a disk, and {path} lies in a store")
        self.path = on_disk
        self.table = checked_name(table)
        self.write_mode = known_mode(type(self), write_mode)

    def begin(self, spark: SparkSession, run: str | None) -> None:
        """Refuse a run if there are rows of another one and the mode is ``fail``."""
        if self.write_mode != "fail" or not self.path.exists():
            return
        with closing(self._connected()) as database:
            try:
                query = f'SELECT 1 FROM "{self.table}" WHERE run IS NOT ? LIMIT 1'
                is_taken = database.execute(query, (run,)).fetchone() is not None
            except sqlite3.Error:
                return  # there is no such table yet, or writing will say what is wrong with it
        if is_taken:
            raise refusal(f"the table `{self.table}` in {self.path}")

    def write(self, rows: Iterable[Result], batch: int = 0, run: str = "default") -> int:
        """Write a batch of rows, unless it is there, and return how many were written."""
        return self._insert((values(row, batch, run) for row in rows), batch, run)

    def write_batch(self, rows: DataFrame, batch: int, run: str = "default") -> None:
        """Write a batch, unless it is there."""
        from pyspark.sql import functions

        # Spark's own conversion would depend on the time zone of this process.
        flat = rows.select(*columns(run, batch, event_time=functions.unix_micros("event_time")))

        def tuples() -> Iterator[_Row]:
            for row in flat.toLocalIterator():
                micros = row[_EVENT_TIME]
                text = None if micros is None else moment(micros)
                yield (*row[:_EVENT_TIME], text, *row[_EVENT_TIME + 1 :])

        self._insert(tuples(), batch, run)

    def _insert(self, rows: Iterable[_Row], batch: int, run: str) -> int:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._connected()) as database:
                database.execute("PRAGMA journal_mode = WAL")
                database.execute("BEGIN IMMEDIATE")
                # Leaving without a commit, by whatever exception, leaves the file as it was.
                count = self._insert_once(database, rows, batch, run)
                database.execute("COMMIT")
                return count
        except (sqlite3.Error, OSError) as error:
            message = f"the table `{self.table}` in {self.path} cannot be written: {error}"
            raise SinkError("PO0001", message) from error

    @property
    def _target(self) -> str:
        return self.table.lower()  # as SQLite reads it

    def _connected(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None)

    def _insert_once(
        self, database: sqlite3.Connection, rows: Iterable[_Row], batch: int, run: str
    ) -> int:
        self._create(database)
        known = f"SELECT 1 FROM {BATCHES} WHERE target = ? AND run = ? AND batch = ?"
        key = (self._target, run, batch)
        if database.execute(known, key).fetchone():
            return 0
        if self.write_mode == "overwrite":
            self._forget_others(database, run)
        replaced = f'DELETE FROM "{self.table}" WHERE id = ? AND NOT (run = ? AND batch = ?)'
        added = f'INSERT INTO "{self.table}" VALUES ({", ".join("?" * len(TYPES))})'
        count, rest = 0, iter(rows)
        while some := list(islice(rest, _ROWS_MAX)):
            if self.write_mode == "upsert":
                database.executemany(replaced, ((row[_ID], run, batch) for row in some))
            database.executemany(added, some)
            count += len(some)
        written = datetime.now(UTC).isoformat()
        database.execute(f"INSERT INTO {BATCHES} VALUES (?, ?, ?, ?, ?)", (*key, count, written))
        return count

    def _forget_others(self, database: sqlite3.Connection, run: str) -> None:
        others = (self._target, run)
        query = f"SELECT 1 FROM {BATCHES} WHERE target = ? AND run <> ? LIMIT 1"
        if database.execute(query, others).fetchone():
            database.execute(f'DELETE FROM "{self.table}" WHERE run <> ?', (run,))
            database.execute(f"DELETE FROM {BATCHES} WHERE target = ? AND run <> ?", others)

    def _create(self, database: sqlite3.Connection) -> None:
        declared = ", ".join(f'"{name}" {kind}' for name, kind in TYPES.items())
        database.execute(f'CREATE TABLE IF NOT EXISTS "{self.table}" ({declared})')
        present = [row[1] for row in database.execute(f'PRAGMA table_info("{self.table}")')]
        if present != list(TYPES):
            message = f"the table `{self.table}` in {self.path} has other columns; name another"
            raise SinkError("PO0003", message)
        index = f'"{self.table}_id" ON "{self.table}" (id)'
        database.execute(f"CREATE INDEX IF NOT EXISTS {index}")
        database.execute(
            f"CREATE TABLE IF NOT EXISTS {BATCHES} (target TEXT, run TEXT, batch INTEGER, "
            '"rows" INTEGER, written TEXT, PRIMARY KEY (target, run, batch))'
        )
