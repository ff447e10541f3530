"""Verification of everything in a registry's folder; nothing is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from penstock.errors import DamageError, RegistryError
from penstock.registry.plans.files import (
    BASE_SUFFIX,
    LIST_SUFFIX,
    REMOVED_SUFFIX,
    SUFFIX,
    TIER_SUFFIX,
    read_plan,
)
from penstock.registry.plans.pins import CURRENT, Pins
from penstock.registry.plans.published import check_file, read_list
from penstock.registry.storage.buckets import NameBuckets, name_key
from penstock.registry.storage.checksums import (
    NO_VERSION,
    ROW,
    VERSION,
    TableRow,
    VersionRow,
    check_row,
    damaged,
)
from penstock.registry.storage.database import Database, registry_errors
from penstock.registry.storage.folder import BASES, DATABASE, PLANS, REPAIRED, TIERS
from penstock.registry.storage.head import HEAD, Head
from penstock.registry.storage.opening import check_head, is_registry, read_only, witnessed_version
from penstock.registry.storage.schema import is_current, is_earlier, sum_versions
from penstock.registry.storage.table import name_of_version

PROBLEMS_MAX = 20
"""At most this many problems of one kind are reported."""


class Finding(NamedTuple):
    """A damaged file. Only damage of the database ``is_authoritative``."""

    file: str
    problem: str
    is_authoritative: bool = False

    def __str__(self) -> str:
        return f"{self.file}: {self.problem}"


class Verification(NamedTuple):
    """The findings, and the size of the registry."""

    findings: list[Finding]
    version: int
    subscriptions: int


class Tables(NamedTuple):
    """The tables of a sound database."""

    versions: dict[int, VersionRow]
    names: dict[int, str]
    """The names of all rows, by number."""


def verify(folder: Path) -> Verification:
    """Read everything in the folder of a registry, and return the findings.

    Raises:
        RegistryError: There is no registry, or it cannot be read.
        OSError: The folder cannot be read.
    """
    if not is_registry(folder):
        raise RegistryError("PR0005", f"there is no registry in {folder}")
    findings = []
    if (folder / REPAIRED).exists():
        findings.append(Finding(REPAIRED, "a repair was cut short", True))
    findings += _findings(HEAD, lambda: _check_head_file(folder))
    tables = None
    if is_of_earlier_release(folder):
        problem = "it is of an earlier release; opening the registry brings it up to this one"
        findings.append(Finding(DATABASE, problem))
    else:
        try:
            tables = _read_tables(folder)
        except DamageError as error:
            findings.append(Finding(DATABASE, error.message, True))
    findings += _check_caches(folder, tables)
    findings += _check_pins(folder, tables)
    last = max(tables.versions.values(), default=None) if tables is not None else None
    return Verification(findings, last.version if last else 0, last.active if last else 0)


def is_of_earlier_release(folder: Path) -> bool:
    """Return whether a database is one of an earlier release."""
    file = folder / DATABASE
    if not file.exists():
        return False
    try:
        with registry_errors(file), read_only(file) as database:
            return is_earlier(database)
    except DamageError:
        return False


def _findings(file: str, check: Callable[[], object]) -> list[Finding]:
    try:
        check()
    except DamageError as error:
        return [Finding(file, error.message)]
    return []


def _check_head_file(folder: Path) -> None:
    if Head(folder).read() is None:
        raise damaged("the file is missing")


def _read_tables(folder: Path) -> Tables:
    """Return the tables of the database, with every row checked.

    Raises:
        DamageError: Something is damaged or missing.
    """
    file = folder / DATABASE
    if not file.exists() or file.stat().st_size == 0:
        raise damaged("the database is missing or empty")
    try:
        head = Head(folder).read()
    except DamageError:
        head = None  # it has a finding of its own
    reached = witnessed_version(folder, head)
    with registry_errors(file), read_only(file) as database:
        problems = database.execute(f"PRAGMA integrity_check({PROBLEMS_MAX})").fetchall()
        if problems != [("ok",)]:
            raise damaged("; ".join(problem for (problem,) in problems))
        if not is_current(database):
            raise damaged("the database has another format")
        database.identify()
        check_head(database, head, reached)
        return _check_tables(database)


def _check_tables(database: Database) -> Tables:
    versions = [
        VersionRow._make(row)
        for row in database.execute(f"SELECT {VERSION} FROM versions ORDER BY version")
    ]
    for place, version in enumerate(versions, start=1):
        if version.version != place or not version.is_intact(database.seed):
            raise damaged(f"the version {place} is missing or not as it was written")
    names: dict[int, str] = {}
    active: dict[bytes, int] = {}
    numbers: dict[int, int] = {}

    def ends() -> Iterator[tuple[int, int, int | None]]:
        for values in database.execute(f"SELECT {ROW} FROM subscriptions ORDER BY number"):
            row: TableRow = check_row(values, database.seed)
            names[row.number] = row.name
            numbers[row.added] = row.number
            if row.removed is None:
                active[name_key(row.name)] = row.number
            yield row.number, row.added, row.removed

    origins = [version[:4] for version in versions]
    sums = sum_versions(origins, ends(), numbers, database.seed)
    for version, expected in zip(versions, sums, strict=True):
        # A repair counts the numbers of lost rows, which no version added.
        if version._replace(numbers=0, checksum=0) != expected._replace(numbers=0, checksum=0):
            raise damaged(f"the rows of version {version.version} are not all there")
    if len(names) != max([0, *names]):
        raise damaged("rows are missing")
    if NameBuckets(database.cursor(), len(names)).entries() != active:
        raise damaged("the names do not lead to the rows that have them")
    return Tables({version.version: version for version in versions}, names)


def _check_caches(folder: Path, tables: Tables | None) -> list[Finding]:
    findings = []
    for path in sorted((folder / BASES).glob(f"[!.]*{BASE_SUFFIX}")):
        findings += _findings(f"{BASES}/{path.name}", partial(_check_base, path, tables))
    for path in sorted((folder / PLANS).glob(f"[!.]*{SUFFIX}")):
        findings += _findings(f"{PLANS}/{path.name}", partial(read_plan, path))
    return findings + _check_published(folder, tables)


def _check_published(folder: Path, tables: Tables | None) -> list[Finding]:
    findings, sound = [], set()
    for path in sorted((folder / TIERS).glob("[!.]*")):
        check: Callable[[], object] = partial(check_file, path)
        if path.suffix == TIER_SUFFIX:
            check = partial(_check_base, path, tables)
        elif path.suffix != REMOVED_SUFFIX:
            continue
        found = _findings(f"{TIERS}/{path.name}", check)
        findings += found
        sound |= set() if found else {path.name}

    def check_list(path: Path) -> None:
        for listed in read_list(path):
            for file in listed.files:
                try:
                    # One that is not among those looked at may have come since.
                    if file not in sound:
                        check_file(folder / TIERS / file)
                except (FileNotFoundError, DamageError):
                    raise damaged(f"its file {file} is missing or damaged") from None

    for path in sorted((folder / PLANS).glob(f"[!.]*{LIST_SUFFIX}")):
        findings += _findings(f"{PLANS}/{path.name}", partial(check_list, path))
    return findings


def _check_base(path: Path, tables: Tables | None) -> None:
    base = read_plan(path)
    if tables is not None:
        for number, name in zip(base.serials, base.names, strict=True):
            if tables.names.get(number) != name:
                raise damaged("it belongs to another database")


def _check_pins(folder: Path, tables: Tables | None) -> list[Finding]:
    pins = Pins(folder)
    known = None
    if tables is not None:
        known = {name_of_version(row) for row in tables.versions.values()}
        known.add(name_of_version(NO_VERSION))
    findings = []

    def check_current() -> None:
        current = pins.read(folder / CURRENT)
        if current is None and pins.is_followed:
            raise damaged("the file is missing")
        if known is not None and current is not None and current != max(known):
            raise damaged("it does not name the last version")

    if pins.is_followed or (folder / CURRENT).exists():
        findings += _findings(CURRENT, check_current)
    for path in pins.files():

        def check_pin(path: Path = path) -> None:
            name = pins.read(path)
            if known is not None and name not in known:
                raise damaged("it names no version of this registry")

        findings += _findings(str(path.relative_to(folder)), check_pin)
    return findings
