"""Segments in files: written once, mapped by all who need them, merged when many are alike."""

from __future__ import annotations

import mmap
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from uuid import uuid4

from penstock.errors import StateError
from penstock.kernel import merge_segments, read_segment
from penstock.spark.joins.state import SEGMENTS, Segment
from penstock.storage import whole_file

FAN = 4
"""So many segments of about the same size become one."""
SMALLEST_BYTES = 256 << 10
"""Segments smaller than this are of the same size."""
MERGED_BYTES_MAX = 2 << 30
"""Segments that would be larger together stay apart."""

_CHECKED_MAX = 1 << 16
_checked: set[tuple[str, int, int]] = set()
"""Segments whose checksums held when this process first saw them."""


def write_segment(folder: str, bucket: int, batch: int, words: bytes) -> Segment:
    """Put a segment on the disk.

    Raises:
        OSError: The folder cannot be written.
    """
    records, expires_us, due_us = read_segment(words)
    path = Path(folder, SEGMENTS, f"{bucket}-{batch}-{uuid4().hex}.segment")
    with whole_file(path) as file:
        file.write(words)
    return Segment(path.name, len(words), zlib.crc32(words), records, expires_us, due_us)


def map_segment(folder: str, segment: Segment) -> mmap.mmap:
    """Return the words of a segment, mapped.

    Raises:
        StateError: The file is missing or is not what was written.
    """
    path = Path(folder, SEGMENTS, segment.file)
    try:
        with open(path, "rb") as file:
            words = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise damaged_segment(path, f"cannot be read: {error}") from None
    key = (str(path), segment.bytes, segment.checksum)
    if len(words) != segment.bytes:
        raise damaged_segment(path, f"has {len(words)} bytes instead of {segment.bytes}")
    if key not in _checked:
        if zlib.crc32(words) != segment.checksum:
            raise damaged_segment(path, "is damaged")
        if len(_checked) >= _CHECKED_MAX:
            _checked.clear()
        _checked.add(key)
    return words


def damaged_segment(path: Path, reason: str) -> StateError:
    """Return the error for a segment that cannot be used."""
    message = f"{path} {reason}; the stream cannot go on without it: restore the folder as a whole"
    return StateError("PJ0002", message)


def merge_alike(
    folder: str, bucket: int, batch: int, segments: Sequence[Segment], now_us: int
) -> tuple[Segment, ...]:
    """Return the segments of a bucket with those merged that are alike in size.

    A record is copied once for each size that its segment grows through, so for ever more records
    merging costs ever the same, but for a logarithm. What is needed no more at ``now_us`` stays
    behind.

    Raises:
        StateError: A segment is missing or damaged.
    """
    segments = list(segments)
    while (alike := _alike(segments)) is not None:
        mapped = [(map_segment(folder, segment), segment.released_us) for segment in alike]
        merged = merge_segments(mapped, now_us)
        segments = [segment for segment in segments if segment not in alike]
        if merged:
            segments.append(write_segment(folder, bucket, batch, merged))
    return tuple(segments)


def _alike(segments: Iterable[Segment]) -> list[Segment] | None:
    """Return segments that are to become one, the smallest first."""
    sizes: dict[int, list[Segment]] = {}
    for segment in segments:
        sizes.setdefault(_size(segment.bytes), []).append(segment)
    for _, alike in sorted(sizes.items()):
        if len(alike) >= FAN and sum(segment.bytes for segment in alike) <= MERGED_BYTES_MAX:
            return alike
    return None


def _size(length: int) -> int:
    size = 0
    while length > SMALLEST_BYTES:
        length //= FAN
        size += 1
    return size
