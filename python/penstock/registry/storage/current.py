"""The plan of a durable registry's current version: mapped tiers, and the changes since.

Following the table means reading the rows that were added or removed after the version at hand,
whichever process made the changes. The cost depends on the changes alone. The tiers at the
beginning are those published last, if streams follow the registry, or else a base.

All processes publish tiers of one line: each goes on with those that were published last. If every
process published its own, workers would fetch the large ones again whenever another one changes
something.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from pathlib import Path

from penstock.errors import DamageError, RegistryError
from penstock.registry.plans.bases import newest_base, write_base
from penstock.registry.plans.files import BASE_SUFFIX
from penstock.registry.plans.live import SMALL_MAX, LivePlan
from penstock.registry.plans.pins import Pins, VersionName
from penstock.registry.plans.published import PublishedPlans
from penstock.registry.plans.tiers import PlannedSubscription, Tier, build_tier
from penstock.registry.storage.checksums import TableRow, VersionRow
from penstock.registry.storage.folder import BASES
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
    version_name,
)
from penstock.registry.subscriptions import Snapshot

_ROWS_IN_TURN = 64
"""A merge that runs in the background reads so many rows before it lets a change go first."""


class CurrentPlan:
    """Follows the table of a store. All methods need the store's lock."""

    def __init__(self, store: Store, folder: Path, pins: Pins, plans: PublishedPlans) -> None:
        self._store = store
        self._folder = folder / BASES
        self._pins = pins
        self._plans = plans
        self._line: VersionName | None = None
        """The published version whose tiers ours go on with."""
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

    def publish(self, name: VersionName) -> None:
        """Write the list of the current version, inside a transaction of the caller that writes.

        Raises:
            DamageError: Rows are damaged or missing.
            OSError: The folder cannot be written.
        """
        live = self.live(name.version)
        published = self._pins.current()
        if published is not None and published != self._line:
            live = self._go_on_with(published, live, name.version)
        self._plans.write(plan_name(name), live.tiers())
        self._line = name
        live.merge_in_background(self._swapped)

    @property
    def is_merging(self) -> bool:
        """Whether tiers are being merged in the background."""
        return self._live is not None and self._live.is_merging

    def wait(self) -> None:
        """Wait until no merge is running."""
        if self._live is not None:
            self._live.wait()

    def tiers(self) -> list[Tier]:
        """Return the tiers at hand."""
        return [] if self._live is None else self._live.tiers()

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
        self._live = self._snapshot = self._base = self._line = None
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
        for find in (self._from_list, self._from_base):
            with contextlib.suppress(DamageError, OSError):
                found = find(version)
                if found is not None:
                    return self._begin(*found, version)
        tier = self._written(self.build(version), version)
        return self._begin(version, [tier], version)

    def _from_base(self, version: int) -> tuple[int, list[Tier]] | None:
        base = newest_base(self._folder, version, self._base_name)
        return None if base is None else (base[0], [base[1]])

    def _from_list(self, version: int) -> tuple[int, list[Tier]] | None:
        """Return the tiers that were published last, and their version."""
        name = self._pins.current() if self._pins.is_followed else None
        tiers = None if name is None or name.version > version else self._listed(name, ())
        if name is None or tiers is None:
            return None
        self._line = name
        return name.version, tiers

    def _listed(self, name: VersionName, own: Collection[Tier]) -> list[Tier] | None:
        """Return the tiers of a published version; own ones, of a later version, take part.

        The small tier that changes rebuild is left out: its rows are read again.

        Raises:
            DamageError: The list, or one of its files, is damaged.
            OSError: One of them cannot be read.
        """
        with self._store.read() as database:
            if version_name(database, name.version) != name:
                return None
        known = {tier.file: tier for tier in own if tier.file is not None}
        tiers = self._plans.read(plan_name(name), known)
        if tiers and len(tiers[-1].serials) <= SMALL_MAX:
            tiers.pop()
        return _with_merged(tiers, own)

    def _go_on_with(self, name: VersionName, live: LivePlan, version: int) -> LivePlan:
        """Return the plan at hand with the tiers that another process published last."""
        try:
            tiers = self._listed(name, live.tiers())
            if tiers is not None:
                live.settle_on(self._begin(name.version, tiers, version))
                self._live, self._snapshot = live, None
        except OSError:
            pass  # the list is gone, and so is its line
        except DamageError:
            # Either the list is damaged or rows are.
            return self._open(version)
        return live

    def _begin(self, first_version: int, tiers: list[Tier], version: int) -> LivePlan:
        """Start with tiers and apply the changes up to a version."""
        live = LivePlan(self._store.lock, self._read_between, tiers, self._prepare)
        self._version, self._base = first_version, live.base
        self._last = max((tier.serials[-1] for tier in tiers if tier.serials), default=0)
        self._active = sum(tier.size for tier in tiers)
        self._total = sum(tier.total for tier in tiers)
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
                if live.remove(number):
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
            for count, row in enumerate(rows_between(database, first, last, version)):
                if count % _ROWS_IN_TURN == 0:
                    # A change holds the lock. It waits for the disk often, and each time Python
                    # would let this thread go on for a while.
                    with self._store.lock:
                        pass
                yield _planned(row)

    def _prepare(self, tier: Tier) -> None:
        """Write a merged tier before it is used, so that the next change need not do it."""
        if self._pins.is_followed:
            with contextlib.suppress(OSError):
                self._plans.keep(tier)

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
        table. If it cannot be written, other processes build it themselves. Where streams follow
        the registry, what was published serves as well.
        """
        if self._pins.is_followed:
            return base
        with contextlib.suppress(OSError, RegistryError):
            name = self._base_name(version)
            if name is not None and base.serials:
                return write_base(self._folder / name, base)
        return base


def _planned(row: TableRow) -> PlannedSubscription:
    return PlannedSubscription(row.number, row.position, row.name, program_of(row))


def _with_merged(tiers: list[Tier], own: Collection[Tier]) -> list[Tier]:
    """Return tiers with those that own ones were merged from replaced by these."""
    for merged in own:
        files = [tier.file for tier in tiers]
        count = len(merged.replaced)
        for start in range(len(files) - count + 1 if count else 0):
            if tuple(files[start : start + count]) == merged.replaced:
                tiers[start : start + count] = [merged]
                break
    return tiers
