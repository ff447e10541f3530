"""A connection to a registry's database that knows which registry it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote
from uuid import uuid4
from zlib import crc32

from penstock.errors import RegistryError
from penstock.registry.storage.checksums import NO_VERSION, VersionRow, damaged

if TYPE_CHECKING:
    from penstock.registry.storage.buckets import NameBuckets

BUSY_SECONDS = 60.0
"""A writer waits this long for another one."""

# SQLite's codes for a file that is not what it should be: an error in the schema (1), a malformed
# page (11), and another kind of file (26). The others are about the disk, locks and rights.
_MALFORMED = 11
_DAMAGE_CODES = {1, _MALFORMED, 26}
_SCHEMA = """CREATE TABLE registry (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL,
    checksum INTEGER NOT NULL
)"""


class Database(sqlite3.Connection):
    """A connection. All checksums begin with ``seed``: rows of another registry are not ours."""

    identity = ""
    seed = 0
    newest = NO_VERSION
    """The newest version that was read and checked, or written."""
    newest_state: int | None = None
    """SQLite's number for the state that others left; while it is the same, so is the newest."""
    names: tuple[VersionRow, NameBuckets] | None = None
    """A version, and what the last change knew of its names."""

    def undo(self) -> None:
        """End the transaction without its changes, and forget what was known of them."""
        self.newest, self.newest_state, self.names = NO_VERSION, None, None
        if self.in_transaction:
            self.execute("ROLLBACK")

    def create_identity(self, identity: str | None = None) -> None:
        """Write who this is, inside a transaction of the caller."""
        identity = identity or uuid4().hex
        self.execute(_SCHEMA)
        self.execute(
            "INSERT INTO registry VALUES (1, ?, ?)", (identity, identity_checksum(identity))
        )
        self.identity, self.seed = identity, seed_of(identity)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let all statements of the block see the same version."""
        self.execute("BEGIN")
        try:
            yield
        finally:
            if self.in_transaction:
                self.execute("ROLLBACK")

    def identify(self) -> None:
        """Read who this is.

        Raises:
            DamageError: That is damaged.
        """
        row = self.execute("SELECT identity, checksum FROM registry WHERE id = 1").fetchone()
        if row is None or row[1] != identity_checksum(row[0]):
            raise damaged("the identity of the registry in its database is not as it was written")
        self.identity, self.seed = row[0], seed_of(row[0])


def seed_of(identity: str) -> int:
    """Return what the checksums of a registry begin with."""
    return crc32(identity.encode())


def identity_checksum(identity: object) -> int:
    """Return the checksum of an identity."""
    return crc32(ascii(identity).encode())


def connect(file: Path, is_read_only: bool = False) -> Database:
    """Open a file as it is. Who only reads leaves the log as it is, even at the end."""
    address = f"file:{quote(str(file))}?mode={'ro' if is_read_only else 'rwc'}"
    return sqlite3.connect(
        address,
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        factory=Database,
    )


@contextmanager
def told(file: Path) -> Iterator[None]:
    """Raise what SQLite says of a file as errors of the registry.

    Raises:
        RegistryError: The file cannot be read or written.
        DamageError: The file is damaged.
    """
    try:
        yield
    except (sqlite3.Error, MemoryError, UnicodeDecodeError) as error:
        raise_told(error, file)


def raise_told(error: BaseException | None, file: Path) -> None:
    """Raise an error of SQLite as one of the registry, and return for others."""
    if not isinstance(error, sqlite3.Error | MemoryError | UnicodeDecodeError):
        return
    message = f"the registry {file}: {error}"
    # Sizes that are damaged may ask for any amount of memory. Text that is not UTF-8 is an error
    # of Python's module, which has no code for it, and so is a message of SQLite that quotes it.
    is_beyond = not isinstance(error, sqlite3.Error) or isinstance(error, sqlite3.OperationalError)
    code = getattr(error, "sqlite_errorcode", _MALFORMED if is_beyond else 0)
    if code & 0xFF in _DAMAGE_CODES:
        raise damaged(message) from error
    raise RegistryError("PR0005", message) from error
