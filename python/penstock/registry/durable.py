"""A registry in a folder: it survives crashes, and several processes share it.

The folder holds one database, in ``bases`` the plan of most subscriptions, which processes map,
and in ``plans`` one file for each version that a stream or somebody else asked for. The database
is authoritative; bases and plans are caches that are built again whenever one is missing or
damaged. What is read from any of them is checked: an answer is right, or a ``DamageError``. All
processes that open the registry are on one machine, as SQLite's log demands. Workers of a stream
may be elsewhere: they read plans and pins, and no database.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from penstock.errors import DamageError, RegistryError
from penstock.planning.records import JoinOutput, is_publishing, output_of
from penstock.registry.bulk import BulkInsert
from penstock.registry.checksums import NO_VERSION, VersionRow, damaged
from penstock.registry.current import CurrentPlan
from penstock.registry.database import Database
from penstock.registry.folder import BASES, DATABASE, PLANS
from penstock.registry.head import Head
from penstock.registry.joining import JoiningRows
from penstock.registry.lines import CompiledChunk
from penstock.registry.live import LivePlan, Tier, build_tier
from penstock.registry.load import LoadReport
from penstock.registry.memory import Registry, name_is_taken, name_is_unknown
from penstock.registry.opening import check_head, inspect, witnessed_version
from penstock.registry.pinned import PinnedRegistry
from penstock.registry.pins import Pins, VersionName
from penstock.registry.plans import read_plan, remove_plans, write_plan
from penstock.registry.standing import START, StandingChanges
from penstock.registry.store import Store
from penstock.registry.subscriptions import Snapshot, Subscription
from penstock.registry.table import (
    ChangeName,
    TableChange,
    compiler_name,
    find_row,
    last_version,
    name_of_version,
    plan_name,
    read_row,
    read_version,
    rows_in,
    values_of,
    version_name,
)
from penstock.twigs import Query

PLANS_KEPT = 8
"""So many plan files stay; an older version's plan is built again when it is asked for."""

_SNAPSHOTS_KEPT = 4


