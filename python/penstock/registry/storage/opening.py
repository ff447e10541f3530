"""What is looked at before a registry's folder is used, and what it is held against.

This reads a few rows, however many there are: the newest version, which says what all rows of it
add up to, and the version that the file ``head`` names. Everything else is checked where it is
read. Nothing is written, so what ``repair`` may need is still there when opening fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from penstock.errors import DamageError, RegistryError
from penstock.registry.plans.bases import last_base
from penstock.registry.plans.pins import CURRENT, PINS, Pins
from penstock.registry.storage.checksums import damaged
from penstock.registry.storage.database import Database, connect, told
from penstock.registry.storage.folder import BASES, DATABASE, LOG, PLANS, REPAIRED
from penstock.registry.storage.head import Head, HeadRecord
from penstock.registry.storage.schema import is_current
from penstock.registry.storage.table import last_version, read_version


def inspect(folder: Path) -> None:
    """Look at a folder before anything in it is opened to be written.

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
    # In this order: somebody else may be about to make the registry, the database first.
    is_known = head is not None or has_remains(folder)
    if not file.exists() or file.stat().st_size == 0:
        if is_known:
            raise damaged(f"the database {file} is missing or empty, and other files are there")
        return
    try:
        with told(file), read_only(file) as database:
            # The tables of an earlier release are brought up to this one first.
            if is_current(database):
                database.identify()
                check_head(database, head, reached)
    except DamageError as error:
        if not is_known:
            raise RegistryError("PR0005", f"{file} is no registry: {error.message}") from error
        raise


@contextmanager
def read_only(file: Path) -> Iterator[Database]:
    """Give a database to read as it is now; nothing of it is changed."""
    with closing(connect(file, is_read_only=True)) as database, database.reading():
        yield database


def has_remains(folder: Path) -> bool:
    """Return whether files are there that only a registry with a past has."""
    if any((folder / name).exists() for name in (CURRENT, PINS, LOG)):
        return True
    folders = [folder / name for name in (BASES, PLANS)]
    return any(any(one.glob("[!.]*")) for one in folders if one.is_dir())


def witnessed_version(folder: Path, head: HeadRecord | None) -> int:
    """Return a version that the database must have, as ``head`` or else other files say.

    It must be read before the database, which others may change in between.
    """
    if head is not None:
        return head.version
    current = Pins(folder).current()
    return max(0 if current is None else current.version, last_base(folder / BASES))


def check_head(database: Database, head: HeadRecord | None, reached: int) -> None:
    """Hold the newest version of a database against its rows, ``head`` and what it had reached.

    Raises:
        DamageError: They do not fit.
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
