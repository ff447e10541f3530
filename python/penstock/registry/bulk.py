"""Many rows into the table of a durable registry, and into a plan at the same time."""

from __future__ import annotations

from typing import Any

from penstock.registry.lines import CompiledChunk, LineError
from penstock.registry.live import Row, Tier, TierBuilder
from penstock.registry.load import LoadReport
from penstock.registry.memory import name_is_taken
from penstock.registry.table import TableChange


class BulkInsert:
    """Inserts chunks of lines as one version, inside a transaction of the caller."""

    def __init__(self, change: TableChange, compiler: str, is_replacing: bool) -> None:
        self._change = change
        self._compiler = compiler
        self._is_replacing = is_replacing
        self._first = change.last_number
        self._tier = TierBuilder()
        self._gone: list[int] = []

    @property
    def is_change(self) -> bool:
        """Whether anything was inserted."""
        return self._change.last_number > self._first

    def insert(self, chunk: CompiledChunk, report: LoadReport) -> None:
        """Insert the rows of a chunk; those whose names are taken are noted as errors."""
        find, version = self._change.find, self._change.version
        names: set[str] = set()
        rows: list[tuple[Any, ...]] = []
        for line_number, line in zip(chunk.numbers, chunk.rows, strict=True):
            # A name that the chunk itself brings is found once its rows are inserted.
            if line.name in names:
                self._flush(rows)
                rows, names = [], set()
            number, position = find(line.name), version
            if number is None:
                report.added += 1
            elif self._is_replacing:
                position = self._change.end(line.name, number).position
                self._gone.append(number)
                report.replaced += 1
            else:
                report.note(LineError.of(line_number, name_is_taken(line.name)))
                continue
            names.add(line.name)
            rows.append((position, *line))
        self._flush(rows)

    def finish(self) -> tuple[Tier, list[int]]:
        """Return the tier of what was inserted, and the serials of what it replaced."""
        return self._tier.finish(), self._gone

    def _flush(self, rows: list[tuple[Any, ...]]) -> None:
        first = self._change.last_number + 1
        self._change.add(rows, self._compiler)
        self._tier.add([Row(first + at, row[1], row[8]) for at, row in enumerate(rows)])
