"""Plans in files: named by their content, written whole or not at all, mapped by readers.

A file holds the names of the subscriptions, by the kernel's numbers, and the plan's image. Its
head says how long both are and what they add up to, so that a reader knows a file that was cut
off or damaged, and one of another format. Integers are those of the machine, as in the image.
"""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import struct
import time
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from penstock.kernel import Plan
from penstock.registry.atomic import TEMPORARY, whole_file

SUFFIX = ".plan"
_HEAD = struct.Struct("=8sIIQQ")
_MAGIC = b"PENSTOCK"
_FORMAT = 1
_ALIGNMENT = 64
_STALE_SECONDS = 3600.0


class PlanFileError(Exception):
    """A plan file is damaged, or was written by another version."""


def write_plan(folder: Path, names: Sequence[str], plan: Plan) -> Path:
    """Write a plan into a folder and return its file, named by its content.

    The file is complete and on the disk when this returns; equal plans have equal names.

    Raises:
        OSError: The folder cannot be written.
    """
    listed = _pack_names(names)
    image = plan.image()
    padding = b"\0" * (-(_HEAD.size + len(listed)) % _ALIGNMENT)
    checksum = zlib.crc32(image, zlib.crc32(listed))
    head = _HEAD.pack(_MAGIC, _FORMAT, checksum, len(listed), len(image))
    digest = hashlib.blake2b(listed, digest_size=16)
    digest.update(image)
    path = folder / f"{digest.hexdigest()}{SUFFIX}"
    if not _is_complete(path, _HEAD.size + len(listed) + len(padding) + len(image)):
        with whole_file(path) as file:
            file.writelines((head, listed, padding, image))
    return path


def read_plan(path: Path) -> tuple[tuple[str, ...], Plan]:
    """Return the names and the plan of a file.

    Raises:
        PlanFileError: The file is damaged, or was written by another version.
        OSError: The file cannot be read.
    """
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size < _HEAD.size:
            raise PlanFileError(f"{path} is cut off")
        # The plan uses the map where it lies and keeps it; nobody closes it but the plan's end.
        return _parse(path, memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)))


def remove_plans(folder: Path, kept: Iterable[str]) -> None:
    """Remove the plan files of a folder, but those kept, and what broken writers left behind.

    A process that has a file mapped keeps it; one that comes too late builds the plan again.
    """
    spared = set(kept)
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            is_old = path.name.endswith(TEMPORARY) and (
                time.time() - path.stat().st_mtime > _STALE_SECONDS
            )
            if is_old or (path.suffix == SUFFIX and path.name not in spared):
                path.unlink()


def _parse(path: Path, view: memoryview) -> tuple[tuple[str, ...], Plan]:
    magic, form, checksum, names_bytes, image_bytes = _HEAD.unpack_from(view)
    if magic != _MAGIC or form != _FORMAT:
        raise PlanFileError(f"{path} is no plan of this version")
    names_end = _HEAD.size + names_bytes
    image_start = names_end + -names_end % _ALIGNMENT
    if len(view) != image_start + image_bytes:
        raise PlanFileError(f"{path} is cut off")
    names, image = view[_HEAD.size : names_end], view[image_start:]
    if zlib.crc32(image, zlib.crc32(names)) != checksum:
        raise PlanFileError(f"{path} is damaged")
    try:
        return _unpack_names(bytes(names)), Plan.load(image)
    except ValueError as error:
        raise PlanFileError(f"{path}: {error}") from None


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


def _is_complete(path: Path, length: int) -> bool:
    """Whether the file is there; a damaged one is written again by who finds it damaged."""
    try:
        return path.stat().st_size == length and bool(read_plan(path))
    except (OSError, PlanFileError):
        return False
