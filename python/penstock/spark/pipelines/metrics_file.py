"""The numbers of a run in a file that is replaced after every batch, for Prometheus."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from penstock import logs
from penstock.spark.metrics.prometheus import exposition
from penstock.spark.pipelines.configuration import Pipeline
from penstock.spark.pipelines.progress import Outcome
from penstock.storage import whole_file


def with_file(pipeline: Pipeline, watch: Callable[[Outcome], None]) -> Callable[[Outcome], None]:
    """Return a watch that writes the file first, if the pipeline has one."""
    if pipeline.metrics is None:
        return watch
    path, name = Path(pipeline.metrics), pipeline.name

    def write(outcome: Outcome) -> None:
        try:
            with whole_file(path) as file:
                file.write(exposition({name: outcome.measures()}).encode())
        except OSError as error:
            # Rows are worth more than numbers.
            logs.spark.warning("%s cannot be written: %s", path, error.strerror or error)
        watch(outcome)

    return write
