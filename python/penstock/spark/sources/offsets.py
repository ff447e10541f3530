"""The offset of a stream of files: what was read before, and what this micro-batch reads."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from penstock.sources.listing import Listed

Offset = dict[str, Any]
WAITING = "waiting"
"""How many files a stream has seen and not read, in what it reports of itself."""

_DIGEST_BYTES = 8


def initial() -> Offset:
    """Return the offset before the first file."""
    return {"batch": 0, "files": "[]", "seen": ""}


def advance(start: Offset, present: Iterable[Listed], files: Sequence[Listed]) -> Offset:
    """Return the offset after a micro-batch that reads some of the files that are present.

    A file is read once, by its path. What is no longer there is forgotten, so the offset is as
    large as the folder, eight bytes a file. The files of the batch are named in full: a replay
    reads the same ones.
    """
    seen = _unpack(start["seen"]) & {_digest(file.path) for file in present}
    seen |= {_digest(file.path) for file in files}
    named = [[file.path, file.size, file.mtime_ns] for file in files]
    return {
        "batch": start["batch"] + 1,
        "files": json.dumps(named, ensure_ascii=False, separators=(",", ":")),
        "seen": base64.b64encode(b"".join(sorted(seen))).decode("ascii"),
    }


def unseen(start: Offset, present: Iterable[Listed]) -> list[Listed]:
    """Return the files that no micro-batch has read, the oldest first."""
    seen = _unpack(start["seen"])
    new = [file for file in present if _digest(file.path) not in seen]
    return sorted(new, key=lambda file: (file.mtime_ns, file.path))


def files_of(end: Offset) -> list[Listed]:
    """Return the files of the micro-batch that ends at an offset."""
    return [Listed(*named) for named in json.loads(end["files"])]


def _digest(path: str) -> bytes:
    data = path.encode("utf-8", "surrogateescape")
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


def _unpack(packed: str) -> set[bytes]:
    data = base64.b64decode(packed)
    return {data[at : at + _DIGEST_BYTES] for at in range(0, len(data), _DIGEST_BYTES)}
