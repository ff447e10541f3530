"""A small file with the identity of the registry and a version that it has reached.

It is written after a change is on the disk, so a database without this version is an older copy,
has lost its last changes, or belongs to another registry. The file is overwritten in place: its
few bytes lie in one sector, so not even a power cut leaves half of them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from penstock.errors import DamageError
from penstock.registry.storage.checksums import VersionRow
from penstock.registry.storage.table import name_of_version
from penstock.storage import offer_file

HEAD = "head"
_ATTEMPTS = 100
"""A read during a write may see parts of both."""


class HeadRecord(NamedTuple):
    """The content of the file."""

    version: int
    mark: str
    """Distinguishes the version from others with the same number."""
    identity: str

    def names(self, version: VersionRow | None) -> bool:
        """Whether this is the recorded version."""
        if version is None:
            return False
        # An earlier release used the mark of the version's name, which takes longer to compute.
        marks = (_mark_of(version), name_of_version(version).mark)
        return self.version == version.version and self.mark in marks


class Head:
    """The file of a folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / HEAD
        self._file: int | None = None

    def read(self) -> HeadRecord | None:
        """Return the content of the file, or None if there is no file.

        Raises:
            DamageError: The file is damaged.
            OSError: The file cannot be read.
        """
        for _ in range(_ATTEMPTS):
            try:
                content = self.path.read_bytes()
            except FileNotFoundError:
                return None
            if (record := _decode(content)) is not None:
                return record
        message = f"{self.path} is damaged; `penstock registry repair` writes it again"
        raise DamageError("PR0030", message)

    def write(self, version: VersionRow, identity: str) -> None:
        """Record a version that is on the disk.

        Raises:
            OSError: The folder cannot be written.
        """
        self._write(_encode(version.version, _mark_of(version), identity))

    def _write(self, content: bytes) -> None:
        if self._file is None:
            if not self.path.exists():
                # No reader may see it empty.
                offer_file(self.path, content)
            self._file = os.open(self.path, os.O_WRONLY | os.O_CLOEXEC)
        os.pwrite(self._file, content, 0)

    def rename(self, former: Mapping[VersionRow, int]) -> None:
        """Name the version that was noted by its name, if it was by a checksum that it had.

        Raises:
            DamageError: The file is damaged.
            OSError: The file cannot be read or written.
        """
        record = self.read()
        for version, checksum in former.items():
            if record is not None and record[:2] == (version.version, f"{checksum:016x}"):
                name = name_of_version(version).mark
                self._write(_encode(version.version, name, record.identity))

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __del__(self) -> None:
        self.close()


def _mark_of(version: VersionRow) -> str:
    # As long as in earlier releases, because heads are overwritten in place.
    return f"{version.checksum:016x}"


def _encode(version: int, mark: str, identity: str) -> bytes:
    text = f"{version:020d} {mark} {identity}".encode("ascii")
    return b"%s %08x\n" % (text, crc32(text))


def _decode(content: bytes) -> HeadRecord | None:
    try:
        version, mark, identity, _ = content.decode("ascii").split()
        record = HeadRecord(int(version), mark, identity)
    except ValueError:
        return None
    return record if _encode(*record) == content else None
