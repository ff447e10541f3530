"""Files that are there whole or not at all, and that survive a loss of power."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote, urlsplit
from uuid import uuid4

TEMPORARY = ".tmp"
"""How the names of unfinished files end."""

# A path that was made a ``Path`` of has one slash left.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")


def disk_path(path: str | os.PathLike[str]) -> Path | None:
    """Return a path of a disk, also if it is given as ``file:``; None if it names another store.

    What is written with the functions of this module needs a disk, or what is mounted as one:
    object stores have no renames.
    """
    text = os.fspath(path)
    found = _SCHEME.match(text)
    if found is None:
        return Path(path)
    return Path(unquote(urlsplit(text).path)) if found[1].lower() == "file" else None


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write that takes its name, and its place, when the block ends well.

    Raises:
        OSError: It cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # Readers of a folder pass over names that begin with a dot; the suffix tells what a crash left.
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=TEMPORARY, dir=path.parent)
    try:
        with open(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), 0o644)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    sync(path.parent)


def offer_file(path: Path, content: bytes) -> None:
    """Make a file with a content, unless there is one: of all who try, one succeeds.

    Raises:
        OSError: It cannot be written.
    """
    offered = path.with_name(f".{uuid4().hex}{TEMPORARY}")
    try:
        with open(offered, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(offered, path)
    finally:
        offered.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, would survive a loss of power.

    Raises:
        OSError: It cannot be opened or written.
    """
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
