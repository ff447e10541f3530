"""Published plans: the tiers of a version in files, for processes on any number of hosts.

A *list* names the tiers of one version, in their order, and what was removed from each of them:

    plans/VERSION-MARK-COMPILER.tiers    the list, as JSON behind a line with a checksum
    tiers/HASH.tier                      a plan file, named by its content
    tiers/HASH.removed                   places of a tier that were removed, if they are many

Versions share the tiers that they have in common, so publishing a change costs a small tier and a
list. A list never changes: whoever computes a batch again finds the same tiers. Files are written
before the list that names them, and removed after it, so that a kill leaves no list without its
files. A list or a file that is damaged is written again from the database.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import struct
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from penstock.errors import DamageError
from penstock.registry.plans.files import (
    LIST_SUFFIX,
    REMOVED_SUFFIX,
    TIER_SUFFIX,
    PlanFile,
    pack_plan,
    read_plan,
    remove_plans,
    unusable,
)
from penstock.registry.plans.tiers import Removals, Tier
from penstock.registry.storage.folder import PLANS, TIERS
from penstock.storage import whole_file

REMOVED_MAX = 1024
"""So many removed subscriptions of a tier stand in the list itself; more get a file."""

_REMOVED_AT_ONCE = 200
"""Removing so many files takes some milliseconds."""

_TITLE = b"penstock tiers 1"
_HEAD = struct.Struct("=8sII")
_MAGIC = b"PENSTREM"
_FORMAT = 1


class ListedTier(NamedTuple):
    """A tier of a list: its file, and the places in it that were removed."""

    file: str
    removals: str | None
    removed: Sequence[int]
    """Places beyond those in the file ``removals``."""

    @property
    def files(self) -> list[str]:
        """The files that belong to the tier."""
        return [self.file] if self.removals is None else [self.file, self.removals]


Signature = tuple[int, int, int]


class PublishedPlans:
    """The published plans in a registry's folder, for the processes that have its database."""

    def __init__(self, folder: Path) -> None:
        self._lists = folder / PLANS
        self._tiers = folder / TIERS
        self._sound: dict[str, Signature] = {}
        """Files that this process wrote or checked, as they were then."""
        self._needs: dict[str, frozenset[str]] = {}
        """The files of lists that this process wrote or looked at; lists never change."""

    def list_file(self, name: str) -> Path:
        """Return the path of a list."""
        return self._lists / name

    def keep(self, tier: Tier) -> str:
        """Write a tier's file unless it is there, and return its name.

        Raises:
            OSError: The folder cannot be written.
        """
        if tier.file is None or not self._is_sound(tier.file):
            packed = pack_plan(PlanFile(tier.serials, tier.names, tier.planned), suffix=TIER_SUFFIX)
            if not self._is_sound(packed.name):
                with whole_file(self._tiers / packed.name) as file:
                    file.writelines(packed.parts)
                self._note(packed.name)
            tier.file = packed.name
        return tier.file

    def write(self, name: str, tiers: Sequence[Tier]) -> None:
        """Write the list of a version, and those of its tiers that are not there.

        Raises:
            OSError: The folder cannot be written.
        """
        listed = []
        for tier in tiers:
            if tier.size:
                file, removals = self.keep(tier), self._keep_removed(tier)
                filed = 0 if removals is None else removals.length
                removed = tier.removed_places[filed:]
                listed.append(ListedTier(file, removals.file if removals else None, removed))
        with whole_file(self.list_file(name)) as opened:
            opened.write(encode_list(name, listed))
        self._needs[name] = frozenset(file for one in listed for file in one.files)
        for tier in tiers:
            tier.replaced = ()

    def _keep_removed(self, tier: Tier) -> Removals | None:
        known = tier.removals
        if known is not None and not self._is_sound(known.file):
            known = None
        if len(tier.removed_places) - (known.length if known else 0) > REMOVED_MAX:
            file, content = encode_removed(tier.removed_places)
            if not self._is_sound(file):
                with whole_file(self._tiers / file) as opened:
                    opened.write(content)
                self._note(file)
            known = Removals(file, len(tier.removed_places))
        tier.removals = known
        return known

    def read(self, name: str, known: Mapping[str, Tier] | None = None) -> list[Tier]:
        """Return the tiers of a list; those that are known by their files are taken as they are.

        Raises:
            DamageError: The list, or one of its files, is damaged.
            OSError: One of them cannot be read.
        """
        known = known or {}
        listed = read_list(self.list_file(name))
        return [known.get(one.file) or self._read(one) for one in listed]

    def _read(self, listed: ListedTier) -> Tier:
        tier = read_tier(self._tiers / listed.file)
        self._note(listed.file)
        if listed.removals is not None:
            places = read_removed(self._tiers / listed.removals)
            self._note(listed.removals)
            tier.remove_places(places)
            tier.removals = Removals(listed.removals, len(places))
        tier.remove_places(listed.removed)
        return tier

    def is_complete(self, name: str) -> bool:
        """Return whether a list and all of its files are there, and sound."""
        try:
            listed = read_list(self.list_file(name))
        except (OSError, DamageError):
            return False
        return all(self._is_sound(file) for one in listed for file in one.files)

    def distrust(self) -> None:
        """Look at every file again, even if it was written or checked before."""
        self._sound.clear()
        self._needs.clear()

    def mend(self) -> None:
        """Remove damaged files, and then lists that lack one.

        Raises:
            OSError: The folder cannot be written.
        """
        for path in self._tiers.glob("[!.]*"):
            if not self._is_sound(path.name):
                path.unlink(missing_ok=True)
        for path in self._lists.glob(f"[!.]*{LIST_SUFFIX}"):
            if not self.is_complete(path.name):
                path.unlink(missing_ok=True)

    def forget(self, kept: Iterable[str], own: Iterable[Tier]) -> bool:
        """Remove all lists but those kept and fresh ones, and tiers that no list needs.

        A process's ``own`` tiers stay as well: it may be about to publish them. Returns whether
        that is all: a call removes no more than a change can wait for.
        """
        removed = remove_plans(self._lists, kept, files_max=_REMOVED_AT_ONCE)
        needed = {tier.file for tier in own}
        needed |= {tier.removals.file for tier in own if tier.removals is not None}
        names = [name for name in os.listdir(self._lists) if name.endswith(LIST_SUFFIX)]
        self._needs = {name: self._files_of(name) for name in names}
        needed = needed.union(*self._needs.values())
        if self._tiers.is_dir():
            names = [file for file in needed if file is not None]
            removed += remove_plans(self._tiers, names, files_max=_REMOVED_AT_ONCE)
        # A thread that merges may write a tier meanwhile.
        sound = list(self._sound.items())
        self._sound = {file: was for file, was in sound if file in needed}
        return removed < _REMOVED_AT_ONCE

    def _files_of(self, name: str) -> frozenset[str]:
        known = self._needs.get(name)
        if known is None:
            known = frozenset()
            with contextlib.suppress(OSError, DamageError):
                listed = read_list(self.list_file(name))
                known = frozenset(file for one in listed for file in one.files)
        return known

    def _is_sound(self, file: str) -> bool:
        """Return whether a file is as it was when it was written or checked, or check it now."""
        path = self._tiers / file
        try:
            if self._sound.get(file) == _signature(path):
                return True
            check_file(path)
            self._note(file)
        except (OSError, DamageError):
            return False
        return True

    def _note(self, file: str) -> None:
        self._sound[file] = _signature(self._tiers / file)


