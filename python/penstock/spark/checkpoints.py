"""Spark's checkpoints: what a stream left there, and what a kill must not leave.

Spark writes an entry of a log under a name like ``.0.UUID.tmp`` and renames it. If a process is
killed between the two while the stream has no batch yet, Spark takes the leftover for the state of
another stream and refuses the checkpoint for good.
"""

from __future__ import annotations

import json
import re

from penstock.sinks.folders import Folders

LOGS = ("offsets", "commits")
_UNFINISHED = re.compile(r"\.+[^/]+\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp(?:\.crc)?")
_CHECKSUM = re.compile(r"\.(\d+)\.crc")


def stream_name(folders: Folders, checkpoint: str) -> str | None:
    """Return the name of the stream whose checkpoint it is, or None if it is new."""
    data = folders.read(f"{checkpoint}/metadata")
    try:
        return None if data is None else str(json.loads(data)["id"])
    except (ValueError, KeyError, TypeError):
        return None


def clear_leftovers(folders: Folders, checkpoint: str) -> list[str]:
    """Remove what a kill left and Spark would stumble over; return what was removed.

    Unfinished entries go only while no batch was begun: later ones do no harm, and another process
    might be writing them. A checksum without its entry is of no use to anybody, and keeps Spark
    from writing the entry. No entry of a log is ever removed.
    """
    removed = []
    is_new = not any(name.isdigit() for name in folders.names(f"{checkpoint}/{LOGS[0]}"))
    for log in LOGS:
        names = set(folders.names(f"{checkpoint}/{log}"))
        for name in sorted(names):
            checked = _CHECKSUM.fullmatch(name)
            is_unfinished = is_new and _UNFINISHED.fullmatch(name) is not None
            if is_unfinished or (checked and checked[1] not in names):
                folders.remove(f"{checkpoint}/{log}/{name}")
                removed.append(f"{log}/{name}")
    return removed
