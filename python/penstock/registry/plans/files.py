"""Plan files: serials, names and the plan of subscriptions in one file that processes map.

The registry's bases, its published tiers and the plans that Spark ships have this format:

    head      magic, format and checksum
    sizes     of the parts that follow
    serials   one for each subscription of a base or tier, in order; none in other files
    offsets   where each name begins and ends, as Arrow lays them out
    names     by the kernel's numbers, one after the other
    image     of the plan, aligned

Integers are in the machine's byte order, as in the image. The checksum covers the file's name and
everything behind the head, so truncated, damaged and renamed files are noticed. Reading copies
nothing and does no work per subscription beyond the checksum.
"""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import struct
import sys
import time
import zlib
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import DamageError
from penstock.kernel import Plan
from penstock.registry.plans.names import FlatNames
from penstock.storage import TEMPORARY, whole_file

if TYPE_CHECKING:
    from typing_extensions import Buffer

SUFFIX = ".plan"
BASE_SUFFIX = ".base"
"""Of bases, which may lack subscriptions of their version, so they must not pass for its plan."""
LIST_SUFFIX = ".tiers"
"""Of the lists of tiers that versions have."""
TIER_SUFFIX = ".tier"
REMOVED_SUFFIX = ".removed"
_REMOVABLE = {SUFFIX, BASE_SUFFIX, LIST_SUFFIX, TIER_SUFFIX, REMOVED_SUFFIX}
_HEAD = struct.Struct("=8sII")
_SIZES = struct.Struct("=4Q")
_START = _HEAD.size + _SIZES.size
_MAGIC = b"PENSTOCK"
_FORMAT = 3
_ALIGNMENT = 64
_STALE_SECONDS = 3600.0
"""A temporary file of this age was left by a writer that was killed."""
FRESH_SECONDS = 10.0
"""A process that has just read a plan's name finds the file for at least this long."""


class PlanFile(NamedTuple):
    """What a plan file holds; only those of registries have serials."""

    serials: Sequence[int]
    names: FlatNames
    plan: Plan


class PackedPlan(NamedTuple):
    """The name of a plan file, and its content in parts."""

    name: str
    parts: Sequence[Buffer]


def pack_plan(content: PlanFile, name: str | None = None, suffix: str = SUFFIX) -> PackedPlan:
    """Return the content of a plan file; without a name it is named by a hash of that."""
    serials = array("Q", content.serials)
    offsets, names = content.names.buffers
    image = content.plan.image()
    sizes = _SIZES.pack(len(serials), len(content.names), names.nbytes, len(image))
    length = _START + 8 * len(serials) + offsets.nbytes + names.nbytes
    parts: list[Buffer] = [sizes, serials, offsets, names, bytes(-length % _ALIGNMENT), image]
    if name is None:
        digest = hashlib.blake2b(digest_size=16)
        for part in parts:
            digest.update(part)
        name = f"{digest.hexdigest()}{suffix}"
    head = _HEAD.pack(_MAGIC, _FORMAT, _checksum(name, parts))
    return PackedPlan(name, [head, *parts])


def write_plan(path: Path, content: PlanFile) -> None:
    """Write a plan file. It is complete and on the disk when this returns.

    Raises:
        OSError: The folder cannot be written.
    """
    with whole_file(path) as file:
        file.writelines(pack_plan(content, path.name).parts)


def read_plan(path: Path, name: str | None = None) -> PlanFile:
    """Return the content of a plan file, or of a copy of the file that had ``name``.

    The file stays mapped as long as its names or its plan are used.

    Raises:
        DamageError: The file is damaged, or was written by another version.
        OSError: The file cannot be read.
    """
    with open(path, "rb") as file:
        # An empty file cannot be mapped.
        is_empty = os.fstat(file.fileno()).st_size == 0
        view = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if not is_empty else b""
    return unpack_plan(memoryview(view), name or path.name, path)


def unpack_plan(view: memoryview, name: str, path: Path) -> PlanFile:
    """Return the content of a plan file that is in memory, where it stays.

    Raises:
        DamageError: The file is damaged, or was written by another version.
    """
    if len(view) < _START:
        raise unusable(f"{path} is cut off")
    magic, form, checksum = _HEAD.unpack_from(view)
    if magic != _MAGIC or form != _FORMAT:
        raise unusable(f"{path} is not a plan of this version")
    serial_count, name_count, names_bytes, image_bytes = _SIZES.unpack_from(view, _HEAD.size)
    offsets_start = _START + 8 * serial_count
    names_start = offsets_start + 8 * (name_count + 1)
    names_end = names_start + names_bytes
    image_start = names_end + -names_end % _ALIGNMENT
    if len(view) != image_start + image_bytes:
        raise unusable(f"{path} is cut off")
    if _checksum(name, [view[_HEAD.size :]]) != checksum:
        raise unusable(f"{path} is damaged")
    try:
        plan = Plan.load(view[image_start:])
    except ValueError as error:
        raise unusable(f"{path}: {error}") from None
    return PlanFile(
        view[_START:offsets_start].cast("Q"),
        FlatNames(view[offsets_start:names_start], view[names_start:names_end]),
        plan,
    )


def remove_plans(
    folder: Path,
    kept: Iterable[str],
    fresh_seconds: float | None = None,
    files_max: int = sys.maxsize,
) -> int:
    """Remove a folder's plan files except those kept and fresh ones, and stale temporary files.

    Returns how many were removed, ``files_max`` at most.

    A process that has a file mapped keeps it; one that comes too late builds the plan again.
    """
    spared = set(kept)
    fresh_seconds = FRESH_SECONDS if fresh_seconds is None else fresh_seconds
    now, count = time.time(), 0
    # A registry that changes all the time has thousands of fresh files.
    with os.scandir(folder) as entries:
        for entry in entries:
            suffix = os.path.splitext(entry.name)[1]
            is_plan = suffix in _REMOVABLE and entry.name not in spared
            if is_plan or suffix == TEMPORARY:
                with contextlib.suppress(OSError):
                    age = now - entry.stat().st_mtime
                    if age > (fresh_seconds if is_plan else _STALE_SECONDS):
                        os.unlink(entry.path)
                        count += 1
                        if count >= files_max:
                            break
    return count


def _checksum(name: str, parts: Iterable[Buffer]) -> int:
    checksum = zlib.crc32(name.encode())
    for part in parts:
        checksum = zlib.crc32(part, checksum)
    return checksum


def unusable(problem: str) -> DamageError:
    """Return the error for a file that can be made again."""
    return DamageError("PR0034", f"{problem}; it can be removed, and is built again")
