"""The rows of the tables: reading them with all checks, and writing a change."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from sqlite3 import Cursor
from typing import Any, Literal

from penstock.errors import RegistryError
from penstock.planning.program import MAGIC
from penstock.planning.programs import compile_program
from penstock.registry.columns import Columns
from penstock.registry.plans.files import LIST_SUFFIX
from penstock.registry.plans.pins import VersionName
from penstock.registry.storage.buckets import NameBuckets
from penstock.registry.storage.checksums import (
    NO_VERSION,
    ROW,
    VERSION,
    TableRow,
    VersionRow,
    check_row,
    damaged,
    end_checksum,
    row_checksum,
)
from penstock.registry.storage.database import Database
from penstock.registry.subscriptions import Subscription
from penstock.versions import own_version

ChangeName = Literal["add", "remove", "replace", "load", "repair"]

_IN_VERSION = "added <= :version AND (removed IS NULL OR removed > :version)"
_INSERT_ROW = f"INSERT INTO subscriptions ({ROW}) VALUES ({', '.join('?' * 15)})"
_END_ROW = "UPDATE subscriptions SET removed = ?, ending = ? WHERE number = ?"
_ROW_OF_NUMBER = f"SELECT {ROW} FROM subscriptions WHERE number = ?"
_ROWS_AT_ONCE = 2_000
_SPARSE = 4
"""Rows are looked up one by one if at most one in this many is wanted."""
_LAST_VERSION = f"SELECT {VERSION} FROM versions ORDER BY version DESC LIMIT 1"
_INSERT_VERSION = f"INSERT INTO versions ({VERSION}) VALUES ({', '.join('?' * 8)})"


def last_version(database: Database) -> VersionRow:
    """Return the newest version.

    Raises:
        DamageError: It is damaged.
    """
    # Engines call this before every document, and mostly nothing has changed.
    (state,) = database.execute("PRAGMA data_version").fetchone()
    if state != database.newest_state:
        row = database.execute(_LAST_VERSION).fetchone()
        database.newest = NO_VERSION if row is None else _checked_version(row, database.seed)
        database.newest_state = state
    return database.newest


def read_version(database: Database, version: int) -> VersionRow | None:
    """Return a version, or None if there is none.

    Raises:
        DamageError: It is damaged.
    """
    if version == 0:
        return NO_VERSION
    chosen = f"SELECT {VERSION} FROM versions WHERE version = ?"
    row = database.execute(chosen, (version,)).fetchone()
    return None if row is None else _checked_version(row, database.seed)


def existing_version(database: Database, version: int) -> VersionRow:
    """Return a version.

    Raises:
        DamageError: It is damaged or missing.
        RegistryError: There is no such version yet.
    """
    row = read_version(database, version) if version >= 0 else None
    if row is not None:
        return row
    if 0 <= version <= last_version(database).version:
        raise damaged(f"version {version} is missing from the database")
    raise RegistryError("PR0006", f"there is no version {version} yet")


def version_name(database: Database, version: int) -> VersionName | None:
    """Return a version with its mark, or None if there is none."""
    row = read_version(database, version)
    return None if row is None else name_of_version(row)


def name_of_version(row: VersionRow) -> VersionName:
    """Return a version with its mark, a hash of its change and time."""
    # Version 0 has no origin.
    origin = repr((row.change, row.name, row.time)) if row.version else repr(None)
    return VersionName(row.version, hashlib.blake2b(origin.encode(), digest_size=8).hexdigest())


def plan_name(name: VersionName, suffix: str = LIST_SUFFIX) -> str:
    """Return the name of the file with the tiers, or the base, of a version."""
    # A plan of another compiler may be unreadable, or mean something else.
    mark = hashlib.blake2b(compiler_name().encode(), digest_size=4).hexdigest()
    return f"{name.version}-{name.mark}-{mark}{suffix}"


def find_row(database: Database, name: str) -> TableRow | None:
    """Return the active subscription of a name, or None.

    Raises:
        DamageError: It, or the index of names, is damaged.
    """
    cursor = database.cursor()
    number = NameBuckets(cursor, last_version(database).numbers).find(name)
    return None if number is None else _active_row(database, cursor, name, number)


def rows_in(database: Database, version: VersionRow) -> Iterator[TableRow]:
    """Yield the subscriptions of a version, in the order of their numbers.

    Raises:
        DamageError: One is damaged or, at the end, missing.
    """
    count = total = last = 0
    for values in _values_in(database, version):
        row = check_row(values, database.seed, last)
        last = row.number
        if row.is_active_in(version.version):
            count, total = count + 1, total + row.number
            yield row
    if (count, total) != (version.active, version.total):
        raise rows_are_missing(version)


def _values_in(database: Database, version: VersionRow) -> Iterator[tuple[Any, ...]]:
    """Yield rows with all those of a version among them, in the order of their numbers."""
    last = last_version(database)
    ended_since = (last.numbers - last.active) - (version.numbers - version.active)
    if (last.active + ended_since) * _SPARSE > version.numbers:
        chosen = f"SELECT {ROW} FROM subscriptions WHERE {_IN_VERSION} ORDER BY number"
        yield from database.execute(chosen, {"version": version.version})
        return
    # Most rows are of subscriptions that were removed long ago.
    ended = "SELECT number FROM subscriptions WHERE removed > ?"
    numbers = [number for (number,) in database.execute(ended, (version.version,))]
    numbers += NameBuckets(database.cursor(), last.numbers).entries().values()
    for number in sorted(numbers):
        yield from database.execute(_ROW_OF_NUMBER, (number,))


def rows_between(database: Database, first: int, last: int, version: int) -> Iterator[TableRow]:
    """Yield the subscriptions of a version with numbers in a range, in their order.

    The caller checks their number or sum.

    Raises:
        DamageError: One is damaged.
    """
    chosen = (
        f"SELECT {ROW} FROM subscriptions WHERE number BETWEEN :first AND :last AND {_IN_VERSION} "
        "ORDER BY number"
    )
    values = {"first": first, "last": last, "version": version}
    before = 0
    for columns in database.execute(chosen, values):
        row = check_row(columns, database.seed, before)
        before = row.number
        yield row


def rows_changed(
    database: Database, before: VersionRow, version: VersionRow
) -> tuple[list[TableRow], list[TableRow]]:
    """Return what went and what came between two versions, in the order of the numbers.

    Raises:
        DamageError: Rows are damaged or missing.
    """
    chosen = (
        f"SELECT {ROW} FROM subscriptions WHERE removed > :before AND removed <= :version"
        " AND number <= :last ORDER BY number"
    )
    values = {"before": before.version, "version": version.version, "last": before.numbers}
    gone: list[TableRow] = []
    for one in database.execute(chosen, values):
        gone.append(check_row(one, database.seed, gone[-1].number if gone else 0))
    first, last = before.numbers + 1, version.numbers
    come = list(rows_between(database, first, last, version.version))
    active = before.active - len(gone) + len(come)
    total = before.total - sum(row.number for row in gone) + sum(row.number for row in come)
    if (active, total) != (version.active, version.total):
        raise rows_are_missing(version)
    return gone, come


def rows_are_missing(version: VersionRow) -> RegistryError:
    """Return the error for a version with missing rows."""
    return damaged(f"rows of version {version.version} are missing from the database")


class TableChange:
    """One version in the making, inside a transaction of the caller."""

    def __init__(self, database: Database, change: ChangeName, name: str) -> None:
        self._database = database
        before = last_version(database)
        # The cached buckets are valid for the version of the last change only.
        known, database.names = database.names, None
        if known is not None and known[0] is before:
            self._names = known[1]
        else:
            self._names = NameBuckets(database.cursor(), before.numbers)
        self._cursor = self._names.cursor
        self.version = before.version + 1
        self.last_number = before.numbers
        self._origin = (change, name, time.time())
        self._active, self._total = before.active, before.total
        self._compiler = compiler_name()
        self._rows: list[tuple[Any, ...]] = []
        """Rows that are not inserted yet."""

    def add(self, values: tuple[Any, ...]) -> int | None:
        """Add a subscription: its position, and all columns up to the program.

        If its name is taken, the number of the row that has it is returned.
        """
        number = self.last_number + 1
        taken = self._names.claim(values[1], number)
        if taken is not None:
            return taken
        columns = (number, *values, self._compiler, self.version)
        checksum = row_checksum(columns, self._database.seed)
        self._rows.append((*columns, checksum, None, None))
        self.last_number = number
        self._active += 1
        self._total += number
        if len(self._rows) >= _ROWS_AT_ONCE:
            self._insert()
        return None

    def add_all(self, lines: Sequence[tuple[Any, ...]]) -> bool:
        """Add subscriptions, of all columns from the name to the program.

        If their names are not all free, or not all different, none is added.
        """
        first = self.last_number + 1
        if not self._names.claim_all([line[0] for line in lines], first):
            return False
        seed, version, after = self._database.seed, self.version, (self._compiler, self.version)
        rows = [(number, version, *line, *after) for number, line in enumerate(lines, first)]
        self._rows += [(*row, row_checksum(row, seed), None, None) for row in rows]
        self.last_number += len(lines)
        self._active += len(lines)
        self._total += sum(range(first, self.last_number + 1))
        self._insert()
        return True

    def end(self, name: str) -> TableRow | None:
        """End the subscription of a name and return it, or None if there is none."""
        number = self._names.release(name)
        if number is None:
            return None
        self._insert()
        row = _active_row(self._database, self._cursor, name, number)
        ending = end_checksum(number, self.version, row.checksum)
        self._cursor.execute(_END_ROW, (self.version, ending, number))
        self._active -= 1
        self._total -= number
        return row

    def finish(self) -> VersionRow:
        """Write the version, and return it."""
        self._insert()
        self._names.write()
        sums = (self.last_number, self._active, self._total)
        row = VersionRow(self.version, *self._origin, *sums).sealed(self._database.seed)
        self._cursor.execute(_INSERT_VERSION, row)
        # The next reader of this version need not check it again.
        self._database.newest = row
        self._database.names = (row, self._names)
        return row

    def _insert(self) -> None:
        if self._rows:
            self._cursor.executemany(_INSERT_ROW, self._rows)
            self._rows = []


def read_row(row: TableRow) -> Subscription:
    """Return the subscription of a row."""
    # From the name to the delivery, as ``Columns`` begins.
    return Columns(*row[2:9], program_of(row)).subscription()


def program_of(row: TableRow) -> bytes:
    """Return the program of a row, compiled again if another compiler made it."""
    # A program of another compiler may be unreadable, or mean something else.
    if row.compiler == compiler_name():
        return row.program
    mode: Any = row.mode
    return compile_program(row.text, mode, row.language, json.loads(row.options))


def compiler_name() -> str:
    """Return the name of this process's compiler: its version, and the format of programs."""
    return f"{own_version()} {MAGIC.decode()}"


def _checked_version(values: tuple[Any, ...], seed: int) -> VersionRow:
    row = VersionRow._make(values)
    if not row.is_intact(seed):
        raise damaged(f"the version {row.version} in the database is not as it was written")
    return row


def _active_row(database: Database, cursor: Cursor, name: str, number: int) -> TableRow:
    values = cursor.execute(_ROW_OF_NUMBER, (number,)).fetchone()
    if values is None:
        raise damaged(f"the row of `{name}` is missing from the database")
    row = check_row(values, database.seed)
    if row.name != name or row.removed is not None:
        raise damaged(f"the database leads from `{name}` to the row of something else")
    return row
