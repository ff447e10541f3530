"""Changes to a registry's database behind its back that keep the checksums right."""

from pathlib import Path
from typing import Any

from penstock.registry.storage.checksums import ROW, VERSION, TableRow, VersionRow, row_checksum
from penstock.registry.storage.database import Database, connect
from penstock.registry.storage.folder import DATABASE


def open_database(folder: Path) -> Database:
    """Return a connection that may write."""
    database = connect(folder / DATABASE)
    database.identify()
    return database


def rewrite_rows(folder: Path, **columns: Any) -> None:
    """Set columns of all subscriptions that are active."""
    database = open_database(folder)
    for values in database.execute(f"SELECT {ROW} FROM subscriptions").fetchall():
        row = TableRow._make(values)._replace(**columns)
        row = row._replace(checksum=row_checksum(row[:12], database.seed))
        marks = ", ".join("?" * len(row))
        database.execute(f"INSERT OR REPLACE INTO subscriptions ({ROW}) VALUES ({marks})", row)
    database.close()


def move_versions(folder: Path, seconds: float) -> None:
    """Let all versions have been made at another time."""
    database = open_database(folder)
    for values in database.execute(f"SELECT {VERSION} FROM versions").fetchall():
        row = VersionRow._make(values)
        row = row._replace(time=row.time + seconds).sealed(database.seed)
        marks = ", ".join("?" * len(row))
        database.execute(f"INSERT OR REPLACE INTO versions ({VERSION}) VALUES ({marks})", row)
    database.close()