def _signature(path: Path) -> Signature:
    status = os.stat(path)
    return status.st_ino, status.st_size, status.st_mtime_ns


def read_tier(path: Path, file: str | None = None) -> Tier:
    """Return the tier of a file, or of a copy of the file that had another name.

    Raises:
        DamageError: The file is damaged.
        OSError: The file cannot be read.
    """
    tier = Tier(*read_plan(path, file))
    tier.file = file or path.name
    return tier


def check_file(path: Path) -> None:
    """Read a file of tiers or of removed places, and see whether it is sound.

    Raises:
        DamageError: It is damaged.
        OSError: It cannot be read.
    """
    read: Callable[[Path], object] = read_plan
    if path.suffix == REMOVED_SUFFIX:
        read = read_removed
    read(path)


def encode_list(name: str, listed: Iterable[ListedTier]) -> bytes:
    """Return the content of a list."""
    tiers = [one._replace(removed=list(one.removed))._asdict() for one in listed]
    body = json.dumps({"tiers": tiers}, separators=(",", ":")).encode()
    return b"%s %08x\n%s\n" % (_TITLE, _checksum(name, body), body)


def read_list(path: Path) -> list[ListedTier]:
    """Return the tiers that a list names.

    Raises:
        DamageError: The list is damaged, or that of another version.
        OSError: It cannot be read.
    """
    title, _, body = path.read_bytes().partition(b"\n")
    body = body.removesuffix(b"\n")
    if title != b"%s %08x" % (_TITLE, _checksum(path.name, body)):
        raise unusable(f"the list {path} is damaged")
    return [ListedTier(**one) for one in json.loads(body)["tiers"]]


def encode_removed(places: Sequence[int]) -> tuple[str, bytes]:
    """Return the name and the content of a file with removed places."""
    body = array("I", places).tobytes()
    name = f"{hashlib.blake2b(body, digest_size=16).hexdigest()}{REMOVED_SUFFIX}"
    return name, _HEAD.pack(_MAGIC, _FORMAT, _checksum(name, body)) + body


def read_removed(path: Path) -> Sequence[int]:
    """Return the removed places in a file.

    Raises:
        DamageError: The file is damaged, or that of another tier.
        OSError: It cannot be read.
    """
    content = path.read_bytes()
    head, body = content[: _HEAD.size], content[_HEAD.size :]
    if head != _HEAD.pack(_MAGIC, _FORMAT, _checksum(path.name, body)):
        raise unusable(f"{path} is damaged")
    return array("I", body)


def _checksum(name: str, body: bytes) -> int:
    return crc32(body, crc32(name.encode()))
