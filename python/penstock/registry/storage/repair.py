"""Repair of a damaged registry: intact rows are saved, caches are rebuilt, losses are reported.

All files are copied first. A new database is then written beside the old one and replaces it in
steps that can all be repeated, beginning with a rename. An interrupted repair leaves the damaged
registry, or a folder ``repaired`` with which the next repair continues; until then the registry
does not open.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from penstock.errors import DamageError, RegistryError
from penstock.registry.durable import DurableRegistry
from penstock.registry.plans.files import BASE_SUFFIX, SUFFIX, TIER_SUFFIX, read_plan
from penstock.registry.plans.pins import CURRENT, PINS, Pins
from penstock.registry.storage.database import connect
from penstock.registry.storage.folder import (
    BASES,
    DAMAGED,
    DATABASE,
    LOG,
    PLANS,
    REPAIRED,
    SHARED_MEMORY,
    TIERS,
)
from penstock.registry.storage.head import HEAD, Head, HeadRecord
from penstock.registry.storage.opening import witnessed_version
from penstock.registry.storage.rebuild import Losses, rebuild
from penstock.registry.storage.salvage import Salvage, find_identities, salvage
from penstock.registry.storage.table import last_version, name_of_version
from penstock.registry.storage.verify import Finding, is_of_earlier_release, verify
from penstock.storage import sync

_UNFINISHED = ".tmp"
# Where SQLite has its locks, https://www.sqlite.org/lockingv3.html: every process that has the file
# open locks one of these bytes.
_SHARED_FIRST, _SHARED_SIZE = 0x40000002, 510


@dataclass
class RepairReport:
    """The damage, the losses, and where copies of the damaged files are."""

    findings: list[Finding]
    losses: Losses = field(default_factory=Losses)
    copy: Path | None = None
    subscriptions: int = 0
    version: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether nothing was lost."""
        return not (self.losses.rows or self.losses.versions or self.losses.uncertain)


