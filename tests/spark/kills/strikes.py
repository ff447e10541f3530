"""Kills at known places. What is found on the disk afterwards proves where each one struck."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from tests.spark.kills.checkpoints import committed, last_entry
from tests.spark.kills.holds import Hold
from tests.spark.kills.victims import Victim

PHASES = ("start-up", "reading", "task", "between sinks", "commit", "stop")

_SIGNALLED = ("before session stop", "after session stop")
_LAST_BATCH = "last batch"


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
    ``offsets``, ``commits`` and ``files`` are the temporary files of the logs and of a sink.
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

    def as_dict(self) -> dict[str, Any]:
        """Return the kill as plain data."""
        return asdict(self)


def execute(project: Project, strike: Strike) -> Kill:
    """Start the process, kill it at the place of a strike, and look at what it left."""
    started = time.monotonic()
    completed = committed(project.checkpoint)
    begun = last_entry(project.checkpoint / "offsets")
    known = _temporary_files(project)
    project.feed()
    _Hunt(project, strike, known).run()
    under_way = last_entry(project.checkpoint / "offsets")
    is_under_way = under_way > last_entry(project.checkpoint / "commits")
    now = committed(project.checkpoint)
    kill = Kill(
        strike.phase,
        strike.place,
        now,
        now - completed,
        under_way if is_under_way else None,
        project.holders_of(under_way) if is_under_way else (),
        tuple(sorted(_temporary_files(project) - known)),
        "",
        round(time.monotonic() - started, 1),
    )
    return replace_doubt(kill, _doubt(kill, strike, project.sinks, is_new=under_way > begun))


def replace_doubt(kill: Kill, doubt: str) -> Kill:
    """Return the kill with what speaks against its phase."""
    return Kill(**{**asdict(kill), "doubt": doubt})


class _Hunt:
    """One process from its start to its kill."""

    def __init__(self, project: Project, strike: Strike, known: set[str]) -> None:
        self._project = project
        self._strike = strike
        self._known = known
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
        elif place == "files":
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
        return any(name not in self._known for name in _sink_files(self._project.folder / "out"))


def _temporary_files(project: Project) -> set[str]:
    """Return the temporary files and folders of a stream, by the place where they lie."""
    logs = {
        f"{log}/{path.name}"
        for log in ("offsets", "commits")
        for path in (project.checkpoint / log).glob(".*.tmp")
    }
    return logs | _sink_files(project.folder / "out")


def _sink_files(folder: Path) -> set[str]:
    """Return the folders in which batches of files are written before they are complete."""
    return {str(path.relative_to(folder)) for path in folder.glob("*/.unfinished-*")}


def _doubt(kill: Kill, strike: Strike, sinks: Sequence[str], *, is_new: bool) -> str:
    """Return what is missing for a kill to have struck in its phase, or nothing."""
    claims: dict[str, tuple[bool, str]] = {
        "start-up": (kill.completed_by_process == 0 and not is_new, "a batch was begun"),
        "reading": (not kill.holders, "a sink has the batch"),
        "task": (kill.under_way is not None and not kill.holders, "no batch was computed"),
        "between sinks": (
            kill.under_way is not None and 0 < len(kill.holders) < len(sinks),
            "not between two sinks",
        ),
        "commit": (
            kill.under_way is not None and len(kill.holders) == len(sinks),
            "some sink lacks the batch, or it was committed",
        ),
        "stop": (kill.completed_by_process >= strike.batches, "it did not come so far"),
    }
    is_proven, doubt = claims[strike.phase]
    if is_proven and strike.place in ("offsets", "commits", "files"):
        is_proven, doubt = bool(kill.left), "the temporary file was gone"
    if is_proven and kill.completed_by_process < strike.batches:
        return "it did not come so far"
    return "" if is_proven else doubt
