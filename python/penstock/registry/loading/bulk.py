"""Bulk inserts into the table of a durable registry, planned at the same time."""

from __future__ import annotations

from penstock.registry.loading.lines import CompiledChunk, LineError
from penstock.registry.loading.load import LoadReport
from penstock.registry.plans.tiers import PlannedSubscription, Tier, TierBuilder
from penstock.registry.storage.table import TableChange
from penstock.registry.subscriptions import name_is_taken


class BulkInsert:
    """Inserts chunks of lines as one version, inside a transaction of the caller."""

    def __init__(self, change: TableChange, is_replacing: bool) -> None:
        self._change = change
        self._is_replacing = is_replacing
        self._first = change.last_number
        self._tier = TierBuilder()
        self._replaced: list[int] = []

    @property
    def is_change(self) -> bool:
        """Whether anything was inserted."""
        return self._change.last_number > self._first

    def insert(self, chunk: CompiledChunk, report: LoadReport) -> None:
        """Insert the lines of a chunk; lines whose names are taken are noted as errors."""
        change, first = self._change, self._change.last_number + 1
        if change.add_all(chunk.lines):
            report.added += len(chunk.lines)
            version, lines = change.version, enumerate(chunk.lines, first)
            self._tier.add([(at, version, line.name, line.program) for at, line in lines])
        else:
            self._insert_singly(chunk, report)

    def finish(self) -> tuple[Tier, list[int]]:
        """Return the tier of the inserted subscriptions, and the serials of those they replaced."""
        return self._tier.finish(), self._replaced

    def _insert_singly(self, chunk: CompiledChunk, report: LoadReport) -> None:
        change, version = self._change, self._change.version
        added = []
        for line_number, line in zip(chunk.numbers, chunk.lines, strict=True):
            place = version
            taken = change.add((place, *line))
            if taken is None:
                report.added += 1
            elif self._is_replacing:
                ended = change.end(line.name)
                assert ended is not None, "the name is taken"
                place = ended.position
                change.add((place, *line))
                self._replaced.append(taken)
                report.replaced += 1
            else:
                report.note(LineError.of(line_number, name_is_taken(line.name)))
                continue
            added.append(PlannedSubscription(change.last_number, place, line.name, line.program))
        self._tier.add(added)
