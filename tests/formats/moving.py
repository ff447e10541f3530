"""Folders that know where they lie, in a form that can be kept and put anywhere.

Checkpoints hold paths, as text and as hashes. Kept files have a mark in their place.
"""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from zlib import crc32

FOLDER = "@FOLDER@"
_SEEN = re.compile(r"@SEEN ([^@]*)@")


def keep(source: Path, target: Path) -> None:
    """Copy a folder, with marks for its own path; Spark's checksums and locks stay behind.

    Raises:
        ValueError: A file that is no text knows where it lies.
    """
    ignored = shutil.ignore_patterns("*.crc", "*-wal", "*-shm", "*.lock", "out-*")
    shutil.copytree(source, target, ignore=ignored)
    paths = _inbox(source, (path.name for path in (source / "inbox").glob("*.xml")))
    marks = {str(source): FOLDER, **_hashes(paths)}
    for path in _files(target):
        data = path.read_bytes()
        changed = data
        for place, mark in marks.items():
            changed = changed.replace(place.encode(), mark.encode())
        if changed != data:
            changed.decode()
            path.write_bytes(changed)


def put(kept: Path, folder: Path) -> None:
    """Copy a kept folder to another place, and write that in the place of the marks."""
    shutil.copytree(kept, folder)
    for path in _files(folder):
        data = path.read_bytes()
        if b"@FOLDER@" in data or b"@SEEN " in data:
            text = data.decode().replace(FOLDER, str(folder))
            text = _SEEN.sub(lambda seen: _digests(_inbox(folder, seen[1].split())), text)
            path.write_text(_checked(text))


def _checked(text: str) -> str:
    """Return the text of a file with its checksum made right, if its last line is one."""
    body, _, last = text.rstrip("\n").rpartition("\n")
    return f"{body}\n{crc32(body.encode())}\n" if last.isdigit() else text


def _files(folder: Path) -> Iterable[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def _inbox(folder: Path, names: Iterable[str]) -> list[str]:
    return [str(folder / "inbox" / name) for name in sorted(names)]


def _hashes(paths: list[str]) -> dict[str, str]:
    """Return the marks of what stands in a checkpoint for the first files, by that."""
    return {
        _digests(paths[:count]): f"@SEEN {' '.join(Path(path).name for path in paths[:count])}@"
        for count in range(len(paths), 0, -1)
    }


def _digests(paths: list[str]) -> str:
    """Return what the offset of a stream of files says of those it has read."""
    digests = (hashlib.blake2b(path.encode(), digest_size=8).digest() for path in paths)
    return base64.b64encode(b"".join(sorted(digests))).decode("ascii")
