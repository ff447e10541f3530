"""A registry in a folder: it survives crashes, and several processes share it.

The folder holds one database and, in ``plans``, one file for each of the last plans. The
database is the truth; a plan file is a cache that is built again whenever it is missing, stale
or damaged. All processes that open the folder are on one machine, as SQLite's log demands.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any, Literal

from penstock.errors import RegistryError
from penstock.planning.program import MAGIC
from penstock.registry.bulk import BulkInsert
from penstock.registry.current import CurrentPlan
from penstock.registry.lines import LANGUAGES, CompiledChunk
from penstock.registry.live import LivePlan, build_tier
from penstock.registry.load import LoadReport
from penstock.registry.memory import Registry, name_is_taken, name_is_unknown
from penstock.registry.plans import PlanFileError, read_plan, remove_plans, write_plan
from penstock.registry.store import Store
from penstock.registry.subscriptions import Snapshot, Subscription, compile_text

DATABASE = "registry.sqlite"
PLANS = "plans"
BASES = "bases"
PLANS_KEPT = 8
"""So many plan files stay; an older version's plan is built again when it is asked for."""
PINS_KEPT = 1000
"""A query's pins of batches further back than this are forgotten."""

_SNAPSHOTS_KEPT = 4
_COLUMNS = "name, language, text, options, mode, owner, delivery, program, compiler"
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
        try:
            (self.path / PLANS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"the folder {self.path} cannot be made: {error.strerror or error}"
            raise RegistryError("PR0005", message) from error
        self._store = Store(self.path / DATABASE, flush)
        self._lock = self._store.lock
        self._current = CurrentPlan(self._store, self.path / BASES, _compiler(), _program)

    @property
    def version(self) -> int:
        """A number that grows by one with every change, whichever process makes it."""
        with self._store.read() as database:
            return _version(database)

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
        key = (query, batch)
        asked = "SELECT version FROM pins WHERE query = ? AND batch = ?"
        with self._store.read() as database:
            found = database.execute(asked, key).fetchone()
        if found is None:
            with self._store.write() as database:
                database.execute(
                    "INSERT OR IGNORE INTO pins VALUES (?, ?, ?)", (*key, _version(database))
                )
                old = (query, batch - PINS_KEPT)
                database.execute("DELETE FROM pins WHERE query = ? AND batch < ?", old)
                found = database.execute(asked, key).fetchone()
        version: int = found[0]
        return version

    def pins(self, query: str) -> dict[int, int]:
        """Return the versions of a streaming query's last batches, by batch.

        A subscription was active from the first batch whose version is not before its own.
        """
        with self._store.read() as database:
            chosen = "SELECT batch, version FROM pins WHERE query = ? ORDER BY batch"
            return dict(database.execute(chosen, (query,)).fetchall())

    def remove(self, name: str) -> None:
        """Remove a subscription.

        Raises:
            RegistryError: There is none of that name.
        """
        with self._store.write() as database:
            _position(database, name)
            _end(database, name, _begin_version(database, "remove", name))

    def _load_chunks(
        self, chunks: Iterable[CompiledChunk], report: LoadReport, replace: bool
    ) -> None:
        """Load in one transaction, as one version, and plan while that goes on."""
        with self._lock:
            before = None if self._store.is_writing else self._current.live(self.version)
            with self._store.write() as database:
                bulk = BulkInsert(database, _version(database) + 1, _compiler(), replace)
                for chunk in chunks:
                    bulk.insert(chunk, report)
                if bulk.is_change:
                    _begin_version(database, "load", "")
            if bulk.is_change and before is not None:
                self._current.extend(bulk.version, *bulk.finish())

    @contextmanager
    def changes(self) -> Iterator[None]:
        """Make the changes inside the block in one transaction: all of them or none."""
        with self._store.write():
            yield

    def get(self, name: str) -> Subscription | None:
        """Return the subscription of a name, or None."""
        with self._store.read() as database:
            chosen = f"SELECT {_COLUMNS} FROM subscriptions WHERE name = ? AND removed IS NULL"
            row = database.execute(chosen, (name,)).fetchone()
        return None if row is None else _subscription(row)

    def snapshot(self) -> Snapshot:
        """Return the current version with its plan: a mapped base, and what changed since."""
        with self._lock:
            # Inside a transaction a version may still be undone, and then means something else.
            if self._store.is_writing:
                return self._build(self.version)
            return self._current.snapshot(self.version)

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
                found = self._load(version) or self._write(self._build(version))
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
            self._write(self._build(version))
        file = self._file(version)
        if file is None:
            raise RegistryError("PR0005", f"the folder {self.path / PLANS} cannot be written")
        return file

    def close(self) -> None:
        """Close the database; the next use opens it again."""
        self._store.close()

    def subscriptions_at(self, version: int) -> list[Subscription]:
        """Return the subscriptions of a version, in order of arrival."""
        return [_subscription(row) for row in self._rows(version, _COLUMNS)]

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
        values = _values(subscription)
        with self._store.write() as database:
            if subscription.name in self:
                raise name_is_taken(subscription.name)
            version = _begin_version(database, "add", subscription.name)
            _insert(database, values, version, version)

    def _replace(self, subscription: Subscription) -> None:
        values = _values(subscription)
        with self._store.write() as database:
            position = _position(database, subscription.name)
            version = _begin_version(database, "replace", subscription.name)
            _end(database, subscription.name, version)
            _insert(database, values, version, position)

    def _rows(self, version: int, columns: str) -> list[tuple[Any, ...]]:
        chosen = (
            f"SELECT {columns} FROM subscriptions WHERE {_IN_VERSION} ORDER BY position, number"
        )
        with self._store.read() as database:
            return database.execute(chosen, {"version": version}).fetchall()

    def _build(self, version: int) -> Snapshot:
        if not 0 <= version <= self.version:
            raise RegistryError("PR0006", f"there is no version {version} yet")
        tier = build_tier(self._current.rows("", version))
        return Snapshot(version, tier.names, tier.plan)

    def _file(self, version: int) -> Path | None:
        chosen = "SELECT file FROM plans WHERE version = ? AND compiler = ?"
        with self._store.read() as database:
            row = database.execute(chosen, (version, _compiler())).fetchone()
        return None if row is None else self.path / PLANS / row[0]

    def _load(self, version: int) -> Snapshot | None:
        file = self._file(version)
        if file is None:
            return None
        try:
            names, plan = read_plan(file)
        except (OSError, PlanFileError):
            return None
        return Snapshot(version, names, plan)

    def _write(self, snapshot: Snapshot) -> Snapshot:
        """Keep a plan for other processes. Who may not write builds plans for itself."""
        folder = self.path / PLANS
        with contextlib.suppress(OSError, RegistryError):
            file = write_plan(folder, snapshot.names, snapshot.plan)
            with self._store.write() as database:
                row = (snapshot.version, _compiler(), file.name)
                database.execute("INSERT OR REPLACE INTO plans VALUES (?, ?, ?)", row)
                database.execute(
                    "DELETE FROM plans WHERE rowid NOT IN "
                    "(SELECT rowid FROM plans ORDER BY rowid DESC LIMIT ?)",
                    (PLANS_KEPT,),
                )
                kept = [name for (name,) in database.execute("SELECT file FROM plans")]
                # Inside the transaction, so that nobody records a file that is going away.
                remove_plans(folder, kept)
        return snapshot


def _reopen(path: Path, flush: bool) -> DurableRegistry:
    return DurableRegistry(path, flush=flush)


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


def _version(database: sqlite3.Connection) -> int:
    version: int = database.execute("SELECT coalesce(max(version), 0) FROM versions").fetchone()[0]
    return version


def _begin_version(
    database: sqlite3.Connection, change: Literal["add", "remove", "replace", "load"], name: str
) -> int:
    version = _version(database) + 1
    row = (version, change, name, time.time())
    database.execute("INSERT INTO versions VALUES (?, ?, ?, ?)", row)
    return version


def _insert(
    database: sqlite3.Connection, values: tuple[Any, ...], version: int, position: int
) -> None:
    marks = ", ".join("?" * (len(values) + 2))
    database.execute(
        f"INSERT INTO subscriptions ({_COLUMNS}, added, position) VALUES ({marks})",
        (*values, version, position),
    )


def _position(database: sqlite3.Connection, name: str) -> int:
    """Return the place of a subscription among the others.

    Raises:
        RegistryError: There is none of that name.
    """
    chosen = "SELECT position FROM subscriptions WHERE name = ? AND removed IS NULL"
    row = database.execute(chosen, (name,)).fetchone()
    if row is None:
        raise name_is_unknown(name)
    position: int = row[0]
    return position


def _end(database: sqlite3.Connection, name: str, version: int) -> None:
    ended = "UPDATE subscriptions SET removed = ? WHERE name = ? AND removed IS NULL"
    database.execute(ended, (version, name))


def _values(subscription: Subscription) -> tuple[Any, ...]:
    """Return the columns of a subscription.

    Raises:
        RegistryError: It cannot be written down.
    """
    question = subscription.question
    language, options = (
        ("xpath", subscription.options)
        if isinstance(question, str)
        else (question.language, question.options)
    )
    if not subscription.text or language not in LANGUAGES:
        message = f"the query of `{subscription.name}` has no text to be kept; make it with xpath()"
        raise RegistryError("PR0008", message)
    try:
        values = (
            subscription.name,
            language,
            subscription.text,
            json.dumps(options),
            subscription.mode,
            subscription.owner,
            None if subscription.delivery is None else json.dumps(subscription.delivery),
            subscription.program,
            _compiler(),
        )
        for value in values:
            if isinstance(value, str):
                value.encode()
        return values
    except (TypeError, ValueError) as error:
        message = f"`{subscription.name!a}` cannot be written down: {error}"
        raise RegistryError("PR0008", message) from None


def _subscription(row: tuple[Any, ...]) -> Subscription:
    name, language, text, options, mode, owner, delivery, program, compiler = row
    if compiler != _compiler():
        program = _program(language, text, options, mode)
    made = None if delivery is None else json.loads(delivery)
    return Subscription(name, text, mode, owner, made, program, json.loads(options))


def _program(language: str, text: str, options: str, mode: Any) -> bytes:
    """Compile what an earlier release has written."""
    assert language in LANGUAGES, "a newer registry is refused when it is opened"
    return compile_text(text, mode, json.loads(options))


@cache
def _compiler() -> str:
    """Return what makes the programs of this process: a version, and their format."""
    try:
        version = version_of("penstock")
    except PackageNotFoundError:
        version = "unknown"
    return f"{version} {MAGIC.decode()}"
