"""A pipeline runs: documents through all subscriptions into the sinks.

A stream is one query with one checkpoint. Each micro-batch is matched once, kept, and written to
every sink; sinks recognise a batch that comes again, so a crash at any moment loses nothing and
doubles nothing in files and SQL tables.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from penstock.errors import PenstockError
from penstock.spark.match import match, quarantine, results
from penstock.spark.pipelines.configuration import Pipeline, SinkSetting
from penstock.spark.pipelines.inputs import documents
from penstock.spark.pipelines.progress import MEASURES, Outcome, as_dict

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation, SparkSession

BATCH_RUN = "batch"
"""What takes the place of a stream's id where there is no stream."""

_POLL_SECONDS = 0.2

Watch = Callable[[Outcome], None]


class _StopError(Exception):
    """No further batch is wanted."""


def run(
    pipeline: Pipeline,
    spark: SparkSession,
    watch: Watch = lambda outcome: None,
    stopping: threading.Event | None = None,
) -> Outcome:
    """Run a pipeline to its end, or until ``stopping`` is set, and return what it did.

    ``watch`` is called with what was done so far, after every batch. Once ``stopping`` is set,
    the batch under way is finished and no other begun.

    Raises:
        SinkError: Rows could not be written.
        pyspark.errors.PySparkException: Spark could not run it.
    """
    job = _Job(pipeline, watch, stopping or threading.Event())
    return job.stream(spark) if pipeline.trigger.is_streaming else job.batch(spark)


class _Job:
    def __init__(self, pipeline: Pipeline, watch: Watch, stopping: threading.Event) -> None:
        self._pipeline = pipeline
        self._watch = watch
        self._stopping = stopping
        self._outcome = Outcome()
        self._failure: BaseException | None = None

    def batch(self, spark: SparkSession) -> Outcome:
        from pyspark.sql import Observation
        from pyspark.sql import functions as f

        started = time.monotonic()
        read, found = Observation(MEASURES), Observation("rows")
        is_error = f.col("kind") == "error"
        rows = self._rows(spark, read).observe(
            found,
            f.count_if(~is_error).alias("results"),
            f.count_if(is_error).alias("quarantined"),
        )
        self._write_all(rows)
        seconds = time.monotonic() - started
        outcome = self._outcome
        outcome.batches = 1
        outcome.documents, outcome.bytes = read.get["documents"], read.get["bytes"] or 0
        outcome.results, outcome.quarantined = found.get["results"], found.get["quarantined"]
        outcome.documents_per_second = outcome.documents / seconds
        outcome.bytes_per_second = outcome.bytes / seconds
        self._watch(outcome)
        return outcome

    def stream(self, spark: SparkSession) -> Outcome:
        from pyspark.errors import PySparkException

        writer = self._rows(spark, MEASURES).writeStream
        while True:
            before = self._outcome.batches
            try:
                self._stream_once(writer)
                break
            except PySparkException:
                # A worker that died, or what reads the source, is no reason to give up. The
                # next query goes on from the checkpoint; one that does not even come to a
                # batch would not come to it another time either.
                if self._outcome.batches == before or self._stopping.is_set():
                    raise
        self._outcome.is_stopped = self._stopping.is_set()
        return self._outcome

    def _stream_once(self, writer: Any) -> None:
        from pyspark.errors import StreamingQueryException

        pipeline = self._pipeline
        assert pipeline.checkpoint is not None, "a stream has a checkpoint"
        started: list[str] = []
        is_started = threading.Event()
        self._failure = None

        def write(batch: DataFrame, number: int) -> None:
            try:
                if self._stopping.is_set():
                    raise _StopError
                is_started.wait()
                self._write(batch, number, started[0])
            except BaseException as error:
                self._failure = error
                raise

        writer = writer.foreachBatch(write).queryName(pipeline.name)
        writer = writer.option("checkpointLocation", pipeline.checkpoint)
        query = writer.trigger(**self._trigger()).start()
        started.append(str(query.id))
        is_started.set()
        try:
            self._follow(query)
        except StreamingQueryException:
            # What a sink says of itself says more than what Spark makes of it.
            if isinstance(self._failure, PenstockError | OSError):
                raise self._failure from None
            if not isinstance(self._failure, _StopError):
                raise
        finally:
            if query.isActive:
                query.stop()
            self._note(query)

    def _rows(self, spark: SparkSession, measures: str | Observation) -> DataFrame:
        from pyspark.sql import functions as f

        pipeline = self._pipeline
        is_streaming = pipeline.trigger.is_streaming
        found = documents(spark, pipeline.sources, pipeline.limits, is_streaming).observe(
            measures,
            f.count(f.lit(1)).alias("documents"),
            f.sum(f.octet_length("xml")).alias("bytes"),
        )
        return match(
            found,
            pipeline.registry,
            document="xml",
            id="id",
            time="ts",
            stream="stream",
            limits=pipeline.limits,
        )

    def _write_all(self, rows: DataFrame) -> None:
        """Write everything as one batch; with one sink there is no need to keep it."""
        sinks = self._pipeline.sinks
        if len(sinks) > 1:
            rows = rows.persist()
        try:
            for setting in sinks:
                chosen = _chosen(rows, setting, {False: 1, True: 1})
                assert chosen is not None, "the counts are not known yet"
                setting.sink.write_batch(chosen, 0, BATCH_RUN)
        finally:
            if len(sinks) > 1:
                rows.unpersist()

    def _trigger(self) -> dict[str, Any]:
        trigger = self._pipeline.trigger
        if trigger.kind == "processing_time":
            return {"processingTime": trigger.interval}
        return {"once" if trigger.kind == "once" else "availableNow": True}

    def _follow(self, query: Any) -> None:
        while not query.awaitTermination(_POLL_SECONDS):
            self._note(query)
            # Between two batches nothing is under way, and stopping disturbs nobody.
            if self._stopping.is_set() and not query.status["isTriggerActive"]:
                query.stop()

    def _note(self, query: Any) -> None:
        for progress in query.recentProgress:
            if self._outcome.note(as_dict(progress)):
                self._watch(self._outcome)

    def _write(self, rows: DataFrame, number: int, run_id: str) -> None:
        from pyspark.sql import functions as f

        rows = rows.persist()
        try:
            is_error = f.col("kind") == "error"
            counted = rows.groupBy(is_error.alias("is_error")).count().collect()
            counts = {row["is_error"]: row["count"] for row in counted}
            for setting in self._pipeline.sinks:
                chosen = _chosen(rows, setting, counts)
                if chosen is not None:
                    setting.sink.write_batch(chosen, number, run_id)
            self._outcome.results += counts.get(False, 0)
            self._outcome.quarantined += counts.get(True, 0)
        finally:
            rows.unpersist()


def _chosen(rows: DataFrame, setting: SinkSetting, counts: dict[bool, int]) -> DataFrame | None:
    """Return the rows that a sink gets, or None if there are none."""
    match setting.rows:
        case "results":
            return results(rows) if counts.get(False) else None
        case "quarantine":
            return quarantine(rows) if counts.get(True) else None
        case _:
            return rows if counts else None


@contextmanager
def stopping_on_signals() -> Iterator[threading.Event]:
    """Give an event that the first SIGINT or SIGTERM sets; a second one interrupts."""
    stopping = threading.Event()

    def handle(number: int, frame: object) -> None:
        if stopping.is_set():
            raise KeyboardInterrupt
        stopping.set()

    before = {one: signal.signal(one, handle) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopping
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
