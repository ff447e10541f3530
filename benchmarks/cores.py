"""Core time of this process and everything it started, as Linux counts it."""

import os
from pathlib import Path


def core_seconds() -> float:
    """Return the seconds on a core so far of this process, its children and theirs.

    What has ended counts as well, since its parent has taken it over.
    """
    parents, ticks = {}, {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            text = (folder / "stat").read_text()
        except OSError:  # it has just ended
            continue
        fields = text[text.rindex(")") + 2 :].split()
        pid = int(folder.name)
        parents[pid] = int(fields[1])
        ticks[pid] = sum(map(int, fields[11:15]))  # user, system, and both of ended children
    ours = {os.getpid()}
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in ours} - ours
        ours |= more
        grown = bool(more)
    return sum(ticks.get(pid, 0) for pid in ours) / os.sysconf("SC_CLK_TCK")
