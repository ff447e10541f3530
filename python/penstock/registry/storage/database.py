"""A connection to a registry's database, with the identity of the registry."""

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
"""How long a writer waits for another one."""

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
    """A connection. All checksums begin with ``seed``, so rows of other registries are invalid."""

    identity = ""
    seed = 0
    newest = NO_VERSION
    """The newest version that was read and checked, or written."""
    newest_state: int | None = None
    """SQLite's data version; while it stays the same, so does ``newest``."""
    names: tuple[VersionRow, NameBuckets] | None = None
    """A version, and the buckets of names as its change left them."""

    def undo(self) -> None:
        """Roll the transaction back, and drop what was cached inside it."""
        self.newest, self.newest_state, self.names = NO_VERSION, None, None
        if self.in_transaction:
            self.execute("ROLLBACK")

    def create_identity(self, identity: str | None = None) -> None:
        """Write the identity, inside a transaction of the caller."""
        identity = identity or uuid4().hex
        self.execute(_SCHEMA)
        self.execute(
            "INSERT INTO registry VALUES (1, ?, ?)", (identity, identity_checksum(identity))
        )
        self.identity, self.seed = identity, seed_of(identity)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read in one transaction: all statements of the block see the same version."""
        self.execute("BEGIN")
        try:
            yield
        finally:
            if self.in_transaction:
                self.execute("ROLLBACK")

    def identify(self) -> None:
        """Read the identity.

        Raises:
            DamageError: It is damaged.
        """
        row = self.execute("SELECT identity, checksum FROM registry WHERE id = 1").fetchone()
        if row is None or row[1] != identity_checksum(row[0]):
            raise damaged("the identity of the registry in its database is not as it was written")
        self.identity, self.seed = row[0], seed_of(row[0])


def seed_of(identity: str) -> int:
    """Return the value that the checksums of a registry begin with."""
    return crc32(identity.encode())


def identity_checksum(identity: object) -> int:
    """Return the checksum of an identity."""
    return crc32(ascii(identity).encode())


def connect(file: Path, is_read_only: bool = False) -> Database:
    """Return a connection to a file; a read-only one leaves the log unchanged, even when closed."""
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
def registry_errors(file: Path) -> Iterator[None]:
    """Raise SQLite's errors as errors of the registry.

    Raises:
        RegistryError: The file cannot be read or written.
        DamageError: The file is damaged.
    """
    try:
        yield
    except (sqlite3.Error, MemoryError, UnicodeDecodeError) as error:
        raise_registry_error(error, file)


def raise_registry_error(error: BaseException | None, file: Path) -> None:
    """Raise the registry's error for an error of SQLite; return for all others."""
    if not isinstance(error, sqlite3.Error | MemoryError | UnicodeDecodeError):
        return
    message = f"the registry {file}: {error}"
    # A damaged size may demand any amount of memory. Text that is not UTF-8 is an error of Python's
    # module without a code of SQLite, and so is a message of SQLite that quotes such text.
    is_uncoded = not isinstance(error, sqlite3.Error) or isinstance(error, sqlite3.OperationalError)
    code = getattr(error, "sqlite_errorcode", _MALFORMED if is_uncoded else 0)
    if code & 0xFF in _DAMAGE_CODES:
        raise damaged(message) from error
    raise RegistryError("PR0005", message) from error
