"""The rows that sinks hold, read without Spark and without the sinks' own code."""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow.dataset as ds

import penstock

COLUMNS = "subscription stream document ordinal kind name value start end".split()

Row = tuple[Any, ...]
"""The values of ``COLUMNS``, and the code of the error if it is one."""


def row_of(row: Mapping[str, Any]) -> Row:
    """Return a row of a file, or of the console."""
    return (*(row[name] for name in COLUMNS), row["error"] and row["error"]["code"])


def engine_row(row: penstock.Result) -> Row:
    """Return a row of the engine in this process."""
    return (*(getattr(row, name) for name in COLUMNS), row.error.code if row.error else None)


def rows_in(kind: str, path: Path, table: str = "results") -> list[Row]:
    """Return the rows of a sink; the sink stays as it is."""
    if not path.exists():
        return []
    if kind == "sqlite":
        return _table_rows(path, table)
    read = _READERS.get(kind, _parquet_rows)
    return [row_of(row) for row in read(path)]


def _parquet_rows(folder: Path) -> Iterator[Mapping[str, Any]]:
    # Without files there is no schema.
    if _visible(folder, "*.parquet"):
        found = ds.dataset(str(folder), format="parquet", partitioning="hive")
        yield from found.to_table(columns=[*COLUMNS, "error"]).to_pylist()


def _delta_rows(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a Delta table by its log, whose entries are all kept here."""
    files: set[str] = set()
    entries = sorted((folder / "_delta_log").glob("*.json"))
    assert [int(entry.stem) for entry in entries] == list(range(len(entries)))
    for entry in entries:
        for line in entry.read_text("utf-8").splitlines():
            action = json.loads(line)
            if "add" in action:
                assert "deletionVector" not in action["add"]
                files.add(action["add"]["path"])
            elif "remove" in action:
                files.remove(action["remove"]["path"])
    for name in sorted(files):
        path = folder / unquote(name)
        yield from ds.dataset(str(path)).to_table(columns=[*COLUMNS, "error"]).to_pylist()


def _iceberg_rows(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of an Iceberg table that lies in a folder, by its last metadata."""
    from pyiceberg.table import StaticTable

    entries = {int(path.name[1:].split(".")[0]): path for path in folder.glob("metadata/v*.json")}
    table = StaticTable.from_metadata(str(entries[max(entries)]))
    yield from table.scan(selected_fields=(*COLUMNS, "error")).to_arrow().to_pylist()


def _json_rows(folder: Path) -> Iterator[Mapping[str, Any]]:
    for path in _visible(folder, "*.json"):
        # A line of JSON ends with a line feed only; other line ends may stand in a value.
        yield from (json.loads(line) for line in path.read_text("utf-8").split("\n") if line)


def _visible(folder: Path, pattern: str) -> list[Path]:
    """Return the files that readers of a folder see: what is being written has other names."""
    return [
        path
        for path in folder.rglob(pattern)
        if not any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts)
    ]


def _table_rows(path: Path, table: str) -> list[Row]:
    """Return the rows of a copy: opening a database repairs it, and that is the sink's part."""
    with tempfile.TemporaryDirectory() as folder:
        for suffix in ("", "-wal"):
            if path.with_name(path.name + suffix).exists():
                shutil.copy(path.with_name(path.name + suffix), Path(folder, f"copy{suffix}"))
        with closing(sqlite3.connect(Path(folder, "copy"))) as database:
            tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if (table,) not in tables.fetchall():
                return []
            names = ", ".join(f'"{name}"' for name in (*COLUMNS, "error_code"))
            return database.execute(f'SELECT {names} FROM "{table}"').fetchall()


_READERS = {"json": _json_rows, "delta": _delta_rows, "iceberg": _iceberg_rows}
