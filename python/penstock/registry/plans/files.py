"""Plans in files: one for each version, written whole or not at all, mapped by readers.

A file holds the names of the subscriptions, by the kernel's numbers, and the plan's image. Its
head says how long both are and what they add up to with the file's name, so that a reader knows a
file that was cut off, damaged or renamed, and one of another format. Integers are those of the
machine, as in the image.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
import time
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.errors import DamageError
from penstock.kernel import Plan
from penstock.storage import TEMPORARY, whole_file

if TYPE_CHECKING:
    from typing_extensions import Buffer

SUFFIX = ".plan"
_HEAD = struct.Struct("=8sIIQQ")
_MAGIC = b"PENSTOCK"
_FORMAT = 2
_ALIGNMENT = 64
_STALE_SECONDS = 3600.0
_FRESH_SECONDS = 10.0
"""Who has just learnt of a plan finds its file at least for so long."""


def write_plan(path: Path, names: Sequence[str], plan: Plan) -> None:
    """Write a plan. The file is complete and on the disk when this returns.

    Raises:
        OSError: The folder cannot be written.
    """
    listed = _pack_names(names)
    image = plan.image()
    padding = b"\0" * (-(_HEAD.size + len(listed)) % _ALIGNMENT)
    checksum = checksum_of(path.name, listed, image)
    head = _HEAD.pack(_MAGIC, _FORMAT, checksum, len(listed), len(image))
    with whole_file(path) as file:
        file.writelines((head, listed, padding, image))


def read_plan(path: Path, name: str | None = None) -> tuple[tuple[str, ...], Plan]:
    """Return the names and the plan of a file, or of a copy of the file that had a name.

    Raises:
        DamageError: The file is damaged, or was written by another version.
        OSError: The file cannot be read.
    """
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size < _HEAD.size:
            raise unusable(f"{path} is cut off")
        # The plan uses the map where it lies and keeps it; nobody closes it but the plan's end.
        view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    return _parse(path, name or path.name, view)


def remove_plans(folder: Path, kept: Iterable[str]) -> None:
    """Remove the plan files of a folder, but those kept, and what broken writers left behind.

    A process that has a file mapped keeps it; one that comes too late builds the plan again.
    """
    spared = set(kept)
    for path in folder.iterdir():
        if path.name in spared:
            continue
        seconds = _FRESH_SECONDS if path.suffix == SUFFIX else _STALE_SECONDS
        with contextlib.suppress(OSError):
            is_old = time.time() - path.stat().st_mtime > seconds
            if is_old and path.name.endswith((SUFFIX, TEMPORARY)):
                path.unlink()


def unusable(what: str) -> DamageError:
    """Return the error for a file of a plan that cannot be used."""
    return DamageError("PR0034", f"{what}; it can be removed, and is built again")


def _parse(path: Path, name: str, view: memoryview) -> tuple[tuple[str, ...], Plan]:
    magic, form, checksum, names_bytes, image_bytes = _HEAD.unpack_from(view)
    if magic != _MAGIC or form != _FORMAT:
        raise unusable(f"{path} is no plan of this version")
    names_end = _HEAD.size + names_bytes
    image_start = names_end + -names_end % _ALIGNMENT
    if len(view) != image_start + image_bytes:
        raise unusable(f"{path} is cut off")
    names, image = view[_HEAD.size : names_end], view[image_start:]
    if checksum_of(name, names, image) != checksum:
        raise unusable(f"{path} is damaged")
    try:
        return _unpack_names(bytes(names)), Plan.load(image)
    except ValueError as error:
        raise unusable(f"{path}: {error}") from None


def checksum_of(name: str, *parts: Buffer) -> int:
    """Return what a file's name and its parts add up to."""
    checksum = zlib.crc32(name.encode())
    for part in parts:
        checksum = zlib.crc32(part, checksum)
    return checksum


def _pack_names(names: Sequence[str]) -> bytes:
    encoded = [name.encode() for name in names]
    lengths = struct.pack(f"=Q{len(encoded)}I", len(encoded), *map(len, encoded))
    return lengths + b"".join(encoded)


def _unpack_names(packed: bytes) -> tuple[str, ...]:
    (count,) = struct.unpack_from("=Q", packed)
    names, start = [], 8 + 4 * count
    for length in struct.unpack_from(f"={count}I", packed, 8):
        names.append(packed[start : start + length].decode())
        start += length
    return tuple(names)
