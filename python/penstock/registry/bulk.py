"""Many rows into the table of a durable registry, and into a plan at the same time."""

from __future__ import annotations

import sqlite3
from typing import Any

from penstock.registry.lines import CompiledChunk, CompiledLine, LineError
from penstock.registry.live import Row, Tier, TierBuilder
from penstock.registry.load import LoadReport
from penstock.registry.memory import name_is_taken

_COLUMNS = "name, language, text, options, mode, owner, delivery, program"


class BulkInsert:
    """Inserts chunks of lines as one version, inside a transaction of the caller."""

    def __init__(
        self, database: sqlite3.Connection, version: int, compiler: str, is_replacing: bool
    ) -> None:
        self.version = version
        self._database = database
        self._compiler = compiler
        self._is_replacing = is_replacing
        chosen = "SELECT coalesce(max(number), 0) FROM subscriptions"
        self._first: int = database.execute(chosen).fetchone()[0]
        self._last = self._first
        self._tier = TierBuilder()
        self._gone: list[int] = []
        marks = ", ".join("?" * (_COLUMNS.count(",") + 4))
        self._insert = (
            f"INSERT INTO subscriptions ({_COLUMNS}, number, compiler, position, added) "
            f"VALUES ({marks}, {version})"
        )

    @property
    def is_change(self) -> bool:
        """Whether anything was inserted."""
        return bool(self._last > self._first)

    def insert(self, chunk: CompiledChunk, report: LoadReport) -> None:
        """Insert the rows of a chunk; those whose names are taken are noted as errors."""
        first = self._last + 1
        rows = [self._row(line, first + place) for place, line in enumerate(chunk.rows)]
        self._database.execute("SAVEPOINT chunk")
        try:
            self._database.executemany(self._insert, rows)
        except sqlite3.IntegrityError:
            # Some name is taken; which one, the rows tell one by one.
            self._database.execute("ROLLBACK TO chunk")
            self._insert_singly(chunk, report)
        else:
            self._last += len(rows)
            report.added += len(rows)
            self._tier.add([Row(first + at, row[0], row[7]) for at, row in enumerate(chunk.rows)])
        self._database.execute("RELEASE chunk")

    def finish(self) -> tuple[Tier, list[int]]:
        """Return the tier of what was inserted, and the serials of what it replaced."""
        return self._tier.finish(), self._gone

    def _row(self, line: CompiledLine, number: int, position: int | None = None) -> tuple[Any, ...]:
        return (*line, number, self._compiler, self.version if position is None else position)

    def _insert_singly(self, chunk: CompiledChunk, report: LoadReport) -> None:
        taken = "SELECT number, position FROM subscriptions WHERE name = ? AND removed IS NULL"
        ended = "UPDATE subscriptions SET removed = ? WHERE number = ?"
        for line_number, line in zip(chunk.numbers, chunk.rows, strict=True):
            found = self._database.execute(taken, (line.name,)).fetchone()
            if found is not None and not self._is_replacing:
                report.note(LineError.of(line_number, name_is_taken(line.name)))
                continue
            position = None
            if found is not None:
                number, position = found
                self._database.execute(ended, (self.version, number))
                self._gone.append(number)
            self._last += 1
            self._database.execute(self._insert, self._row(line, self._last, position))
            self._tier.add([Row(self._last, line.name, line.program)])
            report.added, report.replaced = (
                report.added + (found is None),
                report.replaced + (found is not None),
            )
