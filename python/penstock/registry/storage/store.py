"""The table of subscriptions in a file: SQLite with a write-ahead log.

A row is one subscription from the version that added it to the version that removed it, so that
every earlier version can still be read. Nothing is ever changed in a row but its end. Rows are
never deleted, so their numbers have no gaps.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import RLock

from penstock.registry.storage.database import (
    BUSY_SECONDS,
    Database,
    connect,
    raise_registry_error,
    registry_errors,
)
from penstock.registry.storage.schema import prepare_schema


class Store:
    """A connection to the file, for one process; threads take turns.

    A process that was forked from one with an open store gets a connection of its own.
    """

    def __init__(self, file: Path, is_flushed: bool = True) -> None:
        self._file = file
        self._is_flushed = is_flushed
        self.lock = RLock()
        self._depth = 0
        self._owner = -1
        self._connection: Database | None = None
        with registry_errors(self._file):
            self._connect()

    @contextmanager
    def read(self) -> Iterator[Database]:
        """Return the connection inside a read transaction; blocks may nest.

        Raises:
            RegistryError: The file cannot be read.
        """
        with self.lock, registry_errors(self._file):
            connection = self._connect()
            if connection.in_transaction:
                yield connection
            else:
                with connection.reading():
                    yield connection

    @contextmanager
    def glance(self) -> Iterator[Database]:
        """Return the connection for a single statement, which is cheaper.

        Raises:
            RegistryError: The file cannot be read.
        """
        with self.lock, registry_errors(self._file):
            yield self._connect()

    @contextmanager
    def write(self) -> Iterator[Database]:
        """Return the connection inside the only write transaction; blocks may nest.

        The outermost block makes everything durable at its end, or undoes it.

        Raises:
            RegistryError: The file cannot be written.
        """
        database = self.begin()
        try:
            yield database
        except BaseException as error:
            self.end(database, error)
            raise
        self.end(database)

    def begin(self) -> Database:
        """Begin a block of ``write``, which ``end`` must end.

        Raises:
            RegistryError: The file cannot be written.
        """
        self.lock.acquire()
        try:
            connection = self._connect()
            if self._depth == 0:
                connection.execute("BEGIN IMMEDIATE")
        except BaseException as error:
            self.lock.release()
            raise_registry_error(error, self._file)
            raise
        self._depth += 1
        return connection

    def end(self, connection: Database, error: BaseException | None = None) -> None:
        """End a block of ``write``; an error undoes everything since the outermost began.

        Raises:
            RegistryError: The file cannot be written; the error is one of SQLite.
        """
        # Closing the store inside the block has undone everything.
        is_open = connection is self._connection
        try:
            if error is None and self._depth < 2:
                connection.execute("COMMIT")
            elif is_open and self._depth < 2:
                connection.undo()
        except sqlite3.Error as failure:
            error = failure
            if is_open:
                connection.undo()
        finally:
            if is_open:
                self._depth -= 1
            self.lock.release()
        # The caller's own text may be invalid UTF-8, too.
        if not isinstance(error, UnicodeDecodeError):
            raise_registry_error(error, self._file)

    @contextmanager
    def apart(self) -> Iterator[Database]:
        """Return a separate connection, for a long read that must not block others.

        Raises:
            RegistryError: The file cannot be read.
        """
        with registry_errors(self._file), closing(_open(self._file)) as connection:
            yield connection

    @property
    def is_writing(self) -> bool:
        """Whether a transaction is open."""
        return self._depth > 0

    def close(self) -> None:
        """Close the connection; the next use opens it again."""
        with self.lock:
            if self._connection is not None and self._owner == os.getpid():
                self._connection.close()
            self._connection = None
            self._depth = 0

    def __del__(self) -> None:
        self.close()

    def _connect(self) -> Database:
        # A connection must not cross a fork, not even to be closed.
        if self._connection is None or self._owner != os.getpid():
            self._connection = _open(self._file)
            if not self._is_flushed:
                self._connection.execute("PRAGMA synchronous = NORMAL")
            self._owner = os.getpid()
            self._depth = 0
        return self._connection


def _open(file: Path) -> Database:
    connection = connect(file)
    try:
        _switch_to_log(connection)
        connection.execute("PRAGMA synchronous = FULL")
        prepare_schema(connection, file)
    except BaseException:
        connection.close()
        raise
    return connection


def _switch_to_log(connection: Database) -> None:
    """Turn the write-ahead log on; SQLite does not wait for locks when doing so."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