def repair(folder: Path) -> RepairReport:
    """Repair a registry that no process has open, and return a report.

    Raises:
        RegistryError: There is no registry, or it is in use.
        OSError: The folder cannot be read or written.
    """
    if is_of_earlier_release(folder):
        DurableRegistry(folder).close()
    with _alone(folder):
        if (folder / REPAIRED).exists():
            _install(folder)
        report = RepairReport(verify(folder).findings)
        if report.findings:
            report.copy = _copy(folder)
            if any(one.is_authoritative for one in report.findings):
                report.losses = _rebuild_database(folder)
                # Pins can be checked only against a sound database.
                report.findings += [
                    one for one in verify(folder).findings if one.file.startswith(PINS)
                ]
            _remove(folder, report.findings)
    with closing(DurableRegistry(folder)) as registry:
        if Pins(folder).is_followed:
            registry.follow()
        report.subscriptions, report.version = len(registry), registry.version
    return report


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Lock the registry against all other processes.

    Raises:
        RegistryError: Another process has the registry open.
    """
    file = folder / DATABASE
    with ExitStack() as stack:
        try:
            handle = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if file.exists():
                opened = stack.enter_context(open(file, "r+b"))
                exclusive = fcntl.LOCK_EX | fcntl.LOCK_NB
                fcntl.lockf(opened, exclusive, _SHARED_SIZE, _SHARED_FIRST)
        except BlockingIOError:
            message = f"the registry {folder} is in use; close it everywhere, then repair it"
            raise RegistryError("PR0035", message) from None
        yield


def _copy(folder: Path) -> Path:
    """Copy everything except earlier copies, and return the folder of the copy."""
    number = 1 + len(list((folder / DAMAGED).glob("[0-9]*")))
    place = folder / DAMAGED / str(number)
    unfinished = place.with_name(f".{number}{_UNFINISHED}")
    shutil.rmtree(unfinished, ignore_errors=True)
    ignored = shutil.ignore_patterns(DAMAGED, REPAIRED, f"{REPAIRED}{_UNFINISHED}")
    shutil.copytree(folder, unfinished, ignore=ignored)
    os.replace(unfinished, place)
    return place


def _rebuild_database(folder: Path) -> Losses:
    unfinished = folder / f"{REPAIRED}{_UNFINISHED}"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    named: dict[int, str] = {}
    tiers = (folder / TIERS).glob(f"[!.]*{TIER_SUFFIX}")
    for path in (*sorted(tiers), *sorted((folder / BASES).glob(f"*{BASE_SUFFIX}"))):
        with suppress(DamageError, OSError):
            base = read_plan(path)
            named.update(zip(base.serials, base.names, strict=True))
    head = _head(folder)
    reached = witnessed_version(folder, head)
    losses = rebuild(unfinished / DATABASE, _saved(folder, head), named, reached)
    os.replace(unfinished, folder / REPAIRED)
    _install(folder)
    return losses


def _head(folder: Path) -> HeadRecord | None:
    with suppress(DamageError):
        return Head(folder).read()
    return None


def _saved(folder: Path, head: HeadRecord | None) -> Salvage:
    """Return the intact rows of the registry to which the other files belong."""
    identities = find_identities(folder)
    if head is not None:
        saved = salvage(folder, head.identity)
        if saved.rows or saved.versions or not identities:
            return saved
    # Either `head` or the database belongs to another registry.
    others = [salvage(folder, identity) for identity in identities]
    is_there = (folder / DATABASE).exists() and (folder / DATABASE).stat().st_size > 0
    # The database of an earlier release has no checksums, so its rows cannot be recognised.
    if head is None and not others and is_there and not _has_sound_cache(folder):
        message = f"nothing in {folder / DATABASE} can be told to be of a registry"
        raise RegistryError("PR0036", f"{message}; put a copy of it in its place")
    for other in others:
        if _is_vouched_for(folder, other):
            return other
    if head is None or not _witnesses(folder):
        return others[0] if others else Salvage("")
    return Salvage(head.identity)


def _witnesses(folder: Path) -> set[str]:
    """Return versions and marks as the names of plans have them."""
    return {path.name.rpartition("-")[0] for path in (folder / PLANS).glob("[0-9]*")}


def _is_vouched_for(folder: Path, saved: Salvage) -> bool:
    names = map(name_of_version, saved.versions.values())
    return not _witnesses(folder).isdisjoint(f"{name.version}-{name.mark}" for name in names)


def _has_sound_cache(folder: Path) -> bool:
    """Return whether a base or a plan of this release is there."""
    kinds = ((BASES, BASE_SUFFIX), (PLANS, SUFFIX), (TIERS, TIER_SUFFIX))
    for path in (
        file for place, suffix in kinds for file in (folder / place).glob(f"[!.]*{suffix}")
    ):
        with suppress(DamageError, OSError):
            read_plan(path)
            return True
    return False


def _install(folder: Path) -> None:
    """Put the new database in its place; every step can be repeated."""
    repaired = folder / REPAIRED / DATABASE
    if repaired.exists():
        # SQLite would apply an old log to the new database.
        for name in (LOG, SHARED_MEMORY):
            (folder / name).unlink(missing_ok=True)
        os.replace(repaired, folder / DATABASE)
        sync(folder)
    with closing(connect(folder / DATABASE, is_read_only=True)) as database:
        database.identify()
        last, identity = last_version(database), database.identity
    (folder / HEAD).unlink(missing_ok=True)
    Head(folder).write(last, identity)
    for cache in (BASES, PLANS, TIERS):
        for path in (folder / cache).glob("*"):
            path.unlink()
    (folder / CURRENT).unlink(missing_ok=True)
    os.rmdir(folder / REPAIRED)


def _remove(folder: Path, findings: list[Finding]) -> None:
    """Remove damaged files that can be rebuilt, and pins without a version."""
    for finding in findings:
        if not finding.is_authoritative and finding.file != DATABASE:
            (folder / finding.file).unlink(missing_ok=True)
