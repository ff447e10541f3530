"""A registry in a folder: it survives crashes, and several processes share it.

The folder holds one database, in ``bases`` the plan of most subscriptions, which processes map,
and in ``plans`` one file for each version that a stream or somebody else asked for. The database
is the truth; the others are caches that are built again whenever one is missing or damaged. All
processes that open the registry are on one machine, as SQLite's log demands. Workers of a stream
may be elsewhere: they read plans and pins, and no database.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from penstock.errors import RegistryError
from penstock.joins import JoinOutput, is_publishing, output_of
from penstock.registry.bulk import BulkInsert
from penstock.registry.current import CurrentPlan
from penstock.registry.lines import CompiledChunk
from penstock.registry.live import LivePlan, build_tier
from penstock.registry.load import LoadReport
from penstock.registry.memory import Registry, name_is_taken
from penstock.registry.pins import Pins
from penstock.registry.plans import PlanFileError, read_plan, remove_plans, write_plan
from penstock.registry.standing import START, Standing, StandingChanges
from penstock.registry.store import Store
from penstock.registry.subscriptions import Snapshot, Subscription
from penstock.registry.table import (
    COLUMNS,
    begin_version,
    compile_row,
    compiler_name,
    end,
    insert,
    last_version,
    plan_name,
    position_of,
    read_row,
    values_of,
    version_name,
)
from penstock.twigs import Query

DATABASE = "registry.sqlite"
PLANS = "plans"
BASES = "bases"
PLANS_KEPT = 8
"""So many plan files stay; an older version's plan is built again when it is asked for."""

