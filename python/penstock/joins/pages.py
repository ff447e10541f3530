"""Pages of bindings that memory has no room for, in files without a name."""

from __future__ import annotations

import os
import tempfile
import zlib
from typing import BinaryIO, NamedTuple

from penstock.errors import StateError

EXTENT_BYTES_MAX = 64 << 20
"""A file has about so many bytes; it goes when its last page is needed no more."""


class _Extent:
    """One file: nobody else can open it, and it is gone when the process is, however it ends."""

    def __init__(self) -> None:
        file = tempfile.TemporaryFile(prefix="penstock-pages-", buffering=0)  # noqa: SIM115
        self.file: BinaryIO = file
        self.end = 0
        self.pages = 0

    def __del__(self) -> None:
        # Whoever gives up a join in the middle leaves pages behind.
        if file := getattr(self, "file", None):
            file.close()


class _Place(NamedTuple):
    extent: _Extent
    start: int
    length: int
    checksum: int


class PageFile:
    """Keeps pages for a progressive join, and gives each back as it was or raises.

    The files are the process's own: the operating system removes them when it ends, a killed one
    included. Where a page lies, and its checksum, is kept in memory, so nothing on disk is trusted.
    """

    def __init__(self) -> None:
        self._places: dict[int, _Place] = {}
        self._extent: _Extent | None = None
        self._number = 0

    def __len__(self) -> int:
        return len(self._places)

    def write(self, page: bytes) -> int:
        """Keep a page; returns its number.

        Raises:
            StateError: PJ0006: it cannot be written; the disk is full, as a rule.
        """
        try:
            extent = self._extent
            if extent is None or extent.end >= EXTENT_BYTES_MAX:
                extent = self._extent = _Extent()
            start = extent.end
            self._write_all(extent, page)
        except OSError as error:
            message = (
                f"what memory has no room for cannot be written to {tempfile.gettempdir()}: "
                f"{error.strerror or error}; free space there, set TMPDIR to a folder with more, "
                "or raise state_bytes_max"
            )
            raise StateError("PJ0006", message) from error
        extent.end = start + len(page)
        extent.pages += 1
        self._number += 1
        self._places[self._number] = _Place(extent, start, len(page), zlib.crc32(page))
        return self._number

    def read(self, number: int) -> bytes:
        """Return a page.

        Raises:
            StateError: PJ0007: it is lost or damaged.
        """
        place = self._places.get(number)
        if place is None:
            raise StateError("PJ0007", f"page {number} of the join's state is lost; start again")
        parts, at, end = [], place.start, place.start + place.length
        try:
            while at < end and (part := os.pread(place.extent.file.fileno(), end - at, at)):
                parts.append(part)
                at += len(part)
        except (OSError, ValueError) as error:  # a closed file has no number
            message = f"page {number} of the join's state cannot be read: {error}; start again"
            raise StateError("PJ0007", message) from error
        page = b"".join(parts)
        if zlib.crc32(page) != place.checksum or len(page) != place.length:
            raise StateError("PJ0007", f"page {number} of the join's state is damaged; start again")
        return page

    def remove(self, number: int) -> None:
        """Give up a page, and its file if it was the last one there."""
        place = self._places.pop(number, None)
        if place is not None:
            place.extent.pages -= 1
            if not place.extent.pages:
                place.extent.file.close()
                if place.extent is self._extent:
                    self._extent = None

    def close(self) -> None:
        """Give up all pages."""
        for number in list(self._places):
            self.remove(number)

    def _write_all(self, extent: _Extent, page: bytes) -> None:
        rest, at = memoryview(page), extent.end
        while rest:
            written = os.pwrite(extent.file.fileno(), rest, at)
            rest, at = rest[written:], at + written
