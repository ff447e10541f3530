"""A project lives through its kills and is held against the engine at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from tests.spark.kills.pipelines import PipelineProject
from tests.spark.kills.report import Life
from tests.spark.kills.schedule import PIPELINE_SINKS, pipeline_strikes
from tests.spark.kills.strikes import Kill, Strike, execute
from tests.spark.kills.victims import CLASSES, Victim

ATTEMPTS_MAX = 4
"""A file that shows itself for milliseconds may be gone before the kill; then it is tried again."""

Watch = Callable[[Kill], None]


def keep_classes(folder: Path) -> None:
    """Run a pipeline once to its end, and keep Spark's classes as Java has them then."""
    if not CLASSES.exists():
        project = PipelineProject(folder, PIPELINE_SINKS[0])
        project.feed()
        keeping = f"-XX:ArchiveClassesAtExit={CLASSES}"
        victim = Victim(project.command(is_endless=False), folder, java=keeping)
        victim.finish(3)
        victim.wait_for_java()


def pipeline_life(
    number: int, folder: Path, strikes: Iterable[Strike] | None = None, watch: Watch = print
) -> Life:
    """Run a pipeline through the kills of a life, or through some others, and then to its end.

    Every process after a kill has to come as far as its own kill, so every start succeeds.
    """
    project = PipelineProject(folder, PIPELINE_SINKS[number])
    kills = []
    for strike in pipeline_strikes(number) if strikes is None else strikes:
        for _ in range(ATTEMPTS_MAX):
            kill = execute(project, strike)
            watch(kill)
            kills.append(kill)
            if not kill.doubt:
                break
    project.feed()
    Victim(project.command(is_endless=False), folder).finish(3)  # some documents are broken
    expected = project.expected()
    return Life(
        f"pipeline {number}",
        tuple(project.sinks),
        tuple(kills),
        project.files,
        len(expected),
        project.differences(),
    )
