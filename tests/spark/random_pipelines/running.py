"""A case is run as the command would, with a session that it shares, and held against the model."""

from __future__ import annotations

import contextlib
import io
import json
import re
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import penstock.spark.pipelines as pipelines
from penstock.cli.main import main as command
from penstock.spark.pipelines import Outcome, sessions
from tests.spark.helpers.stored import Row, row_of, rows_in
from tests.spark.random_pipelines.cases import PipelineCase
from tests.spark.random_pipelines.model import Expected, Model

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RUN_SECONDS_MAX = 600.0
"""A stream that has not read its documents by then never will."""
_COUNTS = re.compile(r"^\w+: ([\d,]+) documents.* ([\d,]+) results, ([\d,]+) quarantined", re.M)


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a case and the model do not agree."""

    run: int
    what: str
    expected: object
    found: object

    def describe(self) -> str:
        """Return both sides."""
        return f"run {self.run}, {self.what}: expected {self.expected}, found {self.found}"


@dataclass
class _Ran:
    exit_code: int | str
    counts: tuple[int, int, int]
    printed: tuple[int, ...]
    out: str
    error: str


def differences(case: PipelineCase, folder: Path, spark: SparkSession) -> Iterator[Difference]:
    """Run a case in a folder of its own, and yield where it does not agree with the model."""
    model = Model(case, folder)
    for number, step in enumerate(case.steps):
        case.write_files(folder, step)
        expected = model.run(number, step)
        ran = _run(folder / "pipeline.yaml", spark, expected.documents)
        counts = (expected.documents, expected.results, expected.quarantined)
        is_refused = expected.exit_code in (2, 4)
        for what, wanted, found in (
            ("exit code", expected.exit_code, ran.exit_code),
            ("counts returned", counts, ran.counts),
            ("counts printed", () if is_refused else counts, ran.printed),
        ):
            if wanted != found:
                yield Difference(number, what, wanted, f"{found}\n{ran.error[:2000]}")
        yield from _sink_differences(case, folder, number, expected, ran.out)


def _sink_differences(
    case: PipelineCase, folder: Path, number: int, expected: Expected, out: str
) -> Iterator[Difference]:
    # The rows of all consoles come out together.
    printed = Counter(row_of(json.loads(line)) for line in out.splitlines())
    places = range(len(case.sinks))
    consoles = [place for place in places if case.sinks[place].kind == "console"]
    wanted = Counter(row for place in consoles for row in expected.held[place])
    yield from _compared(number, "console", wanted, printed)
    for place in places:
        sink = case.sinks[place]
        if place not in consoles:
            found = Counter(rows_in(sink.kind, folder / sink.path, sink.table))
            what = f"{sink.kind} {sink.write}"
            yield from _compared(number, what, Counter(expected.held[place]), found)


def _compared(
    number: int, what: str, wanted: Counter[Row], found: Counter[Row]
) -> Iterator[Difference]:
    if wanted != found:
        lost, more = list((wanted - found).elements()), list((found - wanted).elements())
        yield Difference(number, what, f"{wanted.total()} rows, {lost} lost", f"{more} too many")


def _run(file: Path, spark: SparkSession, documents: int) -> _Ran:
    """Run the command in this process, until it ends or, if it never does, has read so many."""
    outcomes: list[Outcome] = []
    run = pipelines.run

    def run_until_read(
        pipeline: pipelines.Pipeline,
        session: Any,
        watch: Any,
        stopping: threading.Event,
        **options: Any,
    ) -> Outcome:
        def stop_when_read(outcome: Outcome) -> None:
            watch(outcome)
            if outcome.documents >= documents:
                stopping.set()

        if pipeline.trigger.kind != "processing_time":
            outcomes.append(run(pipeline, session, watch, stopping, **options))
            return outcomes[-1]
        if not documents:
            stopping.set()
        giving_up = threading.Timer(RUN_SECONDS_MAX, stopping.set)
        giving_up.start()
        try:
            outcomes.append(run(pipeline, session, stop_when_read, stopping, **options))
        finally:
            giving_up.cancel()
        return outcomes[-1]

    out, error = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sessions, "start", return_value=spark),
        mock.patch.object(type(spark), "stop"),
        mock.patch.object(pipelines, "run", run_until_read),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(error),
    ):
        try:
            code: int | str = command(["run", str(file)])
        except Exception as exception:
            # The command must report every error itself.
            code = f"{type(exception).__name__}: {str(exception)[:500]}"
    counts = (0, 0, 0)
    if outcomes:
        (outcome,) = outcomes
        counts = (outcome.documents, outcome.results, outcome.quarantined)
    lines = _COUNTS.findall(error.getvalue())
    printed = tuple(int(number.replace(",", "")) for number in lines[-1]) if lines else ()
    return _Ran(code, counts, printed, out.getvalue(), error.getvalue())
