"""Core time of this process and everything it started, as Linux counts it.

What a process has spent is lost with it if its parent does not wait for it, and Spark's Python
daemon does not: it ignores SIGCHLD, so the time of a worker that ended is in nobody's books. So a
thread looks at all processes every now and then and keeps what it saw of each. Of a process that
ends, what it spent after the last look is missing: at most ``LOOK_SECONDS`` while cores are free.
"""

import os
import threading
import time
from pathlib import Path

LOOK_SECONDS = 0.05

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
Process = tuple[int, int]
"""A process, by its number and by when it started, as numbers are used again."""


def core_seconds() -> float:
    """Return the seconds on a core so far of this process, its children and theirs.

    What has ended counts, from the first call on; what it costs to look does not.
    """
    if not _watch.is_alive():
        _watch.start()
    return _watch.look()


class Watch(threading.Thread):
    """Keeps what every process has spent that descends from this one."""

    def __init__(self) -> None:
        super().__init__(name="cores", daemon=True)
        self._lock = threading.Lock()
        self._spent: dict[Process, int] = {}
        self._own_seconds = 0.0
        self.looks = 0

    def run(self) -> None:
        """Look again and again."""
        while True:
            time.sleep(LOOK_SECONDS)
            self.look()

    def look(self) -> float:
        """Return the seconds that all of them have spent, those that ended included."""
        with self._lock:
            started = time.thread_time()
            found = _processes()
            # One that was ours stays ours, whoever its parent is now.
            ours = {pid for pid, _ in found.keys() & self._spent.keys()} | {os.getpid()}
            count = 0
            while len(ours) > count:
                count = len(ours)
                ours |= {pid for (pid, _), (parent, _) in found.items() if parent in ours}
            ours.remove(os.getpid())
            self._spent |= {one: ticks for one, (_, ticks) in found.items() if one[0] in ours}
            self.looks += 1
            self._own_seconds += time.thread_time() - started
            # This process knows better than by ticks, and what looking cost it.
            own = time.process_time() - self._own_seconds
            return own + sum(self._spent.values()) / _TICKS_PER_SECOND


def _processes() -> dict[Process, tuple[int, int]]:
    """Return the parent and the spent ticks of every process, without those of its children."""
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            text = (folder / "stat").read_text()
        except OSError:  # it has just ended
            continue
        fields = text[text.rindex(")") + 2 :].split()
        process = (int(folder.name), int(fields[19]))
        found[process] = (int(fields[1]), int(fields[11]) + int(fields[12]))
    return found


_watch = Watch()
