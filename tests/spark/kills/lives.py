"""A project lives through its kills and is held against the engine at the end."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from tests.spark.helpers.lake_jars import delta_jars, iceberg_jars
from tests.spark.kills.join_streams import JoinProject
from tests.spark.kills.joining_pipelines import JoiningPipelineProject
from tests.spark.kills.match_streams import MatchProject
from tests.spark.kills.pipelines import PipelineProject
from tests.spark.kills.report import Life
from tests.spark.kills.schedule import (
    JOIN_STRIKES,
    JOINING_STRIKES,
    LAKE_SINKS,
    MATCH_STRIKES,
    PIPELINE_SINKS,
    pipeline_strikes,
)
from tests.spark.kills.strikes import Kill, Project, Strike, execute
from tests.spark.kills.victims import Victim

ATTEMPTS_MAX = 4
"""A file that shows itself for milliseconds may be gone before the kill; then it is tried again."""
PIPELINES = tuple(f"pipeline-{number}" for number in range(len(PIPELINE_SINKS)))
JOINING = tuple(f"joining-{number}" for number in range(len(JOINING_STRIKES)))
JOINS = tuple(f"join-{number}" for number in range(len(JOIN_STRIKES)))
LAKES = tuple(
    f"{kind}-{number}" for kind, all_ in LAKE_SINKS.items() for number in range(len(all_))
)
"""Lives that need the release of Spark that has their format, and its jars."""
LIVES = (*PIPELINES, *JOINING, *JOINS, "match-0")

LAKE_MODES = ("upsert", "append")
_FEW_FILES = {"spark.databricks.delta.snapshotPartitions": "1"}

Watch = Callable[[Kill], None]


class Compared(Project, Protocol):
    """A project whose rows are those of the engine, if nothing goes wrong."""

    exit_code: int
    """How the process ends when it comes to the end."""

    def expected(self) -> Sequence[Any]:
        """Return what the engine finds in this process."""

    def differences(self) -> dict[str, tuple[int, int]]:
        """Return by sink how many rows are lost and how many are there too often."""


def live(name: str, folder: Path, watch: Watch = lambda kill: None) -> Life:
    """Run a project of ``LIVES`` through its kills in a new folder."""
    shutil.rmtree(folder, ignore_errors=True)
    kind, _, number = name.partition("-")
    match kind:
        case "pipeline":
            sinks = PIPELINE_SINKS[int(number)]
            strikes = pipeline_strikes(int(number), sinks)
            return endure(name, PipelineProject(folder, sinks), strikes, watch)
        case "delta" | "iceberg":
            sinks = LAKE_SINKS[kind][int(number)]
            strikes = pipeline_strikes(int(number), sinks)
            jars = delta_jars() if kind == "delta" else iceberg_jars()
            settings = {"spark.jars": ",".join(map(str, jars)), **_FEW_FILES}
            project = PipelineProject(folder, sinks, settings, LAKE_MODES[int(number)])
            return endure(name, project, strikes, watch)
        case "joining":
            strikes = list(JOINING_STRIKES[int(number)])
            return endure(name, JoiningPipelineProject(folder), strikes, watch)
        case "join":
            return endure(name, JoinProject(folder), JOIN_STRIKES[int(number)], watch)
        case _:
            return endure(name, MatchProject(folder), MATCH_STRIKES, watch)


def endure(
    name: str, project: Compared, strikes: Iterable[Strike], watch: Watch = lambda kill: None
) -> Life:
    """Run a project through kills and then to its end, and compare it with the engine.

    Every process after a kill has to come as far as its own kill, so every start succeeds.
    """
    kills = []
    for strike in strikes:
        for _ in range(ATTEMPTS_MAX):
            kill = execute(project, strike)
            watch(kill)
            kills.append(kill)
            if not kill.doubt:
                break
        else:
            raise AssertionError(f"no kill struck {strike}: {kill.doubt}")
    project.feed()
    Victim(project.command(is_endless=False), project.folder).finish(project.exit_code)
    rows = len(project.expected())
    return Life(name, tuple(project.sinks), tuple(kills), rows, project.differences())
