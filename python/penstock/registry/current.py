"""The plan of a durable registry's current version: a mapped base, and what changed since.

To follow the table is to read the rows that came or went after the version at hand, whichever
process made the changes; its cost is that of the changes.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

from penstock.errors import RegistryError
from penstock.registry.bases import newest_base, read_base, write_base
from penstock.registry.live import LivePlan, Row, Tier, build_tier
from penstock.registry.plans import PlanFileError
from penstock.registry.store import Store
from penstock.registry.subscriptions import Snapshot

COLUMNS = "number, name, language, text, options, mode, program, compiler"
_LIVE = "added <= :version AND (removed IS NULL OR removed > :version)"

Compile = Callable[[str, str, str, str], bytes]
"""Gives the program of a language, a text, its options and a mode."""


class CurrentPlan:
    """Follows the table of a store. All methods need the store's lock."""

    def __init__(self, store: Store, folder: Path, compiler: str, compile_row: Compile) -> None:
        self._store = store
        self._folder = folder
        self._compiler = compiler
        self._compile = compile_row
        self._version = -1
        self._last = 0
        """The number of the last row that was read."""
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
        for serial in gone:
            live.remove(serial)

    def live(self, version: int) -> LivePlan:
        """Return the tiers of the current version, brought up to it."""
        if self._live is None or version < self._version:
            self._open(version)
        assert self._live is not None
        if version > self._version:
            self._follow(self._live, version)
        return self._live

    def forget(self) -> None:
        """Start anew from the table with the next call."""
        self._live = self._snapshot = self._base = None
        self._version = -1

    def rows(self, condition: str, version: int, **values: int) -> Iterator[Row]:
        """Yield rows of the table at a version, in the order of their numbers."""
        with self._store.read() as database:
            yield from self._select(database, condition, {"version": version, **values})

    def stamp(self, version: int) -> str | None:
        """Return what tells this version from others of its number, and who compiled for it."""
        with self._store.read() as database:
            chosen = "SELECT time FROM versions WHERE version = ?"
            row = database.execute(chosen, (version,)).fetchone()
        if row is None:
            return None
        return f"{round(row[0] * 1e6):x}-{crc32(self._compiler.encode()):08x}"

    def _open(self, version: int) -> None:
        found = newest_base(self._folder, version, self.stamp)
        if found is None:
            tier = build_tier(self.rows("", version))
            self._version, self._base = version, self._written(tier, version)
        else:
            self._version, self._base = found
        self._last = self._base.serials[-1] if self._base.serials else 0
        self._live = LivePlan(self._store.lock, self._rows_between, self._base)
        # Even the base of this very version may lack rows that were in other tiers.
        self._follow(self._live, version)

    def _follow(self, live: LivePlan, version: int) -> None:
        gone = (
            "SELECT number FROM subscriptions"
            " WHERE removed > :since AND removed <= :version AND number <= :last"
        )
        values = {"since": self._version, "version": version, "last": self._last}
        with self._store.read() as database:
            for (number,) in database.execute(gone, values).fetchall():
                live.remove(number)
        for row in self.rows("number > :last AND", version, last=self._last):
            live.add(row)
            self._last = row.serial
        self._version = version

    def _rows_between(self, first: int, last: int) -> Iterator[Row]:
        self._read_version = self._version
        values = {"version": self._version, "first": first, "last": last}
        return self._read_apart("number BETWEEN :first AND :last AND", values)

    def _read_apart(self, condition: str, values: dict[str, int]) -> Iterator[Row]:
        with self._store.apart() as database:
            yield from self._select(database, condition, values)

    def _select(
        self, database: sqlite3.Connection, condition: str, values: dict[str, int]
    ) -> Iterator[Row]:
        chosen = f"SELECT {COLUMNS} FROM subscriptions WHERE {condition} {_LIVE} ORDER BY number"
        for row in database.execute(chosen, values):
            yield self._row(row)

    def _row(self, row: tuple[Any, ...]) -> Row:
        number, name, language, text, options, mode, program, compiler = row
        # A program of another compiler may ask something else, or be unreadable.
        if compiler != self._compiler:
            program = self._compile(language, text, options, mode)
        return Row(number, name, program)

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
        with contextlib.suppress(OSError, RegistryError, PlanFileError):
            stamp = self.stamp(version)
            if stamp is not None and base.serials:
                return read_base(write_base(self._folder, version, stamp, base))
        return base
