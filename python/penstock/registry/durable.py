"""A registry in a folder: it survives crashes, and several processes share it.

The folder holds one database, in ``bases`` the plan of most subscriptions, which processes map,
and in ``plans`` and ``tiers`` the plans of versions that were asked for. The database is
authoritative; the others are caches that are rebuilt when they are missing or damaged. Everything
that is read is checked: the answer is right, or a ``DamageError`` is raised. All processes that
open the registry are on one machine, as SQLite's log requires. Workers of a stream may be on
others: they read pins, plans and tiers, not the database.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from typing import Any

from penstock import logs
from penstock.errors import DamageError, RegistryError
from penstock.planning.records import JoinOutput, is_publishing, output_of
from penstock.registry.circles import publishers_of
from penstock.registry.columns import columns_of
from penstock.registry.loading.bulk import BulkInsert
from penstock.registry.loading.lines import CompiledChunk
from penstock.registry.loading.load import LoadReport
from penstock.registry.memory import MemoryRegistry
from penstock.registry.plans import files
from penstock.registry.plans.live import Branch
from penstock.registry.plans.pins import Pins, VersionName
from penstock.registry.plans.published import PublishedPlans
from penstock.registry.plans.tiers import Tier, attach_tiers
from penstock.registry.storage.checksums import NO_VERSION, VersionRow, damaged
from penstock.registry.storage.current import CurrentPlan
from penstock.registry.storage.database import Database
from penstock.registry.storage.folder import DATABASE, PLANS, folder_of
from penstock.registry.storage.head import Head
from penstock.registry.storage.opening import check_head, inspect, witnessed_version
from penstock.registry.storage.store import Store
from penstock.registry.storage.table import (
    ChangeName,
    TableChange,
    find_row,
    last_version,
    name_of_version,
    plan_name,
    program_of,
    read_row,
    rows_changed,
    rows_in,
    version_name,
)
from penstock.registry.subscriptions import (
    Snapshot,
    Subscription,
    name_is_taken,
    name_is_unknown,
)
from penstock.registry.view import RegistryView

PLANS_KEPT = 8
"""The number of plans kept; the plan of an older version is rebuilt on demand."""

_SNAPSHOTS_KEPT = 4


class DurableRegistry(MemoryRegistry):
    """The registry of a folder; ``Registry.open(path)`` returns it.

    It has nothing of a registry in memory but the type, ``penstock.Registry``: every method that
    uses what is kept is its own.

    When a change returns, it is on the disk; without ``flush`` the operating system has it, so it
    survives a crash of the process, and a power cut may undo it. A crash in the middle of a change
    leaves the version before or the version after. Other processes see a change from their next
    document on. It pickles as its path and may be used from several threads and after a fork.
    """

    def __init__(self, path: str | os.PathLike[str], *, flush: bool = True) -> None:
        self.path = folder_of(path)
        self.flush = flush
        self._snapshots: dict[int, Snapshot] = {}
        self._forgot_at = -math.inf
        try:
            (self.path / PLANS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"the folder {self.path} cannot be made: {error.strerror or error}"
            raise RegistryError("PR0005", message) from error
        try:
            inspect(self.path)
        except OSError as error:
            message = f"the folder {self.path} cannot be read: {error.strerror or error}"
            raise RegistryError("PR0005", message) from error
        self._store = Store(self.path / DATABASE, flush)
        self._pins = Pins(self.path)
        self._head = Head(self.path)
        self._written: VersionRow | None = None
        self._seen = 0
        self._lock = self._store.lock
        self._plans = PublishedPlans(self.path)
        self._current = CurrentPlan(self._store, self.path, self._pins, self._plans)
        self._begin_head()
        logs.registry.debug("opened %s", self.path)

    @property
    def version(self) -> int:
        """A number that grows by one with every change, whichever process makes it."""
        with self._store.glance() as database:
            version = last_version(database).version
        # A version inside a transaction may still be undone.
        if not self._store.is_writing:
            if version < self._seen:
                raise damaged(f"the database went from version {self._seen} back to {version}")
            self._seen = version
        return version

    def at(self, version: int) -> RegistryView:
        """Return a read-only view of the registry at a version.

        Raises:
            RegistryError: There is no such version yet.
        """
        if not 0 <= version <= self.version:
            raise RegistryError("PR0006", f"there is no version {version} yet")
        return RegistryView(self, version)

    def pin(self, query: str, batch: int) -> int:
        """Return the version that belongs to a batch of a streaming query.

        The first call fixes it to the current version; every later call, in any process and after
        any restart, returns the same. So a batch that is processed again sees the same
        subscriptions.
        """
        name = self._pins.find(query, batch)
        if name is None:
            self.publish()
            name = self._pins.pin(query, batch)
        return self._known(name, query, batch)

    def pins(self, query: str) -> dict[int, int]:
        """Return the versions of a streaming query's last batches, by batch.

        A subscription was active from the first batch whose version is not before its own.
        """
        pins = self._pins.of(query)
        return {batch: self._known(name, query, batch) for batch, name in pins.items()}

    def follow(self) -> None:
        """Publish every change to streams from now on, whatever host their workers run on.

        A change then returns when workers can find it, which costs a small tier and a list of
        tiers, whatever the number of subscriptions. Plans of batches that may be computed again
        are written, and damaged ones are written anew.

        Raises:
            RegistryError: The folder cannot be written.
        """
        with self._writing("streams cannot follow"):
            self._pins.follow()
            self._plans.distrust()
            with self._store.write():
                self._plans.mend()
            self.publish()
            with self._store.read() as database:
                # A registry restored from a copy lacks the versions made after it.
                replayable = self._pins.replayable()
                known = [one for one in replayable if one == version_name(database, one.version)]
            for name in known:
                self.plan_file(name.version)

    def publish(self) -> None:
        """Make the current version the one that the next batch of a stream gets.

        Inside a block of changes this happens at its end.

        Raises:
            RegistryError: The folder cannot be written.
        """
        with self._lock:
            if self._store.is_writing:
                return
            # Publishing holds the write lock, so an older version never replaces a newer one.
            with self._writing("streams cannot see it"), self._store.write() as database:
                name = name_of_version(last_version(database))
                # A list that is there stays as it is: a batch may have been computed with it.
                if not self._plans.is_complete(plan_name(name)):
                    self._current.publish(name)
                    self._forget_plans(database)
                if self._pins.current() != name:
                    self._pins.publish(name)

    def remove(self, name: str) -> None:
        def end(table: TableChange) -> None:
            if table.end(name) is None:
                raise name_is_unknown(name)

        self._make("remove", name, end)
        logs.registry.debug("removed %s", name)

    def _insert(
        self, chunks: Iterable[CompiledChunk], report: LoadReport, is_replacing: bool
    ) -> None:
        """Insert in one transaction, as one version, and plan at the same time."""
        with self._lock:
            before = None if self._store.is_writing else self._current.live(self.version)
            with self._changing(is_published=False) as database:
                change = TableChange(database, "load", "")
                bulk = BulkInsert(change, is_replacing)
                for chunk in chunks:
                    bulk.insert(chunk, report)
                if bulk.is_change:
                    self._written = change.finish()
            if bulk.is_change and before is not None:
                self._current.extend(change.version, *bulk.finish())
        self._publish_if_followed()

    @contextmanager
    def changes(self) -> Iterator[None]:
        with self._changing():
            yield

    def get(self, name: str) -> Subscription | None:
        with self._store.read() as database:
            row = find_row(database, name)
        return None if row is None else read_row(row)

    def snapshot(self) -> Snapshot:
        with self._lock:
            # Undoing a transaction gives its version number a new meaning.
            if self._store.is_writing:
                return self._build(self.version)
            return self._current.snapshot(self.version)

    def compact(self) -> Snapshot:
        """Return a snapshot whose plan is one tier, which is written as a base."""
        with self._lock:
            if self._store.is_writing:
                return self._build(self.version)
            return self._current.compact(self.version)

    def branch(self) -> Branch:
        """Return the current plan for a document that is being read; it follows all changes.

        Raises:
            RegistryError: A block of changes is open, which may still be undone.
        """
        with self._lock:
            if self._store.is_writing:
                message = "a live document cannot be opened inside a block of changes"
                raise RegistryError("PR0022", message)
            return self._current.live(self.version).branch()

    def snapshot_at(self, version: int) -> Snapshot:
        """Return a version with its plan, mapped from its files or built.

        Raises:
            RegistryError: There is no such version yet.
        """
        # Undoing a transaction gives its version number a new meaning.
        if self._store.is_writing:
            return self._build(version)
        snapshot = self._snapshots.get(version)
        if snapshot is None:
            with self._lock:
                snapshot = self._load(version)
                if snapshot is None:
                    tier = self.tier_at(version)
                    snapshot = Snapshot(version, tier.names, tier.plan)
                    # A process without the right to write builds plans for itself.
                    with contextlib.suppress(OSError, RegistryError):
                        self._keep_plan(version, tier)
                self._snapshots[version] = snapshot
                while len(self._snapshots) > _SNAPSHOTS_KEPT:
                    del self._snapshots[next(iter(self._snapshots))]
        return snapshot

    def tiers_at(self, version: int) -> list[Tier]:
        """Return the tiers of a version: those that were published, or one.

        Raises:
            RegistryError: There is no such version yet.
        """
        if not self._store.is_writing:
            with contextlib.suppress(OSError, DamageError):
                return self._plans.read(self._plan_name(version))
        return [self.tier_at(version)]

    def plan_file(self, version: int) -> Path:
        """Return the file with the list of a version's tiers, for other processes.

        Raises:
            RegistryError: There is no such version yet; the folder cannot be written.
        """
        name = self._plan_name(version)
        if not self._plans.is_complete(name):
            with self._writing("the plan cannot be kept"):
                self._keep_plan(version, self.tier_at(version))
        return self._plans.list_file(name)

    def close(self) -> None:
        """Close the files; the next use opens them again."""
        self._store.close()
        self._head.close()

    def subscriptions_at(self, version: int) -> list[Subscription]:
        """Return the subscriptions of a version, in order of arrival."""
        with self._store.read() as database:
            rows = list(rows_in(database, self._current.version_row(version)))
        rows.sort(key=attrgetter("position", "number"))
        return [read_row(row) for row in rows]

    def count_at(self, version: int) -> int:
        """Return how many subscriptions a version has."""
        return self._current.version_row(version).active

    def tier_at(self, version: int) -> Tier:
        """Return a version planned in one tier."""
        return self._current.build(version)

    def __iter__(self) -> Iterator[Subscription]:
        with self._lock:
            return iter(self.subscriptions_at(self.version))

    def __len__(self) -> int:
        with self._store.read() as database:
            return last_version(database).active

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        with self._store.read() as database:
            return find_row(database, name) is not None

    def __repr__(self) -> str:
        return f"<Registry {self.path} of {len(self)} subscriptions, version {self.version}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_reopen, (self.path, self.flush))

    def _add(self, subscription: Subscription) -> None:
        columns = columns_of(subscription)

        def add(table: TableChange) -> None:
            if table.add((table.version, *columns)) is not None:
                raise name_is_taken(subscription.name)

        self._make("add", subscription.name, add)

    def _replace(self, subscription: Subscription) -> None:
        columns = columns_of(subscription)

        def replace(table: TableChange) -> None:
            row = table.end(subscription.name)
            if row is None:
                raise name_is_unknown(subscription.name)
            table.add((row.position, *columns))

        self._make("replace", subscription.name, replace)

    def _publishers(self) -> Mapping[str, JoinOutput]:
        with self._lock:
            if not self._store.is_writing:
                return publishers_of(self.snapshot())
            # The plan is that of the version before the block of changes, which others see.
            with self._store.apart() as database:
                before = last_version(database)
            publishers = publishers_of(self._current.snapshot(before.version))
            with self._store.read() as database:
                gone, come = rows_changed(database, before, last_version(database))
            for row in gone:
                publishers.pop(row.name, None)
            programs = ((row.name, program_of(row)) for row in come)
            return publishers | {
                name: output_of(program) for name, program in programs if is_publishing(program)
            }

    def _known(self, name: VersionName, query: str, batch: int) -> int:
        """Return the version of a pin, which must be a version of this registry."""
        with self._store.read() as database:
            if version_name(database, name.version) != name:
                message = f"the pin of batch {batch} of {query} is no version of this registry"
                raise DamageError("PR0033", f"{message}; `penstock registry repair` removes it")
        return name.version

    def _build(self, version: int) -> Snapshot:
        tier = self.tier_at(version)
        return Snapshot(version, tier.names, tier.plan)

    def _plan_name(self, version: int) -> str:
        return plan_name(name_of_version(self._current.version_row(version)))

    def _load(self, version: int) -> Snapshot | None:
        try:
            tiers = self._plans.read(self._plan_name(version))
        except (OSError, DamageError):
            return None
        return Snapshot(version, *attach_tiers(tiers))

    def _keep_plan(self, version: int, tier: Tier) -> None:
        """Write a version for other processes, and remove the plans of older ones.

        Raises:
            OSError: The folder cannot be written.
        """
        self._plans.write(self._plan_name(version), [tier])
        with self._store.write() as database:
            self._forget_plans(database, version)

    def _forget_plans(self, database: Database, version: int | None = None) -> None:
        """Remove plans that are of no use any more, now and then; that of a version stays."""
        now = time.monotonic()
        if now - self._forgot_at < files.FRESH_SECONDS:
            return
        self._forgot_at = now
        last = last_version(database).version
        recent = {*range(max(0, last - PLANS_KEPT + 1), last + 1)}
        if version is not None:
            recent.add(version)
        kept = {name_of_version(self._current.version_row(one)) for one in recent}
        names = map(plan_name, kept | self._pins.running())
        if not self._plans.forget(names, self._current.tiers()):
            self._forgot_at = -math.inf

    @contextmanager
    def _changing(self, is_published: bool = True) -> Iterator[Database]:
        """Return the database, for changes that are made together."""
        with self._lock:
            if not self._store.is_writing:
                self._written = None
            with self._store.write() as database:
                yield database
            self._note_written()
        if is_published:
            self._publish_if_followed()

    def _publish_if_followed(self) -> None:
        if self._pins.is_followed:
            self.publish()

    def _make(self, change: ChangeName, name: str, act: Callable[[TableChange], None]) -> None:
        """Make one version of what ``act`` does, like ``_changing`` but in fewer calls."""
        with self._lock:
            if not self._store.is_writing:
                self._written = None
            database = self._store.begin()
            try:
                table = TableChange(database, change, name)
                act(table)
                self._written = table.finish()
            except BaseException as error:
                self._store.end(database, error)
                raise
            self._store.end(database)
            self._note_written()
        self._publish_if_followed()

    def _begin_head(self) -> None:
        with self._store.read():
            pass  # opening brings tables of an earlier release up to this one
        head = self._head.read()
        reached = witnessed_version(self.path, head)
        with self._store.read() as database:
            check_head(database, head, reached)
            # Without flushes only version 0 is certain to be on the disk.
            first = last_version(database) if self.flush else NO_VERSION
            self._identity = database.identity
        if head is None:
            # A process without the right to write reads without it.
            with contextlib.suppress(OSError):
                self._head.write(first, self._identity)

    def _note_written(self) -> None:
        """Note in ``head`` the version that the outermost block of changes wrote."""
        if self._written is not None and self.flush and not self._store.is_writing:
            try:
                self._head.write(self._written, self._identity)
            except OSError as error:
                raise self._unwritten(error, "the change is made, and not noted") from error

    @contextmanager
    def _writing(self, consequence: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._unwritten(error, consequence) from error

    def _unwritten(self, error: OSError, consequence: str) -> RegistryError:
        message = f"{self.path} cannot be written: {error.strerror or error}; {consequence}"
        return RegistryError("PR0005", message)


def _reopen(path: Path, flush: bool) -> DurableRegistry:
    return DurableRegistry(path, flush=flush)
