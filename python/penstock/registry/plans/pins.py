"""Pins: which version belongs to which batch of a stream, in files that several hosts share.

``current`` names the version that the next batch gets. A pin is the name that the first task of a
batch read there, kept in ``pins/QUERY/BATCH``. Both are written atomically, and a pin never
changes: it is created with a hard link, which succeeds once. Each has a checksum over its path and
its content. Workers need only pins and plans of a registry, so they open no database.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote
from zlib import crc32

from penstock.errors import DamageError, RegistryError
from penstock.storage import TEMPORARY, offer_file, whole_file

CURRENT = "current"
PINS = "pins"
PINS_KEPT = 1000
"""A query's pins of batches further back than this are removed."""

_REPLAYED = 2
"""This many of a query's last batches may be computed again."""
_RUNNING_SECONDS_MAX = 7 * 24 * 3600.0
"""A batch does not run longer than this."""
_SHOW_SECONDS_MAX = 60.0
"""A shared file system shows a new file to all hosts within this time."""


class VersionName(NamedTuple):
    """A version, and a mark that distinguishes it from versions of other registries."""

    version: int
    mark: str


class Pins:
    """The pins of a registry's folder, for any number of processes on any number of hosts."""

    def __init__(self, folder: Path) -> None:
        self._current = folder / CURRENT
        self._folder = folder / PINS
        self._folder_path = f"{self._folder}{os.sep}"

    @property
    def is_followed(self) -> bool:
        """Whether a stream ever followed the registry."""
        # Called by every change. The separator at the end admits folders only.
        return os.access(self._folder_path, os.F_OK)

    def follow(self) -> None:
        """Record that streams follow the registry.

        Raises:
            OSError: The folder cannot be written.
        """
        self._folder.mkdir(exist_ok=True)

    def publish(self, name: VersionName) -> None:
        """Make a version the current one.

        Raises:
            OSError: The folder cannot be written.
        """
        with whole_file(self._current) as file:
            file.write(_encode(self._current, name))

    def current(self) -> VersionName | None:
        """Return the version that was published last, or None if it is missing or damaged."""
        return _read_sound(self._current)

    def find(self, query: str, batch: int) -> VersionName | None:
        """Return the version that belongs to a batch, or None if it has none yet."""
        return _read(self._query(query) / str(batch))

    def pin(self, query: str, batch: int) -> VersionName:
        """Return the version that belongs to a batch; the first call fixes it to the current one.

        Raises:
            RegistryError: Nothing was published, or the folder cannot be written.
        """
        pinned = self.find(query, batch)
        if pinned is not None:
            return pinned
        current = self.current()
        if current is None:
            message = f"no version is published in {self._current.parent}, or not a readable one; "
            raise RegistryError("PR0009", message + "starting the stream anew publishes it")
        folder = self._query(query)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            pin = folder / str(batch)
            offer_file(pin, _encode(pin, current))
        except OSError as error:
            message = f"the folder {folder} cannot be written: {error.strerror or error}"
            raise RegistryError("PR0005", message) from error
        _forget_before(folder, batch - PINS_KEPT)
        return _await(folder / str(batch))

    def of(self, query: str) -> dict[int, VersionName]:
        """Return the versions of a query's last batches, by batch."""
        folder = self._query(query)
        names = ((batch, _read_sound(folder / str(batch))) for batch in _batches(folder))
        return {batch: name for batch, name in names if name is not None}

    def replayable(self) -> set[VersionName]:
        """Return the versions of all batches that may be computed again."""
        return {name for folder in self._queries() for name in _last(folder)}

    def running(self) -> set[VersionName]:
        """Return the versions that running tasks may need."""
        since = time.time() - _RUNNING_SECONDS_MAX
        running: set[VersionName] = set()
        for folder in self._queries():
            with contextlib.suppress(OSError):
                if folder.stat().st_mtime >= since:
                    running |= _last(folder)
        current = self.current()
        return running if current is None else running | {current}

    def files(self) -> list[Path]:
        """Return the files of all pins."""
        folders = [folder for folder in self._queries() if folder.is_dir()]
        return [folder / str(batch) for folder in sorted(folders) for batch in _batches(folder)]

    def read(self, path: Path) -> VersionName | None:
        """Return the version that a pin or ``current`` names, or None if it is not there.

        Raises:
            DamageError: The file is damaged.
        """
        return _read(path)

    def _query(self, query: str) -> Path:
        return self._folder / quote(query, safe="")

    def _queries(self) -> list[Path]:
        return list(self._folder.iterdir()) if self.is_followed else []


def _forget_before(folder: Path, first: int) -> None:
    """Remove the pins before a batch, and temporary files of killed workers."""
    for path in list(folder.iterdir()):
        with contextlib.suppress(OSError):
            is_left = path.name.endswith(TEMPORARY) and (
                time.time() - path.stat().st_mtime > _RUNNING_SECONDS_MAX
            )
            if is_left or (path.name.isdigit() and int(path.name) < first):
                path.unlink()


def _await(path: Path) -> VersionName:
    """Return the name in a file that exists, as soon as this host sees it."""
    deadline = time.monotonic() + _SHOW_SECONDS_MAX
    while (name := _read(path)) is None:
        if time.monotonic() > deadline:
            raise RegistryError("PR0005", f"{path} was made, and this host does not see it")
        time.sleep(0.05)
    return name


def _last(folder: Path) -> set[VersionName]:
    names = (_read_sound(folder / str(batch)) for batch in _batches(folder)[-_REPLAYED:])
    return {name for name in names if name is not None}


def _batches(folder: Path) -> list[int]:
    if not folder.is_dir():
        return []
    return sorted(int(name) for name in os.listdir(folder) if name.isdigit())


def _encode(path: Path, name: VersionName) -> bytes:
    text = f"{name.version} {name.mark}"
    return f"{text} {_checksum(path, text):08x}\n".encode("ascii")


def _checksum(path: Path, text: str) -> int:
    # The folder distinguishes the pins of one query from those of another.
    return crc32(f"{path.parent.name if path.name != CURRENT else ''}/{path.name} {text}".encode())


def _read(path: Path) -> VersionName | None:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    # An earlier release wrote no checksum.
    match = re.fullmatch(rb"((\d{1,18}) ([0-9a-f]{16}))(?: ([0-9a-f]{8}))?\n", content)
    if match is not None:
        text, version, mark, checksum = match.groups()
        if checksum is None or int(checksum, 16) == _checksum(path, text.decode()):
            return VersionName(int(version), mark.decode())
    # Another version might give other rows than those already written.
    message = f"{path} is damaged; put the version of the batch there, as in its neighbours, "
    raise DamageError("PR0033", message + "or remove it for the current one")


def _read_sound(path: Path) -> VersionName | None:
    """Return the name in a file, or None if it is missing or damaged."""
    try:
        return _read(path)
    except RegistryError:
        return None
