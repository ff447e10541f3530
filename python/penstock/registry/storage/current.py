"""The plan of a durable registry's current version: a mapped base, and the changes since.

Following the table means reading the rows that were added or removed after the version at hand,
whichever process made the changes. The cost depends on the changes alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from pathlib import Path

from penstock.errors import DamageError, RegistryError
from penstock.registry.plans.bases import newest_base, write_base
from penstock.registry.plans.files import BASE_SUFFIX
from penstock.registry.plans.live import LivePlan
from penstock.registry.plans.tiers import PlannedSubscription, Tier, build_tier
from penstock.registry.storage.checksums import TableRow, VersionRow
from penstock.registry.storage.store import Store
from penstock.registry.storage.table import (
    existing_version,
    name_of_version,
    plan_name,
    program_of,
    read_version,
    rows_are_missing,
    rows_between,
    rows_in,
)
from penstock.registry.subscriptions import Snapshot


class CurrentPlan:
    """Follows the table of a store. All methods need the store's lock."""

    def __init__(self, store: Store, folder: Path) -> None:
        self._store = store
        self._folder = folder
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
        """Return the snapshot of the current version."""
        if self._snapshot is None or self._snapshot.version != version:
            live = self.live(version)
            self._snapshot = Snapshot(version, *live.plan())
            live.merge_in_background(self._swapped)
        return self._snapshot

    def compact(self, version: int) -> Snapshot:
        """Return a snapshot with everything in one base, which is written for other processes."""
        live = self.live(version)
        base = live.compact()
        if base is not self._base:
            self._base = base
            self._written(base, version)
        self._snapshot = Snapshot(version, *live.plan())
        return self._snapshot

    def extend(self, version: int, added: Tier, removed: Collection[int]) -> None:
        """Apply the changes of a transaction that made ``version`` of the version at hand."""
        live = self._live
        assert live is not None, "the version before is at hand"
        self._version, self._snapshot = version, None
        if added.serials:
            self._last = added.serials[-1]
            if live.base is None and not removed:
                added = self._base = self._written(added, version)
            live.append(added)
            self._active += len(added.serials)
            self._total += sum(added.serials)
        for serial in removed:
            live.remove(serial)
        self._active -= len(removed)
        self._total -= sum(removed)
        goal = self.version_row(version)
        if (self._active, self._total) != (goal.active, goal.total):
            # Another process made a version between the one at hand and this one.
            self.forget()

    def live(self, version: int) -> LivePlan:
        """Return the tiers of the current version.

        Raises:
            DamageError: Rows are damaged or missing.
        """
        if self._live is None or version < self._version:
            return self._open(version)
        if version > self._version:
            try:
                self._follow(self._live, version)
            except DamageError:
                # The tiers may be wrong, and not the table.
                return self._open(version)
        return self._live

    def forget(self) -> None:
        """Drop everything; the next call reads the table again."""
        self._live = self._snapshot = self._base = None
        self._version = -1

    def build(self, version: int) -> Tier:
        """Return a version planned in one tier.

        Raises:
            DamageError: Rows are damaged or missing.
            RegistryError: There is no such version yet.
        """
        row = self.version_row(version)
        with self._store.read() as database:
            return build_tier(map(_planned, rows_in(database, row)))

    def version_row(self, version: int) -> VersionRow:
        """Return the row of a version.

        Raises:
            DamageError: It is damaged or missing.
            RegistryError: There is no such version yet.
        """
        with self._store.read() as database:
            return existing_version(database, version)

    def _open(self, version: int) -> LivePlan:
        self.forget()
        base = newest_base(self._folder, version, self._base_name)
        if base is not None:
            with contextlib.suppress(DamageError):
                return self._begin(*base, version)
        return self._begin(version, self._written(self.build(version), version), version)

    def _begin(self, base_version: int, base: Tier, version: int) -> LivePlan:
        """Start from a base and apply the changes up to a version."""
        live = LivePlan(self._store.lock, self._read_between, base)
        self._version, self._base = base_version, base
        self._last = base.serials[-1] if base.serials else 0
        self._active, self._total = len(base.serials), sum(base.serials)
        # Even the base of this version may lack rows that were in other tiers.
        self._follow(live, version)
        self._live = live
        return live

    def _follow(self, live: LivePlan, version: int) -> None:
        removed = (
            "SELECT number FROM subscriptions"
            " WHERE removed > :since AND removed <= :version AND number <= :last"
        )
        values = {"since": self._version, "version": version, "last": self._last}
        goal = self.version_row(version)
        with self._store.read() as database:
            for (number,) in database.execute(removed, values).fetchall():
                live.remove(number)
                self._active, self._total = self._active - 1, self._total - number
            for row in rows_between(database, self._last + 1, goal.numbers, version):
                live.add(_planned(row))
                self._active, self._total = self._active + 1, self._total + row.number
                self._last = row.number
        if (self._active, self._total) != (goal.active, goal.total):
            raise rows_are_missing(goal)
        self._version = version

    def _base_name(self, version: int) -> str | None:
        with self._store.read() as database:
            row = read_version(database, version)
        return None if row is None else plan_name(name_of_version(row), BASE_SUFFIX)

    def _read_between(self, first: int, last: int) -> Iterator[PlannedSubscription]:
        self._read_version = self._version
        return self._read_apart(first, last, self._version)

    def _read_apart(self, first: int, last: int, version: int) -> Iterator[PlannedSubscription]:
        with self._store.apart() as database:
            yield from map(_planned, rows_between(database, first, last, version))

    def _swapped(self) -> None:
        """Called after a merge: a new base is written for other processes."""
        with self._store.lock:
            self._snapshot = None
            base = None if self._live is None else self._live.base
            if base is None or base is self._base:
                return
            self._base, version = base, self._read_version
        self._written(base, version)

    def _written(self, base: Tier, version: int) -> Tier:
        """Write a base for other processes, and return it mapped from its file.

        It has nothing that was removed up to the version; readers find the rows it lacks in the
        table. If it cannot be written, other processes build it themselves.
        """
        with contextlib.suppress(OSError, RegistryError):
            name = self._base_name(version)
            if name is not None and base.serials:
                return write_base(self._folder / name, base)
        return base


def _planned(row: TableRow) -> PlannedSubscription:
    return PlannedSubscription(row.number, row.position, row.name, program_of(row))
