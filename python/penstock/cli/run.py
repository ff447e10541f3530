"""``penstock run pipeline.yaml``: documents through a registry into sinks, on Spark."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from penstock.cli import exits

if TYPE_CHECKING:
    from penstock.spark.pipelines import Outcome, Pipeline
    from penstock.spark.pipelines.stopping import Stopping

_LINE_SECONDS = 10.0
_TRACE = "Traceback (most recent call last)"


def add_parser(commands: Any) -> None:
    """Add the command to the others."""
    parser = commands.add_parser(
        "run",
        examples=("penstock run pipeline.yaml", "penstock run --dry-run pipeline.yaml"),
        help="run a pipeline that a YAML file describes, on Spark",
        description="Check a pipeline, start Spark and run it to its end, or until it is\n"
        "interrupted (SIGINT or SIGTERM): then the batch under way is finished first. A second\n"
        "SIGINT does not wait for it.",
    )
    parser.add_argument("pipeline", metavar="FILE", help="the pipeline, in YAML")
    parser.add_argument("--dry-run", action="store_true", help="check it and print it, no more")
    parser.add_argument(
        "--resume",
        action="append",
        default=[],
        metavar="NAME",
        help="resume a subscription that the stream has suspended; may be given again",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run a pipeline.

    Raises:
        SinkError: Rows could not be written.
        OSError: The file cannot be read.
    """
    try:
        from penstock.spark.pipelines import ConfigurationError, load
        from penstock.spark.pipelines.describing import describe, warnings_of

        pipeline = load(options.pipeline)
    except ImportError as error:
        print(
            f"penstock: {error.name} is missing; pip install 'penstock-xml[spark]'", file=sys.stderr
        )
        return exits.COULD_NOT_RUN
    except ConfigurationError as error:
        print(error, file=sys.stderr)
        return exits.BAD_USAGE
    for warning in warnings_of(pipeline):
        print(f"penstock: warning: {warning}", file=sys.stderr)
    if options.dry_run:
        print("\n".join(describe(pipeline)))
        return exits.DONE
    return _run(pipeline, options.resume, is_quiet=options.quiet)


def _run(pipeline: Pipeline, resume: list[str], *, is_quiet: bool) -> int:
    from penstock.spark.pipelines.stopping import Stopping
    from penstock.spark.runtime import missing

    reason = missing()
    if reason is not None:
        print(f"penstock: {reason}", file=sys.stderr)
        return exits.COULD_NOT_RUN
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        with Stopping() as stopping:
            outcome = _run_on_spark(pipeline, resume, stopping, is_quiet)
    except (PySparkException, Py4JError) as error:
        print(f"penstock: {pipeline.secrets.redacted(_reason(error))}", file=sys.stderr)
        return exits.COULD_NOT_RUN
    except ValueError as error:
        print(f"penstock: {pipeline.secrets.redacted(str(error))}", file=sys.stderr)
        return exits.BAD_USAGE
    if not is_quiet:
        how = "stopped" if outcome.is_stopped else "done"
        print(f"{how}: {outcome.describe()}", file=sys.stderr)
        for line in silent_lines(pipeline, outcome):
            print(line, file=sys.stderr)
    return exit_code(outcome)


def silent_lines(pipeline: Pipeline, outcome: Outcome) -> Iterator[str]:
    """Yield which subscriptions had no result in a run, and the likely reasons."""
    from penstock.cli.nothing import SAMPLE_BYTES, reasons
    from penstock.engine.diagnosis import Samples
    from penstock.spark.pipelines.running import NAMED_MAX
    from penstock.spark.pipelines.sampling import sample_documents

    registry = pipeline.registry
    if not outcome.documents or len(registry) > NAMED_MAX:
        return
    silent = [one.name for one in registry if one.name not in outcome.matched]
    if silent:
        yield f"{len(silent)} of {len(registry)} subscriptions never matched"
        documents = outcome.documents
        samples = Samples(lambda: sample_documents(pipeline), SAMPLE_BYTES, documents=documents)
        yield from reasons(registry, silent, samples, has_labels=True)


def _run_on_spark(
    pipeline: Pipeline, resume: list[str], stopping: Stopping, is_quiet: bool
) -> Outcome:
    from penstock.spark.pipelines import Outcome
    from penstock.spark.pipelines import run as run_pipeline
    from penstock.spark.pipelines.sessions import start

    try:
        spark = start(pipeline)
        stopping.protect(spark)
    except Exception:
        # A signal that ends Java while it starts finds nothing begun that had to be finished.
        if stopping.event.is_set():
            return Outcome(is_stopped=True)
        raise
    try:
        if stopping.event.is_set():
            return Outcome(is_stopped=True)
        with _watching(is_quiet) as watch:
            return run_pipeline(pipeline, spark, watch, stopping.event, resume=resume)
    finally:
        spark.stop()


def exit_code(outcome: Outcome) -> int:
    """Return how a run that came to its end, or was stopped, ends the command."""
    has_failed = outcome.quarantined or outcome.failures
    return exits.DOCUMENTS_FAILED if has_failed else exits.DONE


@contextmanager
def _watching(is_quiet: bool) -> Iterator[Callable[[Outcome], None]]:
    """Give what is called after every batch: a live line on a terminal, else one now and then."""
    if is_quiet:
        yield lambda outcome: None
        return
    if not sys.stderr.isatty():
        yield _Lines().show
        return
    from rich.console import Console
    from rich.status import Status

    with Status("waiting for documents", console=Console(stderr=True)) as status:
        yield lambda outcome: status.update(outcome.describe())


class _Lines:
    """Plain lines, not more than one in some seconds."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _LINE_SECONDS

    def show(self, outcome: Outcome) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _LINE_SECONDS
            print(outcome.describe(), file=sys.stderr, flush=True)


def _reason(error: Exception) -> str:
    """Return the line of Spark's complaint that says what happened."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    first = lines[0]
    if "find data source: kafka" in first.lower() or "find the data source: kafka" in first.lower():
        way_out = "org.apache.spark:spark-sql-kafka-0-10_2.13 and your version of Spark"
        return f"{first}\nhelp: add to spark.settings: spark.jars.packages with {way_out}"
    traces = [number for number, line in enumerate(lines) if line.lstrip().startswith(_TRACE)]
    if traces:
        # What a worker raised stands behind its trace, the first line that is not part of it.
        said = (line.strip() for line in lines[traces[-1] + 1 :] if line[:1].strip())
        return next(said, first)
    return first
