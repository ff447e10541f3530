"""Which store a path lies in, and which files a path of a store stands for."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple

from penstock.sources.stores.base import Entry, Opened, State, Store, StoreError

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/]*)(/.*)?", re.DOTALL)
_MAGIC = re.compile(r"[*?\[]")
_ARROW = ("s3a", "s3", "gs", "abfs", "abfss")
_HDFS = ("hdfs", "webhdfs", "swebhdfs")


class Place(NamedTuple):
    """A path of a store: the URL of its root, and the path below it without a slash in front."""

    root: str
    path: str


def place_of(path: str) -> Place | None:
    """Return where a path lies, or None if it is one of a disk."""
    found = _URL.fullmatch(path)
    if found is None or found[1] == "file":
        return None
    return Place(f"{found[1]}://{found[2]}", (found[3] or "/").strip("/"))


def has_store(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is one of a store and not of a disk."""
    return place_of(os.fspath(path)) is not None


@dataclass(frozen=True, slots=True)
class Stores:
    """Opens files wherever they lie. ``settings`` are those of Hadoop, secrets among them."""

    settings: Mapping[str, str] = field(default_factory=dict, repr=False)

    def open(self, path: str) -> Opened:
        """Return a file.

        Raises:
            OSError: It cannot be opened.
            StoreError: Its store does not answer, or there is none for it.
        """
        place = place_of(path)
        if place is None:
            return _LocalFile(path)
        return self.store(place.root).open(place.path)

    def store(self, root: str) -> Store:
        """Return the store at the root of a URL.

        Raises:
            StoreError: Nothing reads the scheme, or not with these settings.
        """
        return _store(root, tuple(sorted(self.settings.items())))

    def files(self, path: str, is_recursive: bool = True) -> Iterator[tuple[str, Entry]]:
        """Yield the files of a path, a folder or a glob of a store, with their URLs.

        In a folder, names that begin with a dot or an underscore are passed over.

        Raises:
            FileNotFoundError: A path that is no glob leads nowhere.
        """
        place = place_of(path)
        assert place is not None, "a path of a store was given"
        store = self.store(place.root)
        entry = store.look(place.path)
        if entry is not None and not entry.is_folder:
            yield f"{place.root}/{entry.path}", entry
        elif entry is not None:
            for one in store.walk(place.path, is_recursive):
                if _is_visible(_segments(one.path)[len(_segments(place.path)) :]):
                    yield f"{place.root}/{one.path}", one
        elif _MAGIC.search(place.path):
            for one in _globbed(store, place.path, is_recursive):
                yield f"{place.root}/{one.path}", one
        else:
            raise FileNotFoundError(f"there is no file or folder {path!r}")


LOCAL = Stores()
"""Knows nothing but what the environment says."""


@lru_cache(maxsize=64)
def _store(root: str, settings: tuple[tuple[str, str], ...]) -> Store:
    scheme, _, authority = root.partition("://")
    if scheme in _ARROW:
        from penstock.sources.stores.arrow import arrow_store

        return arrow_store(scheme, authority, dict(settings))
    if scheme in _HDFS:
        from penstock.sources.stores.hdfs import HdfsStore

        return HdfsStore(scheme, authority, dict(settings))
    known = ", ".join((*_ARROW, *_HDFS))
    message = f"nothing reads the scheme {scheme}://, only a disk and {known}; read it with Spark: "
    raise StoreError("PS0020", f"{message}kind: spark, format: binaryFile")


def _globbed(store: Store, path: str, is_recursive: bool) -> Iterator[Entry]:
    pattern = _segments(path)
    fixed = 0
    while not _MAGIC.search(pattern[fixed]):
        fixed += 1
    for entry in store.walk("/".join(pattern[:fixed]), True):
        rest = _segments(entry.path)[fixed:]
        # A pattern may name the file, or a folder somewhere above it.
        for length in _matching(rest, pattern[fixed:]):
            below = rest[length:]
            if _is_visible(below) and (is_recursive or len(below) <= 1):
                yield entry
                break


def _matching(segments: list[str], pattern: list[str], start: int = 0) -> Iterator[int]:
    """Yield how many segments a pattern takes up, for each way in which it fits the first ones."""
    if not pattern:
        yield start
    elif pattern[0] == "**":
        yield from _matching(segments, pattern[1:], start)
        if start < len(segments) and not segments[start].startswith("."):
            yield from _matching(segments, pattern, start + 1)
    elif start < len(segments):
        name, glob = segments[start], pattern[0]
        is_hidden = name.startswith(".") and not glob.startswith(".")
        if not is_hidden and fnmatchcase(name, glob):
            yield from _matching(segments, pattern[1:], start + 1)


def _segments(path: str) -> list[str]:
    return path.split("/") if path else []


def _is_visible(names: list[str]) -> bool:
    return not any(name.startswith((".", "_")) for name in names)


class _LocalFile(Opened):
    """A file on a disk."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "rb")  # noqa: SIM115  # closed at the end of the block
        self.state = self.look_again()

    def look_again(self) -> State:
        found = os.fstat(self._file.fileno())
        return State(found.st_size, found.st_mtime_ns)

    def read_at(self, start: int, end: int) -> bytes:
        parts = []
        while start < end and (part := os.pread(self._file.fileno(), end - start, start)):
            parts.append(part)
            start += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def stream(self) -> io.BufferedIOBase:
        return self._file

    def __exit__(self, *error: object) -> None:
        self._file.close()
