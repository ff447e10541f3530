"""Runs in files: written once, mapped by whoever needs them, merged when there are many alike."""

from __future__ import annotations

import mmap
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from uuid import uuid4

from penstock.errors import StateError
from penstock.kernel import merge_runs, read_run
from penstock.spark.joins.state import RUNS, Run
from penstock.storage import whole_file

FAN = 4
"""So many runs of about the same size become one."""
SMALLEST_BYTES = 256 << 10
"""Runs smaller than this are of the same size."""
MERGED_BYTES_MAX = 2 << 30
"""Runs that would be larger together stay apart."""

_CHECKED_MAX = 1 << 16
_checked: set[tuple[str, int, int]] = set()
"""Runs whose checksums held when this process first saw them."""


def write_image(folder: str, bucket: int, batch: int, image: bytes) -> Run:
    """Put an image on the disk.

    Raises:
        OSError: The folder cannot be written.
    """
    records, expires_us, due_us = read_run(image)
    path = Path(folder, RUNS, f"{bucket}-{batch}-{uuid4().hex}.run")
    with whole_file(path) as file:
        file.write(image)
    return Run(path.name, len(image), zlib.crc32(image), records, expires_us, due_us)


def map_run(folder: str, run: Run) -> mmap.mmap:
    """Return the image of a run, mapped.

    Raises:
        StateError: The file is missing or is not what was written.
    """
    path = Path(folder, RUNS, run.file)
    try:
        with open(path, "rb") as file:
            image = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise damaged_run(path, f"cannot be read: {error}") from None
    key = (str(path), run.bytes, run.checksum)
    if len(image) != run.bytes:
        raise damaged_run(path, f"has {len(image)} bytes instead of {run.bytes}")
    if key not in _checked:
        if zlib.crc32(image) != run.checksum:
            raise damaged_run(path, "is damaged")
        if len(_checked) >= _CHECKED_MAX:
            _checked.clear()
        _checked.add(key)
    return image


def damaged_run(path: Path, reason: str) -> StateError:
    """Return the error for a run that cannot be used."""
    message = f"{path} {reason}; the stream cannot go on without it: restore the folder as a whole"
    return StateError("PJ0002", message)


def merge_alike(
    folder: str, bucket: int, batch: int, runs: Sequence[Run], now_us: int
) -> tuple[Run, ...]:
    """Return the runs of a bucket with those merged that are alike in size.

    A record is copied once for each size that its run grows through, so for ever more records
    merging costs ever the same, but for a logarithm. What is needed no more at ``now_us`` stays
    behind.

    Raises:
        StateError: A run is missing or damaged.
    """
    runs = list(runs)
    while (alike := _alike(runs)) is not None:
        images = [(map_run(folder, run), run.released_us) for run in alike]
        merged = merge_runs(images, now_us)
        runs = [run for run in runs if run not in alike]
        if merged:
            runs.append(write_image(folder, bucket, batch, merged))
    return tuple(runs)


def _alike(runs: Iterable[Run]) -> list[Run] | None:
    """Return runs that are to become one, the smallest first."""
    sizes: dict[int, list[Run]] = {}
    for run in runs:
        sizes.setdefault(_size(run.bytes), []).append(run)
    for _, alike in sorted(sizes.items()):
        if len(alike) >= FAN and sum(run.bytes for run in alike) <= MERGED_BYTES_MAX:
            return alike
    return None


def _size(length: int) -> int:
    size = 0
    while length > SMALLEST_BYTES:
        length //= FAN
        size += 1
    return size
