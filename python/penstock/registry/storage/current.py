"""The plan of a durable registry's current version: a mapped base, and what changed since.

To follow the table is to read the rows that came or went after the version at hand, whichever
process made the changes; its cost is that of the changes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from pathlib import Path
from zlib import crc32

from penstock.errors import DamageError, RegistryError
from penstock.registry.plans.bases import newest_base, read_base, write_base
from penstock.registry.plans.live import LivePlan, Row, Tier, build_tier
from penstock.registry.storage.checksums import TableRow, VersionRow, damaged
from penstock.registry.storage.store import Store
from penstock.registry.storage.table import (
    program_of,
    read_version,
    rows_are_missing,
    rows_between,
    rows_in,
)
from penstock.registry.subscriptions import Snapshot


class CurrentPlan:
    """Follows the table of a store. All methods need the store's lock."""

    def __init__(self, store: Store, folder: Path, compiler: str) -> None:
        self._store = store
        self._folder = folder
        self._compiler = compiler
        self._version = -1
        self._last = 0
        """The number of the last row that was read."""
        self._active = self._total = 0
        """How many subscriptions the tiers hold, and what their numbers add up to."""
        self._read_version = -1
        """The version of the rows that a merge reads."""
        self._live: LivePlan | None = None
        self._base: Tier | None = None
        self._snapshot: Snapshot | None = None

    def snapshot(self, version: int) -> Snapshot:
        """Return the snapshot of the current version, brought up to it."""
        if self._snapshot is None or self._snapshot.version != version:
            live = self.live(version)
            self._snapshot = Snapshot(version, *live.plan())
            live.merge_in_background(self._swapped)
        return self._snapshot

    def compact(self, version: int) -> Snapshot:
        """Return the same with everything in one base, which is written for others."""
        live = self.live(version)
        base = live.compact()
        if base is not self._base:
            self._base = base
            self._written(base, version)
        self._snapshot = Snapshot(version, *live.plan())
        return self._snapshot

    def extend(self, version: int, added: Tier, gone: Collection[int]) -> None:
        """Take over what a transaction did that made one version of the one at hand."""
        live = self._live
        assert live is not None, "it was brought up to the version before"
        self._version, self._snapshot = version, None
        if added.serials:
            self._last = added.serials[-1]
            if live.base is None and not gone:
                added = self._base = self._written(added, version)
            live.append(added)
            self._active += len(added.serials)
            self._total += sum(added.serials)
        for serial in gone:
            live.remove(serial)
        self._active -= len(gone)
        self._total -= sum(gone)
        goal = self._version_row(version)
        if (self._active, self._total) != (goal.active, goal.total):
            # Another process made a version between the one at hand and this one.
            self.forget()

    def live(self, version: int) -> LivePlan:
        """Return the tiers of the current version, brought up to it.

        Raises:
            DamageError: Rows are damaged or missing.
        """
        if self._live is None or version < self._version:
            return self._open(version)
        if version > self._version:
            try:
                self._follow(self._live, version)
            except DamageError:
                # What is at hand may be at fault, and not the table.
                return self._open(version)
        return self._live

    def forget(self) -> None:
        """Start anew from the table with the next call."""
        self._live = self._snapshot = self._base = None
        self._version = -1

    def rows(self, version: VersionRow) -> Iterator[Row]:
        """Yield the rows of a version, in the order of their numbers.

        Raises:
            DamageError: Rows are damaged or missing.
        """
        with self._store.read() as database:
            yield from map(self._row, rows_in(database, version))

    def stamp(self, version: int) -> str | None:
        """Return what tells this version from others of its number, and who compiled for it."""
        with self._store.read() as database:
            row = read_version(database, version)
        if row is None:
            return None
        return f"{round(row.time * 1e6):x}-{crc32(self._compiler.encode()):08x}"

    def _open(self, version: int) -> LivePlan:
        self.forget()
        found = newest_base(self._folder, version, self.stamp)
        if found is not None:
            with contextlib.suppress(DamageError):
                return self._begin(*found, version)
        tier = build_tier(self.rows(self._version_row(version)))
        return self._begin(version, self._written(tier, version), version)

    def _begin(self, base_version: int, base: Tier, version: int) -> LivePlan:
        """Begin with a base and bring it up to a version."""
        live = LivePlan(self._store.lock, self._rows_between, base)
        self._version, self._base = base_version, base
        self._last = base.serials[-1] if base.serials else 0
        self._active, self._total = len(base.serials), sum(base.serials)
        # Even the base of this very version may lack rows that were in other tiers.
        self._follow(live, version)
        self._live = live
        return live

    def _follow(self, live: LivePlan, version: int) -> None:
        gone = (
            "SELECT number FROM subscriptions"
            " WHERE removed > :since AND removed <= :version AND number <= :last"
        )
        values = {"since": self._version, "version": version, "last": self._last}
        goal = self._version_row(version)
        with self._store.read() as database:
            for (number,) in database.execute(gone, values).fetchall():
                live.remove(number)
                self._active, self._total = self._active - 1, self._total - number
            for row in rows_between(database, self._last + 1, goal.numbers, version):
                live.add(self._row(row))
                self._active, self._total = self._active + 1, self._total + row.number
                self._last = row.number
        if (self._active, self._total) != (goal.active, goal.total):
            raise rows_are_missing(goal)
        self._version = version

    def _version_row(self, version: int) -> VersionRow:
        with self._store.read() as database:
            row = read_version(database, version)
        if row is None:
            raise damaged(f"version {version} is missing from the database")
        return row

    def _rows_between(self, first: int, last: int) -> Iterator[Row]:
        self._read_version = self._version
        return self._read_apart(first, last, self._version)

    def _read_apart(self, first: int, last: int, version: int) -> Iterator[Row]:
        with self._store.apart() as database:
            yield from map(self._row, rows_between(database, first, last, version))

    def _row(self, row: TableRow) -> Row:
        return Row(row.number, row.name, program_of(row, self._compiler))

    def _swapped(self) -> None:
        """Take note that tiers were merged; a new base is written for other processes."""
        with self._store.lock:
            self._snapshot = None
            base = None if self._live is None else self._live.base
            if base is None or base is self._base:
                return
            self._base, version = base, self._read_version
        self._written(base, version)

    def _written(self, base: Tier, version: int) -> Tier:
        """Write a base for others, and return it as it is mapped from its file.

        It lacks what was removed up to the version; what it lacks of later rows, others find.
        Where it cannot be written, others build it themselves.
        """
        with contextlib.suppress(OSError, RegistryError):
            stamp = self.stamp(version)
            if stamp is not None and base.serials:
                return read_base(write_base(self._folder, version, stamp, base))
        return base
