"""Which files a path, a folder or a glob stands for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatch
from glob import glob, has_magic
from urllib.parse import unquote, urlsplit

from penstock.sources.stores import Stores, has_store

_WAY_OUT = "files of stores are read on Spark, with penstock-xml"


@dataclass(frozen=True, slots=True, order=True)
class Listed:
    """A file as it was found: its path, its size and when it changed."""

    path: str
    size: int
    mtime_ns: int

    @property
    def modified(self) -> datetime:
        """When its content changed."""
        return datetime.fromtimestamp(self.mtime_ns / 1e9, UTC)

    @classmethod
    def of(cls, path: str) -> Listed:
        """Look at a file.

        Raises:
            OSError: There is none.
        """
        found = os.stat(path)
        return cls(path, found.st_size, found.st_mtime_ns)


def list_files(
    paths: Iterable[str | os.PathLike[str]],
    is_recursive: bool = True,
    name_glob: str | None = None,
    stores: Stores | None = None,
) -> list[Listed]:
    """Return the files of paths, folders and globs, each once, sorted by path.

    With ``stores``, paths may be URLs, as in ``s3a://bucket/folder``; nothing in them is quoted.

    In a folder, names that begin with a dot or an underscore are passed over, as Spark does; so
    are files that vanish while the folder is listed. ``name_glob`` filters by file name.

    Raises:
        FileNotFoundError: A path that is no glob leads nowhere.
        StoreError: A store does not answer, or nothing reads its scheme.
        ValueError: A path is one of a store, and there are no ``stores``.
    """
    found: dict[str, Listed] = {}
    for given in paths:
        if has_store(given):
            if stores is None:
                raise ValueError(f"{given!r} is no local path; {_WAY_OUT}")
            for url, entry in stores.files(os.fspath(given), is_recursive):
                if name_glob is None or fnmatch(url.rpartition("/")[2], name_glob):
                    found.setdefault(url, Listed(url, entry.size, entry.mtime_ns))
            continue
        for path in map(os.path.abspath, expand(local_path(os.fspath(given)), is_recursive)):
            if name_glob is None or fnmatch(os.path.basename(path), name_glob):
                try:
                    found.setdefault(path, Listed.of(path))
                except FileNotFoundError:
                    continue
    return sorted(found.values())


def local_path(path: str) -> str:
    """Return a path without the scheme ``file:``."""
    return unquote(urlsplit(path).path) if path.startswith("file:") else path


def expand(path: str, is_recursive: bool = True) -> Iterator[str]:
    """Yield the files of a path, a folder or a glob, in order; names begin as they were given.

    Raises:
        FileNotFoundError: A path that is no glob leads nowhere.
    """
    if has_magic(path) and not os.path.exists(path):
        for one in sorted(glob(path, recursive=True)):
            yield from _files(one, is_recursive)
    elif not os.path.exists(path):
        raise FileNotFoundError(f"there is no file or folder {path!r}")
    else:
        yield from _files(path, is_recursive)


def _files(path: str, is_recursive: bool) -> Iterator[str]:
    if not os.path.isdir(path):
        yield path
        return
    for folder, subfolders, names in os.walk(path):
        subfolders[:] = [name for name in sorted(subfolders) if is_recursive and is_visible(name)]
        yield from (os.path.join(folder, name) for name in sorted(names) if is_visible(name))


def is_visible(name: str) -> bool:
    """Whether a name in a folder or an archive counts."""
    return not os.path.basename(name).startswith((".", "_"))