_SNAPSHOTS_KEPT = 4
_IS_JOINING = "language = 'xscl'"
_IN_VERSION = "added <= :version AND (removed IS NULL OR removed > :version)"


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
        self._joined: dict[int, tuple[int, Subscription]] = {}
        try:
            (self.path / PLANS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"the folder {self.path} cannot be made: {error.strerror or error}"
            raise RegistryError("PR0005", message) from error
        self._store = Store(self.path / DATABASE, flush)
        self._pins = Pins(self.path)
        self._lock = self._store.lock
        self._current = CurrentPlan(self._store, self.path / BASES, compiler_name(), compile_row)

    @property
    def version(self) -> int:
        """A number that grows by one with every change, whichever process makes it."""
        with self._store.read() as database:
            return last_version(database)

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
        return found.version

    def pins(self, query: str) -> dict[int, int]:
        """Return the versions of a streaming query's last batches, by batch.

        A subscription was active from the first batch whose version is not before its own.
        """
        return {batch: name.version for batch, name in self._pins.of(query).items()}

    def follow(self) -> None:
        """Let streams see every change from now on, on whatever host their workers are.

        A change then returns when workers can find its plan, so many changes are better made in
        one block of ``changes``. Plans of batches that may be computed again are put in place.

        Raises:
            RegistryError: The folder cannot be written.
        """
        with self._written("streams cannot follow"):
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
            with self._written("streams cannot see it"), self._store.write() as database:
                name = version_name(database, last_version(database))
                if self._pins.current() != name or self._load(name.version) is None:
                    self.plan_file(name.version)
                    self._pins.publish(name)

    def remove(self, name: str) -> None:
        """Remove a subscription.

        Raises:
            RegistryError: There is none of that name.
        """
        with self._changing() as database:
            position_of(database, name)
            end(database, name, begin_version(database, "remove", name))

    def _load_chunks(
        self, chunks: Iterable[CompiledChunk], report: LoadReport, replace: bool
    ) -> None:
        """Load in one transaction, as one version, and plan while that goes on."""
        with self._lock:
            before = None if self._store.is_writing else self._current.live(self.version)
            with self._changing() as database:
                bulk = BulkInsert(database, last_version(database) + 1, compiler_name(), replace)
                for chunk in chunks:
                    bulk.insert(chunk, report)
                if bulk.is_change:
                    begin_version(database, "load", "")
            if bulk.is_change and before is not None:
                self._current.extend(bulk.version, *bulk.finish())

    @contextmanager
    def changes(self) -> Iterator[None]:
        """Make the changes inside the block in one transaction: all of them or none."""
        with self._changing():
            yield

    def get(self, name: str) -> Subscription | None:
        """Return the subscription of a name, or None."""
        with self._store.read() as database:
            chosen = f"SELECT {COLUMNS} FROM subscriptions WHERE name = ? AND removed IS NULL"
            row = database.execute(chosen, (name,)).fetchone()
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
        return {one.name: one.query for _, one in self._joining_at(self.version)}

    def joining_since(self, read: int) -> StandingChanges:
        """Return which subscriptions that join documents changed since somebody read last."""
        with self._lock:
            version = self.version
            # What was read inside of a transaction may have been undone.
            if read == START or read > version:
                return self._standing_at(version)
            changed = (
                "SELECT name FROM subscriptions WHERE removed > :since"
                " UNION SELECT name FROM subscriptions WHERE removed IS NULL AND added > :since"
            )
            with self._store.read() as database:
                names = [name for (name,) in database.execute(changed, {"since": read})]
                listed = {name: _standing_of(database, name) for name in names}
            return StandingChanges(version, listed, False)

    def is_joining(self) -> bool:
        """Return whether some subscription joins documents."""
        return bool(self._joining_at(self.version))

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
            with self._written("the plan cannot be kept"):
                self._keep_plan(self._build(version))
        return self._file(version)

    def close(self) -> None:
        """Close the database; the next use opens it again."""
        self._store.close()

    def subscriptions_at(self, version: int) -> list[Subscription]:
        """Return the subscriptions of a version, in order of arrival."""
        return [read_row(row) for row in self._rows(version, COLUMNS)]

    def __iter__(self) -> Iterator[Subscription]:
        with self._lock:
            return iter(self.subscriptions_at(self.version))

    def __len__(self) -> int:
        with self._store.read() as database:
            counted = "SELECT count(*) FROM subscriptions WHERE removed IS NULL"
            count: int = database.execute(counted).fetchone()[0]
            return count

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        with self._store.read() as database:
            chosen = "SELECT 1 FROM subscriptions WHERE name = ? AND removed IS NULL"
            return database.execute(chosen, (name,)).fetchone() is not None

    def __repr__(self) -> str:
        return f"<Registry {self.path} of {len(self)} subscriptions, version {self.version}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_reopen, (self.path, self.flush))

    def _add(self, subscription: Subscription) -> None:
        values = values_of(subscription)
        with self._changing() as database:
            if subscription.name in self:
                raise name_is_taken(subscription.name)
            version = begin_version(database, "add", subscription.name)
            insert(database, values, version, version)

    def _replace(self, subscription: Subscription) -> None:
        values = values_of(subscription)
        with self._changing() as database:
            position = position_of(database, subscription.name)
            version = begin_version(database, "replace", subscription.name)
            end(database, subscription.name, version)
            insert(database, values, version, position)

    def _rows(self, version: int, columns: str) -> list[tuple[Any, ...]]:
        chosen = (
            f"SELECT {columns} FROM subscriptions WHERE {_IN_VERSION} ORDER BY position, number"
        )
        with self._store.read() as database:
            return database.execute(chosen, {"version": version}).fetchall()

    def _publishers(self) -> Mapping[str, JoinOutput]:
        programs = ((one.name, one.program) for _, one in self._joining_at(self.version))
        return {name: output_of(program) for name, program in programs if is_publishing(program)}

    def _standing_at(self, version: int) -> StandingChanges:
        joining = self._joining_at(version)
        standing = {one.name: Standing(place, one.program) for place, one in joining}
        return StandingChanges(version, standing, True)

    def _joining_at(self, version: int) -> list[tuple[int, Subscription]]:
        """Return the subscriptions of a version that join documents, with their places.

        Each is read once.
        """
        chosen = (
            f"SELECT number, position, {COLUMNS} FROM subscriptions"
            f" WHERE {_IS_JOINING} AND {_IN_VERSION} ORDER BY position, number"
        )
        with self._lock:
            with self._store.read() as database:
                rows = database.execute(chosen, {"version": version}).fetchall()
            known = self._joined
            self._joined = {
                number: known.get(number) or (place, read_row(tuple(row)))
                for number, place, *row in rows
            }
            return [joined for joined in self._joined.values() if joined[1].is_joining]

    def _build(self, version: int) -> Snapshot:
        if not 0 <= version <= self.version:
            raise RegistryError("PR0006", f"there is no version {version} yet")
        tier = build_tier(self._current.rows("", version))
        return Snapshot(version, tier.names, tier.plan)

    def _file(self, version: int) -> Path:
        with self._store.read() as database:
            return self.path / PLANS / plan_name(version_name(database, version))

    def _load(self, version: int) -> Snapshot | None:
        try:
            names, plan = read_plan(self._file(version))
        except (OSError, PlanFileError):
            return None
        return Snapshot(version, names, plan)

    def _keep_plan(self, snapshot: Snapshot) -> None:
        """Keep a plan for other processes, and the last ones before it.

        Raises:
            OSError: The folder cannot be written.
        """
        write_plan(self._file(snapshot.version), snapshot.names, snapshot.plan)
        with self._store.write() as database:
            last = last_version(database)
            first = max(0, last - PLANS_KEPT + 1)
            kept = {version_name(database, version) for version in range(first, last + 1)}
            kept |= self._pins.running() | {version_name(database, snapshot.version)}
            remove_plans(self.path / PLANS, map(plan_name, kept))

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        with self._store.write() as database:
            yield database
        if self._pins.is_followed:
            self.publish()

    @contextmanager
    def _written(self, consequence: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            message = f"{self.path} cannot be written: {error.strerror or error}; {consequence}"
            raise RegistryError("PR0005", message) from error


def _reopen(path: Path, flush: bool) -> DurableRegistry:
    return DurableRegistry(path, flush=flush)


def _standing_of(database: sqlite3.Connection, name: str) -> Standing | None:
    chosen = f"SELECT position, {COLUMNS} FROM subscriptions WHERE name = ? AND removed IS NULL"
    row = database.execute(chosen, (name,)).fetchone()
    if row is None:
        return None
    subscription = read_row(tuple(row[1:]))
    return Standing(row[0], subscription.program) if subscription.is_joining else None


class PinnedRegistry(Registry):
    """A durable registry as it was at one version; ``DurableRegistry.at`` gives one."""

    def __init__(self, registry: DurableRegistry, version: int) -> None:
        self._registry = registry
        self._version = version
        self._lock = registry._lock

    @contextmanager
    def changes(self) -> Iterator[None]:
        """Refuse.

        Raises:
            RegistryError: Always.
        """
        raise self._refusal()
        yield

    def remove(self, name: str) -> None:
        """Refuse.

        Raises:
            RegistryError: Always.
        """
        raise self._refusal()

    def get(self, name: str) -> Subscription | None:
        """Return the subscription that had a name, or None."""
        return next((one for one in self if one.name == name), None)

    def snapshot(self) -> Snapshot:
        """Return the version with its plan."""
        return self._registry.snapshot_at(self._version)

    compact = snapshot

    def joining(self) -> Mapping[str, Query]:
        """Return the queries that joined documents, by the names of their subscriptions."""
        return {one.name: one.query for _, one in self._registry._joining_at(self._version)}

    def joining_since(self, read: int) -> StandingChanges:
        """Return all subscriptions that joined documents; nothing changes afterwards."""
        if read == self._version:
            return StandingChanges(read, {}, False)
        return self._registry._standing_at(self._version)

    def is_joining(self) -> bool:
        """Return whether some subscription joined documents."""
        return bool(self._registry._joining_at(self._version))

    def branch(self) -> LivePlan:
        """Return the version's plan, which nothing changes."""
        tier = build_tier(self._registry._current.rows("", self._version))
        return LivePlan(self._lock, lambda first, last: (), tier)

    def __iter__(self) -> Iterator[Subscription]:
        return iter(self._registry.subscriptions_at(self._version))

    def __len__(self) -> int:
        return len(self._registry._rows(self._version, "number"))

    def __contains__(self, name: object) -> bool:
        return (name,) in self._registry._rows(self._version, "name")

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._registry, self._version))

    def _add(self, subscription: Subscription) -> None:
        raise self._refusal()

    def _replace(self, subscription: Subscription) -> None:
        raise self._refusal()

    def _refusal(self) -> RegistryError:
        message = f"version {self._version} is past and stays as it was; change the registry itself"
        return RegistryError("PR0007", message)
