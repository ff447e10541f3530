"""A new database from the intact rows of a damaged one.

Numbers have no gaps, so a lost row is replaced by an empty one that never was active. Whether a
saved row is still active follows from the row itself, a later row of its name, or the versions.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from penstock.registry.storage.checksums import TableRow, end_checksum, row_checksum
from penstock.registry.storage.database import connect
from penstock.registry.storage.salvage import Salvage
from penstock.registry.storage.schema import (
    create_tables,
    fill_buckets,
    insert_rows,
    insert_versions,
    sum_versions,
)
from penstock.storage import sync

LOST = "lost"
"""The language of an empty row, and the change of a version that is not known."""


@dataclass
class Losses:
    """The rows, names and versions that could not be saved."""

    rows: int = 0
    names: list[str] = field(default_factory=list)
    """Subscriptions that are gone, as far as their names are known."""
    uncertain: list[str] = field(default_factory=list)
    """Subscriptions that are active again although they may have been removed."""
    versions: list[int] = field(default_factory=list)


def rebuild(file: Path, saved: Salvage, named: Mapping[int, str], reached: int) -> Losses:
    """Write a database of saved rows, and return what is lost.

    ``named`` are names of subscriptions by their numbers, and ``reached`` is the last version, as
    far as other files know them.

    Raises:
        OSError: The file cannot be written.
    """
    last = max([0, *saved.versions, *_versions_of(saved)])
    count = max([0, *saved.rows, *named, *(row.numbers for row in saved.versions.values())])
    losses = Losses(count - len(saved.rows), versions=_gaps(saved.versions, max(last, reached)))
    rows = _settled(saved, losses)
    losses.names = _lost_names(saved, rows, named)
    origins = [_origin(saved, version) for version in range(1, last + 1)]
    if losses.rows or losses.versions:
        # The rest must not pass for the last version, which others may remember.
        origins.append((last + 1, "repair", "", time.time()))
    numbers: dict[int, int] = {}
    for row in rows.values():
        numbers[row.added] = max(row.number, numbers.get(row.added, 0))
    if origins:
        numbers[origins[-1][0]] = count
    with closing(connect(file)) as database:
        database.execute("BEGIN")
        create_tables(database, saved.identity)
        insert_rows(database, _whole(rows, count, database.seed))
        ends = ((row.number, row.added, row.removed) for row in rows.values())
        insert_versions(database, sum_versions(origins, ends, numbers, database.seed))
        fill_buckets(database, count)
        database.execute("COMMIT")
    sync(file)
    return losses


def _versions_of(saved: Salvage) -> Iterator[int]:
    for row in saved.rows.values():
        yield row.added
        if row.is_end_intact and row.removed is not None:
            yield row.removed


def _gaps(known: Mapping[int, object], last: int) -> list[int]:
    return [number for number in range(1, last + 1) if number not in known]


def _origin(saved: Salvage, version: int) -> tuple[int, str, str, float]:
    row = saved.versions.get(version)
    return (version, LOST, "", 0.0) if row is None else row[:4]


def _settled(saved: Salvage, losses: Losses) -> dict[int, TableRow]:
    """Return the saved rows with ends that fit the others."""
    ends = _ends(saved)
    by_name = defaultdict(list)
    for number in sorted(saved.rows):
        by_name[saved.rows[number].name].append(saved.rows[number])
    settled = {}
    for name, rows in by_name.items():
        for row, later in zip(rows, [*rows[1:], None], strict=True):
            removed = row.removed if row.is_end_intact else None
            if removed is None:
                later_ends = [end for end in ends.get(name, ()) if end > row.added]
                if later is not None:
                    later_ends.append(later.added)
                removed = min(later_ends, default=None)
            if removed is None and not row.is_end_intact and losses.versions:
                losses.uncertain.append(name)
            ending = None if removed is None else end_checksum(row.number, removed, row.checksum)
            settled[row.number] = row._replace(removed=removed, ending=ending)
    return settled


def _ends(saved: Salvage) -> dict[str, list[int]]:
    """Return the versions that ended subscriptions, by name, in their order."""
    ends: dict[str, list[int]] = {}
    for version in sorted(saved.versions):
        row = saved.versions[version]
        if row.change in ("remove", "replace"):
            ends.setdefault(row.name, []).append(version)
    return ends


def _lost_names(
    saved: Salvage, rows: Mapping[int, TableRow], named: Mapping[int, str]
) -> list[str]:
    """Return the names that were active, and are in no saved row."""
    names: set[str] = set()
    for version in sorted(saved.versions):
        row = saved.versions[version]
        if row.change in ("add", "replace"):
            names.add(row.name)
        elif row.change == "remove":
            names.discard(row.name)
    ended = _ends(saved)
    names |= {name for number, name in named.items() if number not in rows and name not in ended}
    active = {row.name for row in rows.values() if row.removed is None}
    return sorted(names - active)


def _whole(rows: Mapping[int, TableRow], count: int, seed: int) -> Iterator[TableRow]:
    """Yield rows of all numbers, in their order."""
    for number in range(1, count + 1):
        row = rows.get(number)
        if row is None:
            columns = (number, 0, "", LOST, "", "{}", "query", None, None, b"", "", 0)
            checksum = row_checksum(columns, seed)
            row = TableRow(*columns, checksum, 0, end_checksum(number, 0, checksum))
        yield row