class DurableRegistry(Registry):
    """The registry of a folder; ``Registry.open(path)`` gives one.

    When a change returns, it is on the disk; without ``flush`` it is with the operating system,
    which a crash of the process does not harm and a power cut may undo. A crash in the middle of
    a change leaves the version before or the version after. Other processes see a change from
    their next document on. It pickles as its path and may be used from several threads and after
    a fork.
    """

    def __init__(self, path: str | os.PathLike[str], *, flush: bool = True) -> None:
        self.path = Path(path).absolute()
        self.flush = flush
        self._snapshots: dict[int, Snapshot] = {}
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
        self._current = CurrentPlan(self._store, self.path / BASES, compiler_name())
        self._joining = JoiningRows(self._store)
        self._begin_head()

    @property
    def version(self) -> int:
        """A number that grows by one with every change, whichever process makes it."""
        with self._store.glance() as database:
            version = last_version(database).version
        # What is seen inside a transaction may still be undone.
        if not self._store.is_writing:
            if version < self._seen:
                raise damaged(f"the database went from version {self._seen} back to {version}")
            self._seen = version
        return version

    def at(self, version: int) -> PinnedRegistry:
        """Return the registry as it was at a version; it stays like that.

        Raises:
            RegistryError: There is no such version yet.
        """
        if not 0 <= version <= self.version:
            raise RegistryError("PR0006", f"there is no version {version} yet")
        return PinnedRegistry(self, version)

    def pin(self, query: str, batch: int) -> int:
        """Return the version that belongs to a batch of a streaming query.

        The first who asks fixes it to the current version; from then on everybody gets that
        one, in every process and after every restart. So a batch that is processed again sees
        the same subscriptions.
        """
        found = self._pins.find(query, batch)
        if found is None:
            self.publish()
            found = self._pins.pin(query, batch)
        return self._known(found, query, batch)

    def pins(self, query: str) -> dict[int, int]:
        """Return the versions of a streaming query's last batches, by batch.

        A subscription was active from the first batch whose version is not before its own.
        """
        pins = self._pins.of(query)
        return {batch: self._known(name, query, batch) for batch, name in pins.items()}

    def follow(self) -> None:
        """Let streams see every change from now on, on whatever host their workers are.

        A change then returns when workers can find its plan, so many changes are better made in
        one block of ``changes``. Plans of batches that may be computed again are put in place.

        Raises:
            RegistryError: The folder cannot be written.
        """
        with self._writing("streams cannot follow"):
            self._pins.follow()
            self.publish()
            with self._store.read() as database:
                # A registry put back from a copy does not know the versions after it.
                replayable = self._pins.replayable()
                known = [one for one in replayable if one == version_name(database, one.version)]
            for name in known:
                self.plan_file(name.version)

    def publish(self) -> None:
        """Make the current version the one that a batch gets which begins now.

        Inside a block of changes this is left to its end.

        Raises:
            RegistryError: The folder cannot be written.
        """
        with self._lock:
            if self._store.is_writing:
                return
            # Who publishes is alone among writers, so what is published never goes back.
            with self._writing("streams cannot see it"), self._store.write() as database:
                name = name_of_version(last_version(database))
                if self._pins.current() != name or self._load(name.version) is None:
                    self.plan_file(name.version)
                    self._pins.publish(name)

    def remove(self, name: str) -> None:
        """Remove a subscription.

        Raises:
            RegistryError: There is none of that name.
        """

        def end(table: TableChange) -> None:
            if table.end(name) is None:
                raise name_is_unknown(name)

        self._make("remove", name, end)

    def _load_chunks(
        self, chunks: Iterable[CompiledChunk], report: LoadReport, replace: bool
    ) -> None:
        """Load in one transaction, as one version, and plan while that goes on."""
        with self._lock:
            before = None if self._store.is_writing else self._current.live(self.version)
            with self._changing() as database:
                change = TableChange(database, "load", "", compiler_name())
                bulk = BulkInsert(change, replace)
                for chunk in chunks:
                    bulk.insert(chunk, report)
                if bulk.is_change:
                    self._written = change.finish()
            if bulk.is_change and before is not None:
                self._current.extend(change.version, *bulk.finish())

    @contextmanager
    def changes(self) -> Iterator[None]:
        """Make the changes inside the block in one transaction: all of them or none."""
        with self._changing():
            yield

    def get(self, name: str) -> Subscription | None:
        """Return the subscription of a name, or None."""
        with self._store.read() as database:
            row = find_row(database, name)
        return None if row is None else read_row(row)

    def snapshot(self) -> Snapshot:
        """Return the current version with its plan: a mapped base, and what changed since."""
        with self._lock:
            # Inside a transaction a version may still be undone, and then means something else.
            if self._store.is_writing:
                return self._build(self.version)
            return self._current.snapshot(self.version)

    def joining(self) -> Mapping[str, Query]:
        """Return the queries that join documents, by the names of their subscriptions."""
        return {one.name: one.query for one in self.joining_at(self.version)}

    def joining_since(self, read: int) -> StandingChanges:
        """Return which subscriptions that join documents changed since somebody read last."""
        with self._lock:
            version = self.version
            # Inside a transaction a version may still be undone, and then means something else.
            if self._store.is_writing:
                return replace(self.standing_at(version), read=START)
            if read == START:
                return self.standing_at(version)
            return self._joining.changes(self._version_row(read), self._version_row(version))

    def is_joining(self) -> bool:
        """Return whether some subscription joins documents."""
        return bool(self.joining_at(self.version))

    def compact(self) -> Snapshot:
        """Return a snapshot whose plan is one piece, and write it as the base for others."""
        with self._lock:
            if self._store.is_writing:
                return self._build(self.version)
            return self._current.compact(self.version)

    def branch(self) -> LivePlan:
        """Return the current plan for somebody in the middle of a document; it gets all changes.

        Raises:
            RegistryError: A block of changes is open, which may still be undone.
        """
        with self._lock:
            if self._store.is_writing:
                message = "a live document cannot be opened inside a block of changes"
                raise RegistryError("PR0022", message)
            return self._current.live(self.version).branch()

    def snapshot_at(self, version: int) -> Snapshot:
        """Return a version with its plan, mapped from its file or built.

        Raises:
            RegistryError: There is no such version yet.
        """
        # Inside a transaction a version may still be undone, and then means something else.
        if self._store.is_writing:
            return self._build(version)
        found = self._snapshots.get(version)
        if found is None:
            with self._lock:
                found = self._load(version)
                if found is None:
                    found = self._build(version)
                    # Who may not write builds plans for itself.
                    with contextlib.suppress(OSError, RegistryError):
                        self._keep_plan(found)
                self._snapshots[version] = found
                while len(self._snapshots) > _SNAPSHOTS_KEPT:
                    del self._snapshots[next(iter(self._snapshots))]
        return found

    def plan_file(self, version: int) -> Path:
        """Return the file that holds the names and the plan of a version, for other processes.

        Raises:
            RegistryError: There is no such version yet; the folder cannot be written.
        """
        if self._load(version) is None:
            with self._writing("the plan cannot be kept"):
                self._keep_plan(self._build(version))
        return self._file(version)

    def close(self) -> None:
        """Close the files; the next use opens them again."""
        self._store.close()
        self._head.close()

    def subscriptions_at(self, version: int) -> list[Subscription]:
        """Return the subscriptions of a version, in order of arrival."""
        with self._store.read() as database:
            rows = list(rows_in(database, self._version_row(version)))
        rows.sort(key=attrgetter("position", "number"))
        return [read_row(row) for row in rows]

    def count_at(self, version: int) -> int:
        """Return how many subscriptions a version has."""
        return self._version_row(version).active

    def joining_at(self, version: int) -> list[Subscription]:
        """Return the subscriptions of a version that join documents; each is read once."""
        with self._lock:
            return self._joining.subscriptions(self._version_row(version))

    def standing_at(self, version: int) -> StandingChanges:
        """Return the same as they stand, for ``joining_since``."""
        with self._lock:
            return self._joining.standing(self._version_row(version))

    def tier_at(self, version: int) -> Tier:
        """Return the plan of a version in one piece."""
        return build_tier(self._current.rows(self._version_row(version)))

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
        values = values_of(subscription)

        def add(table: TableChange) -> None:
            if table.add((table.version, *values)) is not None:
                raise name_is_taken(subscription.name)

        self._make("add", subscription.name, add)

    def _replace(self, subscription: Subscription) -> None:
        values = values_of(subscription)

        def replace(table: TableChange) -> None:
            row = table.end(subscription.name)
            if row is None:
                raise name_is_unknown(subscription.name)
            table.add((row.position, *values))

        self._make("replace", subscription.name, replace)

    def _version_row(self, version: int) -> VersionRow:
        with self._store.read() as database:
            row = read_version(database, version) if version >= 0 else None
            if row is None and 0 <= version <= last_version(database).version:
                raise damaged(f"version {version} is missing from the database")
        if row is None:
            raise RegistryError("PR0006", f"there is no version {version} yet")
        return row

    def _publishers(self) -> Mapping[str, JoinOutput]:
        programs = ((one.name, one.program) for one in self.joining_at(self.version))
        return {name: output_of(program) for name, program in programs if is_publishing(program)}

    def _known(self, name: VersionName, query: str, batch: int) -> int:
        """Return the version of a pin, which must be one of this registry's."""
        with self._store.read() as database:
            if version_name(database, name.version) != name:
                message = f"the pin of batch {batch} of {query} is no version of this registry"
                raise DamageError("PR0033", f"{message}; `penstock registry repair` removes it")
        return name.version

    def _build(self, version: int) -> Snapshot:
        tier = self.tier_at(version)
        return Snapshot(version, tier.names, tier.plan)

    def _file(self, version: int) -> Path:
        return self.path / PLANS / plan_name(name_of_version(self._version_row(version)))

    def _load(self, version: int) -> Snapshot | None:
        try:
            names, plan = read_plan(self._file(version))
        except (OSError, DamageError):
            return None
        return Snapshot(version, names, plan)

    def _keep_plan(self, snapshot: Snapshot) -> None:
        """Keep a plan for other processes, and the last ones before it.

        Raises:
            OSError: The folder cannot be written.
        """
        write_plan(self._file(snapshot.version), snapshot.names, snapshot.plan)
        with self._store.write() as database:
            last = last_version(database).version
            recent = {*range(max(0, last - PLANS_KEPT + 1), last + 1), snapshot.version}
            kept = {name_of_version(self._version_row(version)) for version in recent}
            remove_plans(self.path / PLANS, map(plan_name, kept | self._pins.running()))

    @contextmanager
    def _changing(self) -> Iterator[Database]:
        """Give the database for changes that are made together."""
        with self._lock:
            if not self._store.is_writing:
                self._written = None
            with self._store.write() as database:
                yield database
            self._note_written()
        if self._pins.is_followed:
            self.publish()

    def _make(self, change: ChangeName, name: str, act: Callable[[TableChange], None]) -> None:
        """Make one version of what ``act`` does; the same as ``_changing``, in fewer calls."""
        with self._lock:
            if not self._store.is_writing:
                self._written = None
            database = self._store.begin()
            try:
                table = TableChange(database, change, name, compiler_name())
                act(table)
                self._written = table.finish()
            except BaseException as error:
                self._store.end(database, error)
                raise
            self._store.end(database)
            self._note_written()
        if self._pins.is_followed:
            self.publish()

    def _begin_head(self) -> None:
        head = self._head.read()
        reached = witnessed_version(self.path, head)
        with self._store.read() as database:
            check_head(database, head, reached)
            # Without flushes nothing but the beginning is sure to be on the disk.
            first = last_version(database) if self.flush else NO_VERSION
            self._identity = database.identity
        if head is None:
            # Who may not write reads without it.
            with contextlib.suppress(OSError):
                self._head.write(first, self._identity)

    def _note_written(self) -> None:
        """Note the version that the outermost block of changes has written."""
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
