"""Checks before a registry's folder is used.

They read a few rows, whatever the size: the newest version with the sums over its rows, and the
version that the file ``head`` names. Everything else is checked when it is read. Nothing is
written, so when opening fails, everything that ``repair`` may need is still there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from penstock.errors import DamageError, RegistryError
from penstock.registry.plans.bases import last_base
from penstock.registry.plans.pins import CURRENT, PINS, Pins
from penstock.registry.storage.checksums import damaged
from penstock.registry.storage.database import Database, connect, registry_errors
from penstock.registry.storage.folder import BASES, DATABASE, LOG, PLANS, REPAIRED, TIERS
from penstock.registry.storage.head import HEAD, Head, HeadRecord
from penstock.registry.storage.schema import is_current
from penstock.registry.storage.table import last_version, read_version


def inspect(folder: Path) -> None:
    """Check a folder before anything in it is opened for writing.

    Raises:
        DamageError: The database is missing, damaged, or not the one the folder had last.
        RegistryError: The database cannot be read.
        OSError: The folder cannot be read.
    """
    if (folder / REPAIRED).exists():
        message = f"a repair of {folder} was cut short; `penstock registry repair` ends it"
        raise DamageError("PR0032", message)
    file, head = folder / DATABASE, Head(folder).read()
    reached = witnessed_version(folder, head)
    # In this order: another process may be creating the registry, beginning with the database.
    is_known = head is not None or has_remains(folder)
    if not file.exists() or file.stat().st_size == 0:
        if is_known:
            raise damaged(f"the database {file} is missing or empty, and other files are there")
        return
    try:
        with registry_errors(file), read_only(file) as database:
            # The tables of an earlier release are brought up to this one first.
            if is_current(database):
                database.identify()
                check_head(database, head, reached)
    except DamageError as error:
        if not is_known:
            raise RegistryError("PR0005", f"{file} is no registry: {error.message}") from error
        raise


def is_registry(folder: Path) -> bool:
    """Return whether a folder holds a registry, sound or damaged."""
    is_known = (folder / DATABASE).exists() or (folder / HEAD).exists()
    return is_known or (folder.is_dir() and has_remains(folder))


@contextmanager
def read_only(file: Path) -> Iterator[Database]:
    """Open a database for reading in one transaction; nothing is changed."""
    with closing(connect(file, is_read_only=True)) as database, database.reading():
        yield database


def has_remains(folder: Path) -> bool:
    """Return whether there are files that only a registry that was used has."""
    if any((folder / name).exists() for name in (CURRENT, PINS, LOG)):
        return True
    folders = [folder / name for name in (BASES, PLANS, TIERS)]
    return any(any(cache.glob("[!.]*")) for cache in folders if cache.is_dir())


def witnessed_version(folder: Path, head: HeadRecord | None) -> int:
    """Return a version that the database must have reached, from ``head`` or else other files.

    Call this before reading the database, which other processes may change in between.
    """
    if head is not None:
        return head.version
    current = Pins(folder).current()
    return max(0 if current is None else current.version, last_base(folder / BASES))


def check_head(database: Database, head: HeadRecord | None, reached: int) -> None:
    """Compare the newest version of a database with its rows, ``head`` and the version reached.

    Raises:
        DamageError: They do not agree.
    """
    last = last_version(database)
    (number,) = database.execute("SELECT coalesce(max(number), 0) FROM subscriptions").fetchone()
    if number != last.numbers:
        raise damaged(f"the database has {number} rows, and its last version {last.numbers}")
    if head is not None and head.identity != database.identity:
        message = "the database is that of another registry"
    elif reached > last.version:
        message = (
            f"the database ends with version {last.version}, and version {reached} was written: "
            "it is an older copy, or lost its last changes"
        )
    elif head is not None and not head.names(read_version(database, reached)):
        message = f"version {reached} of the database is another one than was written"
    else:
        return
    way_out = "put the right one back, or let `penstock registry repair` go on with this one"
    raise DamageError("PR0031", f"{message}; {way_out}")
