"""What a checkpoint says about its stream: which batches were begun and done, of which files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.parse import unquote, urlparse


def committed(checkpoint: Path) -> int:
    """Return how many batches of a stream are done for good."""
    return last_entry(checkpoint / "commits") + 1


def last_entry(folder: Path) -> int:
    """Return the number of the last batch that a log of the checkpoint names, or -1."""
    names = os.listdir(folder) if folder.is_dir() else []
    return max((int(name) for name in names if name.isdigit()), default=-1)


def files_of_batches(checkpoint: Path) -> dict[int, list[Path]]:
    """Return which files belong to which batch, as Spark's own source of files took them down.

    The source numbers its own entries, and a batch goes up to one of them: after a kill it may
    take two entries at once.
    """
    entries: dict[int, set[Path]] = {}
    for log in (checkpoint / "sources" / "0").glob("[0-9]*"):
        for line in log.read_text("utf-8").splitlines()[1:]:
            entry = json.loads(line)
            path = Path(unquote(urlparse(entry["path"]).path))
            entries.setdefault(entry["batchId"], set()).add(path)
    batches: dict[int, list[Path]] = {}
    taken = -1
    offsets = checkpoint / "offsets"
    for batch in sorted(int(file.name) for file in offsets.glob("[0-9]*")):
        last = json.loads((offsets / str(batch)).read_text("utf-8").splitlines()[-1])["logOffset"]
        batches[batch] = [path for at in range(taken + 1, last + 1) for path in entries[at]]
        taken = last
    return batches
