"""The large tier of a registry in a file, which processes map and share.

A file holds for each subscription its serial, in order, and its name; then the plan's image. Its
head says how long each part is and what all add up to with the file's name, so that a reader knows
a file that was cut off, damaged or renamed, and one of another format. Integers are those of the
machine, as in the image.
Nothing is copied to read a file, and nothing made for each subscription.

The name of a file says which version it holds, when that version was made, and by which compiler:
a file of another registry's past, or of another release, is never taken for the right one.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
import time
from array import array
from collections.abc import Callable
from pathlib import Path

from penstock.errors import DamageError
from penstock.kernel import Plan
from penstock.registry.plans.files import checksum_of, unusable
from penstock.registry.plans.live import Tier
from penstock.registry.plans.names import FlatNames
from penstock.storage import TEMPORARY, whole_file

SUFFIX = ".base"
BASES_KEPT = 2
_HEAD = struct.Struct("=8sIIQQQ")
_MAGIC = b"PENSTOCK"
_FORMAT = 1002
"""Apart from the formats of plan files."""
_ALIGNMENT = 64
_STALE_SECONDS = 3600.0

Stamp = Callable[[int], str | None]
"""Gives what tells a version from others of its number; None for a version that never was."""


def write_base(folder: Path, version: int, stamp: str, tier: Tier) -> Path:
    """Write a tier as the base of a version. The file is complete when this returns.

    Raises:
        OSError: The folder cannot be written.
    """
    serials = array("Q", tier.serials).tobytes()
    offsets, names = tier.names.buffers
    image = tier.planned.image()
    length = _HEAD.size + len(serials) + offsets.nbytes + names.nbytes
    parts = (serials, offsets, names, b"\0" * (-length % _ALIGNMENT), image)
    path = folder / f"{version}-{stamp}{SUFFIX}"
    sizes = (len(tier.serials), names.nbytes, len(image))
    head = _HEAD.pack(_MAGIC, _FORMAT, checksum_of(path.name, *parts), *sizes)
    with whole_file(path) as file:
        file.writelines((head, *parts))
    _remove_old(folder)
    return path


def newest_base(folder: Path, version: int, stamp: Stamp) -> tuple[int, Tier] | None:
    """Return the newest base that is not after a version, and its own version."""
    for found, text in _listed(folder):
        if found <= version and text == stamp(found):
            with contextlib.suppress(OSError, DamageError):
                return found, read_base(folder / f"{found}-{text}{SUFFIX}")
    return None


def last_base(folder: Path) -> int:
    """Return the version of the newest base that is sound, or 0."""
    for version, text in _listed(folder):
        with contextlib.suppress(OSError, DamageError):
            read_base(folder / f"{version}-{text}{SUFFIX}")
            return version
    return 0


def read_base(path: Path) -> Tier:
    """Return the tier of a file, which stays mapped.

    Raises:
        DamageError: The file is damaged, or was written by another version.
        OSError: The file cannot be read.
    """
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size < _HEAD.size:
            raise unusable(f"{path} is cut off")
        # The tier uses the map where it lies and keeps it; nobody closes it but the tier's end.
        view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    magic, form, checksum, count, names_bytes, image_bytes = _HEAD.unpack_from(view)
    if magic != _MAGIC or form != _FORMAT:
        raise unusable(f"{path} is no base of this version")
    offsets_start = _HEAD.size + 8 * count
    names_start = offsets_start + 8 * (count + 1)
    names_end = names_start + names_bytes
    image_start = names_end + -names_end % _ALIGNMENT
    if len(view) != image_start + image_bytes:
        raise unusable(f"{path} is cut off")
    if checksum_of(path.name, view[_HEAD.size :]) != checksum:
        raise unusable(f"{path} is damaged")
    names = FlatNames(view[offsets_start:names_start], view[names_start:names_end])
    try:
        plan = Plan.load(view[image_start:])
    except ValueError as error:
        raise unusable(f"{path}: {error}") from None
    return Tier(view[_HEAD.size : offsets_start].cast("Q"), names, plan)


def _listed(folder: Path) -> list[tuple[int, str]]:
    """Return versions and stamps of the files of a folder, the newest first."""
    found = []
    for path in folder.glob(f"*{SUFFIX}"):
        version, _, stamp = path.name.removesuffix(SUFFIX).partition("-")
        if version.isdecimal():
            found.append((int(version), stamp))
    return sorted(found, reverse=True)


def _remove_old(folder: Path) -> None:
    """Remove older bases, and what broken writers left. Who has a file mapped keeps it."""
    old = [folder / f"{version}-{stamp}{SUFFIX}" for version, stamp in _listed(folder)[BASES_KEPT:]]
    for path in (*old, *folder.glob(f".*{TEMPORARY}")):
        with contextlib.suppress(OSError):
            if path in old or time.time() - path.stat().st_mtime > _STALE_SECONDS:
                path.unlink()
