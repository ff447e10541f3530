"""Kills at known places. What is found on the disk afterwards proves where each one struck."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from tests.spark.kills.checkpoints import committed, last_entry
from tests.spark.kills.holds import Hold
from tests.spark.kills.victims import Victim

PHASES = ("start-up", "reading", "task", "between sinks", "commit", "stop")

_SIGNALLED = ("before session stop", "after session stop")
_LAST_BATCH = "last batch"
LAKE_FILES = ("delta/part-", "iceberg/data/")
_WATCHED = ("offsets", "commits", "unfinished", *LAKE_FILES)


class Project(Protocol):
    """What is killed: a stream with a checkpoint whose documents keep coming."""

    folder: Path
    sinks: Sequence[str]

    @property
    def checkpoint(self) -> Path:
        """Where the stream keeps how far it came."""

    def command(self, *, is_endless: bool) -> list[str]:
        """Return the arguments of the process."""

    def feed(self) -> None:
        """Add documents."""

    def holders_of(self, batch: int) -> tuple[str, ...]:
        """Return the sinks that have all rows of a batch."""


@dataclass(frozen=True, slots=True)
class Strike:
    """Where to kill, and after how many batches of the same process.

    A place is a point of `holds`, or a file of Spark's that shows itself for a moment:
    ``offsets`` and ``commits`` are temporary files of these logs, ``unfinished`` is a folder of a
    sink, and those of ``LAKE_FILES`` are data files of which their table does not know yet.
    """

    phase: str
    place: str
    batches: int = 0
    is_group: bool = False
    """Whether a stop is asked of the whole process group."""


@dataclass(frozen=True, slots=True)
class Kill:
    """What one kill left behind."""

    phase: str
    place: str
    completed: int
    """Batches that were committed, and those of them that the killed process did."""
    completed_by_process: int
    under_way: int | None
    """The batch that was begun and not committed."""
    holders: tuple[str, ...]
    """The sinks that have all rows of that batch."""
    left: tuple[str, ...]
    """Temporary files that were not there before."""
    doubt: str
    """Why this does not prove the phase; empty if it does."""
    seconds: float


@dataclass(frozen=True, slots=True)
class _State:
    """What the disk shows of a stream."""

    completed: int
    begun: int
    """The last batch that was begun, or -1."""
    holders: tuple[str, ...]
    temporary: set[str]

    @classmethod
    def of(cls, project: Project) -> _State:
        completed = committed(project.checkpoint)
        begun = last_entry(project.checkpoint / "offsets")
        holders = project.holders_of(begun) if begun >= completed else ()
        return cls(completed, begun, holders, _temporary_files(project))


def execute(project: Project, strike: Strike) -> Kill:
    """Start the process, kill it at the place of a strike, and look at what it left."""
    started = time.monotonic()
    before = _State.of(project)
    project.feed()
    _Hunt(project, strike, before.temporary).run()
    after = _State.of(project)
    kill = Kill(
        strike.phase,
        strike.place,
        after.completed,
        after.completed - before.completed,
        after.begun if after.begun >= after.completed else None,
        after.holders,
        tuple(sorted(after.temporary - before.temporary)),
        "",
        round(time.monotonic() - started, 1),
    )
    return replace(kill, doubt=_doubt(kill, strike, before, project.sinks))


class _Hunt:
    """One process from its start to its kill."""

    def __init__(self, project: Project, strike: Strike, known: set[str]) -> None:
        self._project = project
        self._strike = strike
        self._known = known
        self._early: set[str] | None = None
        """Files of sinks that were there when the batch of the strike could begin."""
        self._wanted = committed(project.checkpoint) + strike.batches
        point = f"after {project.sinks[-1]}" if strike.place == _LAST_BATCH else strike.place
        marker = project.folder / "held"
        for old in project.folder.glob("held*"):
            old.unlink()
        self._hold = Hold(point, self._wanted, project.checkpoint, marker)
        self._victim = Victim(project.command(is_endless=True), project.folder, self._hold)

    def run(self) -> None:
        """Wait for the place and kill."""
        place = self._strike.place
        if place == "java":
            self._victim.wait_until(lambda: self._victim.has_java)
        elif place == "checkpoint":
            self._victim.wait_until((self._project.checkpoint / "metadata").exists, is_brief=True)
        elif place in ("offsets", "commits"):
            self._victim.wait_until(lambda: self._is_logging(place), is_brief=True)
        elif place in ("unfinished", *LAKE_FILES):
            self._victim.wait_until(self._is_writing, is_brief=True)
        else:
            if place in _SIGNALLED:
                self._victim.wait_until(self._is_late)
                self._victim.terminate(is_group=self._strike.is_group)
            self._victim.wait_until(self._is_held)
            if place == _LAST_BATCH:
                self._victim.terminate(is_group=self._strike.is_group)
                self._hold.release()
                self._victim.wait_until(lambda: committed(self._project.checkpoint) > self._wanted)
        self._victim.kill()

    def _is_held(self) -> bool:
        self._project.feed()
        return self._hold.is_reached

    def _is_late(self) -> bool:
        self._project.feed()
        return committed(self._project.checkpoint) >= self._wanted

    def _is_logging(self, log: str) -> bool:
        """Whether Spark writes an entry of a log that is late enough."""
        folder = self._project.checkpoint / log
        names = os.listdir(folder) if folder.is_dir() else []
        for name in names:
            number = name.split(".")[1] if name.startswith(".") and name.endswith(".tmp") else ""
            if (
                number.isdigit()
                and int(number) >= self._wanted
                and f"{log}/{name}" not in self._known
            ):
                return True
        return False

    def _is_writing(self) -> bool:
        """Whether Spark writes files of the batch that is late enough."""
        if committed(self._project.checkpoint) < self._wanted:
            self._project.feed()
            return False
        names = _sink_files(self._project.folder / "out")
        if self._early is None:
            self._early = names
        return any(name not in self._early for name in names)


def _temporary_files(project: Project) -> set[str]:
    """Return the temporary files and folders of a stream, by the place where they lie."""
    logs = {
        f"{log}/{path.name}"
        for log in ("offsets", "commits")
        for path in (project.checkpoint / log).glob(".*.tmp")
    }
    return logs | _sink_files(project.folder / "out")


def _sink_files(folder: Path) -> set[str]:
    """Return where batches are written before they are complete: folders, and files of lakes."""
    lakes = (path for name in LAKE_FILES for path in folder.glob(f"{name}*.parquet"))
    places = (*folder.glob("*/.unfinished-*"), *lakes)
    return {str(path.relative_to(folder)) for path in places}


def _doubt(kill: Kill, strike: Strike, before: _State, sinks: Sequence[str]) -> str:
    """Return what is missing for a kill to have struck in its phase, or nothing."""
    if kill.completed_by_process < strike.batches:
        return "it did not come so far"
    if strike.place in _WATCHED and not any(strike.place in name for name in kill.left):
        return "the temporary file was gone"
    is_begun = kill.under_way is not None
    # A batch that an earlier process left half done is in some sinks already.
    is_replay = kill.under_way == before.begun
    is_untouched = kill.holders == (before.holders if is_replay else ())
    claims = {
        "start-up": kill.completed_by_process == 0 and kill.under_way in (None, before.begun),
        "reading": is_untouched,
        "task": is_begun and is_untouched,
        "between sinks": is_begun and 0 < len(kill.holders) < len(sinks),
        "commit": is_begun and len(kill.holders) == len(sinks),
        "stop": True,
    }
    return "" if claims[strike.phase] else f"this is not {strike.phase}"
