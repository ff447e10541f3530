"""The tables of a registry's database, and their migration from an earlier release."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

from penstock.errors import RegistryError
from penstock.registry.storage.buckets import NameBuckets, create_buckets
from penstock.registry.storage.checksums import (
    NO_VERSION,
    ROW,
    VERSION,
    VersionRow,
    damaged,
    end_checksum,
    row_checksum,
)
from penstock.registry.storage.database import Database
from penstock.registry.storage.head import Head

APPLICATION_ID = 0x50454E53
FORMAT = 3
_UNCHECKED, _COUNTED = 1, 2
"""Earlier formats: one without checksums, one whose versions counted queries of a language."""

_TABLES = (
    """CREATE TABLE versions (
    version INTEGER PRIMARY KEY,
    change TEXT NOT NULL,
    name TEXT NOT NULL,
    time REAL NOT NULL,
    numbers INTEGER NOT NULL,
    active INTEGER NOT NULL,
    total INTEGER NOT NULL,
    checksum INTEGER NOT NULL
)""",
    """CREATE TABLE subscriptions (
    number INTEGER PRIMARY KEY,
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    language TEXT NOT NULL,
    text TEXT NOT NULL,
    options TEXT NOT NULL,
    mode TEXT NOT NULL,
    owner TEXT,
    delivery TEXT,
    program BLOB NOT NULL,
    compiler TEXT NOT NULL,
    added INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    removed INTEGER,
    ending INTEGER
)""",
)
_INDEX = "CREATE INDEX ended ON subscriptions (removed) WHERE removed IS NOT NULL"


def prepare_schema(connection: Database, file: Path) -> None:
    """Create the tables of a new file, or migrate those of an earlier release.

    Raises:
        RegistryError: The file is another database, or of a later release.
        DamageError: Its tables are of an earlier release and damaged.
    """
    if _format_of(connection) < FORMAT:
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Another process may have been first.
            form = _format_of(connection)
            (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if form == 0 and tables == 0:
                create_tables(connection)
            elif is_earlier(connection):
                if form == _COUNTED:
                    _drop_count(connection, file)
                else:
                    _add_checksums(connection)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    if not _is_registry(connection):
        raise RegistryError("PR0005", f"{file} is another database, not a registry")
    form = _format_of(connection)
    if form != FORMAT:
        message = f"{file} has format {form}; this version of Penstock reads format {FORMAT}; "
        message += "open it with the version that wrote it, which exports lines for all versions"
        raise RegistryError("PR0005", message)
    connection.identify()


def is_current(connection: Database) -> bool:
    """Return whether a database is a registry in the format of this release."""
    return _is_registry(connection) and _format_of(connection) == FORMAT


def is_earlier(connection: Database) -> bool:
    """Return whether a database is a registry of an earlier release."""
    if not _is_registry(connection):
        return False
    columns = [row[1] for row in connection.execute("PRAGMA table_info(versions)")]
    has = {_UNCHECKED: "checksum" not in columns, _COUNTED: "joining" in columns}
    return has.get(_format_of(connection), False)


def create_tables(connection: Database, identity: str | None = None) -> None:
    """Create the tables, inside a transaction of the caller; a new registry gets a new identity."""
    connection.create_identity(identity)
    for statement in (*_TABLES, _INDEX):
        connection.execute(statement)
    create_buckets(connection)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def insert_versions(connection: Database, versions: list[VersionRow]) -> None:
    """Insert whole versions."""
    connection.executemany(f"INSERT INTO versions VALUES ({', '.join('?' * 8)})", versions)


def insert_rows(connection: Database, rows: Iterator[tuple[Any, ...]]) -> None:
    """Insert whole subscriptions."""
    marks = ", ".join("?" * 15)
    connection.executemany(f"INSERT INTO subscriptions ({ROW}) VALUES ({marks})", rows)


def sum_versions(
    origins: list[tuple[int, str, str, float]],
    rows: Iterator[tuple[int, int, int | None]],
    numbers: dict[int, int],
    seed: int,
) -> list[VersionRow]:
    """Return versions with the sums over the subscriptions that are active in them.

    ``origins`` are version, change, name and time; ``rows`` number, added and removed;
    ``numbers`` the last number of each version that added one.
    """
    changes: dict[int, list[int]] = {version: [0, 0] for version, *_ in origins}
    for number, added, removed in rows:
        for version, sign in ((added, 1), (removed, -1)):
            if version in changes:
                sums = changes[version]
                sums[0] += sign
                sums[1] += sign * number
    versions, last = [], NO_VERSION
    for version, change, name, time in origins:
        active, total = changes[version]
        last = VersionRow(
            version,
            change,
            name,
            time,
            max(last.numbers, numbers.get(version, 0)),
            last.active + active,
            last.total + total,
        ).sealed(seed)
        versions.append(last)
    return versions


def fill_buckets(connection: Database, last_number: int) -> None:
    """Put the names of all active subscriptions into empty buckets."""
    buckets = NameBuckets(connection.cursor(), 0)
    chosen = "SELECT name, number FROM subscriptions WHERE +removed IS NULL ORDER BY number"
    for name, number in connection.execute(chosen):
        buckets.claim(name, number)
    buckets.grow(last_number)
    buckets.write()


def _drop_count(connection: Database, file: Path) -> None:
    """Drop what versions counted, and with it the index that was there for it."""
    connection.identify()
    former: dict[VersionRow, int] = {}
    for joining, *columns in connection.execute(f"SELECT joining, {VERSION} FROM versions"):
        version, change, name, moment, *sums, checksum = columns
        numbers = " ".join(map(str, (version, repr(moment), *sums, joining)))
        text = f"{numbers}\0{change}\0{name}".encode("utf-8", "surrogatepass")
        if checksum != crc32(text, connection.seed):
            raise damaged(f"the version {version} of an earlier release is not as it was written")
        former[VersionRow._make(columns).sealed(connection.seed)] = checksum
    Head(file.parent).rename(former)
    checksums = [(row.checksum, row.version) for row in former]
    connection.executemany("UPDATE versions SET checksum = ? WHERE version = ?", checksums)
    connection.execute("DROP INDEX joining")
    connection.execute("ALTER TABLE versions DROP COLUMN joining")
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def _add_checksums(connection: Database) -> None:
    """Add checksums to the tables of the first release."""
    problem = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if problem != "ok":
        raise damaged(f"the database is of an earlier release and damaged: {problem}")
    for name in ("live", "ended", "joining"):
        connection.execute(f"DROP INDEX IF EXISTS {name}")
    for name in ("versions", "subscriptions"):
        connection.execute(f"ALTER TABLE {name} RENAME TO old_{name}")
    connection.create_identity()
    for statement in _TABLES:
        connection.execute(statement)
    unchecked = ROW.partition(", checksum")[0]
    rows = connection.execute(f"SELECT {unchecked}, removed FROM old_subscriptions ORDER BY number")
    insert_rows(connection, (_checked(values, connection.seed) for values in rows))
    versions = connection.execute("SELECT version, change, name, time FROM old_versions").fetchall()
    numbers = connection.execute("SELECT added, max(number) FROM subscriptions GROUP BY added")
    by_version = dict(numbers.fetchall())
    ends = connection.execute("SELECT number, added, removed FROM subscriptions")
    insert_versions(connection, sum_versions(versions, ends, by_version, connection.seed))
    create_buckets(connection)
    fill_buckets(connection, max(by_version.values(), default=0))
    for name in ("versions", "subscriptions"):
        connection.execute(f"DROP TABLE old_{name}")
    connection.execute(_INDEX)
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def _checked(values: tuple[Any, ...], seed: int) -> tuple[Any, ...]:
    *columns, removed = values
    try:
        json.loads(columns[5])
        checksum = row_checksum(tuple(columns), seed)
    except (TypeError, ValueError) as error:
        message = f"the database is of an earlier release and its row {columns[0]} is damaged"
        raise damaged(f"{message}: {error}") from None
    ending = None if removed is None else end_checksum(columns[0], removed, checksum)
    return (*columns, checksum, removed, ending)


def _format_of(connection: Database) -> int:
    form: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return form


def _is_registry(connection: Database) -> bool:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    return bool(application == APPLICATION_ID)
