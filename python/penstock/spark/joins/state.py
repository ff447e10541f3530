"""The state of joins in a folder: what belongs to a micro-batch appears whole or not at all.

``segments`` holds immutable, sorted files of records, ``manifests`` one file for each of the last
batches that names the segments alive after it, ``changes`` which subscriptions came and went, and
``work`` what the tasks of a batch hand to each other. What no manifest names is garbage.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any
from uuid import uuid4

from penstock.errors import StateError
from penstock.storage import disk_path, whole_file

BEGINNING = -(1 << 63)
"""Before all event times."""
CHECKPOINT, SEGMENTS, CHANGES = "checkpoint", "segments", "changes"
_MANIFESTS, _WORK = "manifests", "work"
_FORMAT = 3
_REPLAYED = 2
"""The manifests that a batch may begin from: the last one, and the one before for a replay."""


@dataclass(frozen=True, slots=True)
class Segment:
    """An immutable, sorted file of records.

    What waits in it until before ``released_us`` has been let go; ``due_us`` is the time until
    which the next one waits, or earlier.
    """

    file: str
    bytes: int
    checksum: int
    records: int
    expires_us: int
    due_us: int | None
    released_us: int = BEGINNING


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a batch leaves behind.

    ``changes`` are the batches that changed subscriptions, each with a mark of its own.
    """

    batch: int
    buckets: int
    hash_bits: int
    watermark_us: int = BEGINNING
    documents: int = 0
    late: int = 0
    changes: tuple[tuple[int, str], ...] = ()
    registry_version: str | None = None
    segments: Mapping[int, tuple[Segment, ...]] = field(default_factory=dict)


class State:
    """The folder of one stream's joins; the driver alone writes manifests.

    Raises:
        StateError: The folder lies in an object store.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        path = disk_path(folder)
        if path is None:
            message = (
                f"the state of joins is mapped, and {os.fspath(folder)} lies in a store; keep "
            )
            raise StateError("PJ0008", message + "it on a disk that all workers mount")
        self.folder = path.absolute()

    @property
    def checkpoint(self) -> str:
        """Where Spark keeps how far the stream has come; it and the state belong together."""
        return str(self.folder / CHECKPOINT)

    def before(self, batch: int, buckets: int, hash_bits: int, first: int = 0) -> Manifest:
        """Return what the batch before left behind; it may have been computed several times.

        The batch ``first`` begins without a state.

        Raises:
            StateError: That is missing, damaged, or was made with other settings.
        """
        if batch == first:
            if self.batches() not in ([], [first]):
                message = f"{self.folder} holds the state of a stream that has come further; "
                raise StateError("PJ0003", message + "begin a new stream with a new folder")
            return Manifest(first - 1, buckets, hash_bits)
        found = self.read(batch - 1)
        if (found.buckets, found.hash_bits) != (buckets, hash_bits):
            message = f"{self.folder} has {found.buckets} buckets, not {buckets}; "
            raise StateError("PJ0004", message + "their number stays as the stream began")
        return found

    def read(self, batch: int) -> Manifest:
        """Return what a batch left behind.

        Raises:
            StateError: That is missing or damaged.
        """
        entry = read_checked(self._manifest(batch), "restore the folder as a whole")
        if entry.pop("format") != _FORMAT:
            message = f"{self._manifest(batch)} was written by another version of Penstock; "
            raise StateError("PJ0005", message + "begin a new stream with a new folder")
        segments = {
            int(bucket): tuple(Segment(**segment) for segment in own)
            for bucket, own in entry["segments"].items()
        }
        changes = tuple((changed, mark) for changed, mark in entry["changes"])
        return Manifest(**entry | {"segments": segments, "changes": changes})

    def last(self) -> Manifest | None:
        """Return what the last batch left behind, or None if there was none yet."""
        batches = self.batches()
        return self.read(batches[-1]) if batches else None

    def commit(self, manifest: Manifest) -> None:
        """Make a batch's state the one that the next batch begins with.

        Raises:
            OSError: The folder cannot be written.
        """
        write_checked(self._manifest(manifest.batch), asdict(manifest) | {"format": _FORMAT})
        self._collect_garbage(manifest)

    @contextmanager
    def work(self, batch: int) -> Iterator[str]:
        """Give a folder for what tasks of a batch hand to each other."""
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(self.folder / _WORK)
        folder = self.folder / _WORK / f"{batch}-{uuid4().hex}"
        folder.mkdir(parents=True)
        (self.folder / SEGMENTS).mkdir(exist_ok=True)
        try:
            yield str(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def batches(self) -> list[int]:
        """Return the batches whose manifests are there."""
        folder = self.folder / _MANIFESTS
        names = os.listdir(folder) if folder.is_dir() else []
        return sorted(int(Path(name).stem) for name in names if name.endswith(".json"))

    def _collect_garbage(self, manifest: Manifest) -> None:
        kept = [batch for batch in self.batches() if batch <= manifest.batch][-_REPLAYED:]
        for batch in self.batches():
            if batch not in kept:
                _remove(self._manifest(batch))
        manifests = [manifest, *(self.read(batch) for batch in kept if batch != manifest.batch)]
        buckets = chain.from_iterable(manifest.segments.values() for manifest in manifests)
        named = {segment.file for segments in buckets for segment in segments}
        for name in os.listdir(self.folder / SEGMENTS):
            if name not in named:
                _remove(self.folder / SEGMENTS / name)
        # A batch that is computed again may need changes that the last manifest does not name.
        named_changes = chain.from_iterable(manifest.changes for manifest in manifests)
        pinned = {f"{batch}.json" for batch in (*dict(named_changes), *kept)}
        for name in os.listdir(self.folder / CHANGES):
            if name not in pinned:
                _remove(self.folder / CHANGES / name)

    def _manifest(self, batch: int) -> Path:
        return self.folder / _MANIFESTS / f"{batch}.json"


def write_checked(path: Path, entry: Mapping[str, Any]) -> None:
    """Write an entry with its checksum, on the disk when this returns.

    Raises:
        OSError: The folder cannot be written.
    """
    body = json.dumps(entry, separators=(",", ":")).encode()
    with whole_file(path) as file:
        file.write(body + f"\n{zlib.crc32(body)}\n".encode())


def read_checked(path: Path, way_out: str) -> dict[str, Any]:
    """Return an entry.

    Raises:
        StateError: It is missing or damaged.
    """
    try:
        body, checksum = path.read_bytes().rstrip(b"\n").rsplit(b"\n", 1)
        if zlib.crc32(body) == int(checksum):
            found: dict[str, Any] = json.loads(body)
            return found
        reason = "is damaged"
    except ValueError:
        reason = "is damaged"
    except OSError as error:
        reason = f"cannot be read: {error.strerror or error}"
    raise StateError("PJ0002", f"{path} {reason}; {way_out}") from None


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
