"""A pipeline runs: documents through all subscriptions into the sinks.

A stream is one query with one checkpoint. Each batch is matched once, kept, counted, and written
to every sink; sinks recognise a batch that comes again, so a crash at any moment loses nothing and
doubles nothing in files and SQL tables.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from penstock.errors import PenstockError
from penstock.sinks.folders import Folders, folders_of
from penstock.spark.checkpoints import clear_leftovers, stream_name
from penstock.spark.deployment import prepare
from penstock.spark.features import Feature
from penstock.spark.joins.rounds import Rounds
from penstock.spark.joins.stream import progress_of
from penstock.spark.joins.worker import Told
from penstock.spark.pipelines.batch_joining import joined_rows
from penstock.spark.pipelines.choices import chosen_rows
from penstock.spark.pipelines.configuration import Pipeline
from penstock.spark.pipelines.configured_registry import holds_joins
from penstock.spark.pipelines.counting import CHOICES, count_rows
from penstock.spark.pipelines.inputs import documents
from penstock.spark.pipelines.joining import StreamJoins
from penstock.spark.pipelines.matching import Matching
from penstock.spark.pipelines.metrics_file import with_file
from penstock.spark.pipelines.progress import Counts, Outcome, as_dict
from penstock.spark.pipelines.runs import new_run
from penstock.spark.pipelines.suspension import (
    Standing,
    Standings,
    current,
    failing_of,
    identities_of,
    not_suspended,
    pinned,
    told_rows,
)
from penstock.spark.rows import SILENT, TOLD
from penstock.spark.tables import typed_rows
from penstock.spark.worker import SUSPENDED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STARTS_MAX = 5
"""So often a pipeline is started whose Python does not answer Spark in time."""

NAMED_MAX = 10_000
"""Of larger registries nobody says which subscriptions have results."""

_POLL_SECONDS = 0.2

Watch = Callable[[Outcome], None]


class _StopError(Exception):
    """No further batch is wanted."""


def run(
    pipeline: Pipeline,
    spark: SparkSession,
    watch: Watch = lambda outcome: None,
    stopping: threading.Event | None = None,
    run_name: str | None = None,
    resume: Sequence[str] = (),
) -> Outcome:
    """Run a pipeline to its end, or until ``stopping`` is set, and return what it did.

    ``watch`` is called with what was done so far, after every batch. Once ``stopping`` is set,
    the batch under way is finished and no other begun. ``run_name`` names the run of a batch
    pipeline, which has a new name otherwise; a stream has that of its checkpoint. The suspended
    subscriptions of a stream that ``resume`` names go on.

    Raises:
        RegistryError: A subscription to be resumed is not suspended.
        SinkError: Rows could not be written, or a sink must not be written again.
        ValueError: A column of documents is neither binary nor a string.
        DeploymentError: The workers of a cluster cannot run this package.
        pyspark.errors.PySparkException: Spark could not run it.
    """
    prepare(spark)
    job = _Job(pipeline, with_file(pipeline, watch), stopping or threading.Event(), resume)
    try:
        if pipeline.trigger.is_streaming:
            return job.stream(spark)
        return job.batch(spark, run_name or new_run())
    except (PenstockError, OSError) as error:
        pipeline.secrets.redact(error)
        raise


class _Job:
    def __init__(
        self,
        pipeline: Pipeline,
        watch: Watch,
        stopping: threading.Event,
        resume: Sequence[str] = (),
    ) -> None:
        self._pipeline = pipeline
        self._resume = resume
        self._standings: Standings | None = None
        self._watch = watch
        self._stopping = stopping
        self._outcome = Outcome()
        self._matching: Matching | None = None
        self._joins: StreamJoins | None = None
        self._failure: BaseException | None = None

    def batch(self, spark: SparkSession, run_name: str) -> Outcome:
        from pyspark.errors import PySparkException

        for name in self._resume:
            raise not_suspended(name)
        started = time.monotonic()
        self._begin(spark, run_name)
        for attempt in range(1, STARTS_MAX + 1):
            try:
                # Sinks know the batch, should a part of it be written already.
                counts = self._whole_batch(spark, run_name)
                break
            except PySparkException as error:
                if attempt == STARTS_MAX or not _is_slow_start(error):
                    raise
        self._outcome.add(counts, time.monotonic() - started)
        self._watch(self._outcome)
        return self._outcome

    def stream(self, spark: SparkSession) -> Outcome:
        from pyspark.errors import PySparkException

        checkpoint = self._pipeline.checkpoint
        assert checkpoint is not None, "a stream has a checkpoint"
        folders = folders_of(spark, checkpoint)
        name = stream_name(folders, checkpoint)
        if self._resume:
            self._standings_of(folders, name or "").resume(self._resume)
        self._begin(spark, name)
        starts = 0
        progress = self._outcome.batches
        while True:
            before = self._outcome.batches
            starts += 1
            clear_leftovers(folders, checkpoint)
            try:
                # The registry publishes its version anew each time, should that be damaged.
                self._matching = matching = self._match(spark)
                self._joins = None
                self._stream_once(matching.documents.writeStream, folders)
                if not self._may_have_more(before):
                    break
                starts = 0
            except PySparkException as error:
                # A worker that died, or what reads the source, is no reason to give up. The
                # next query goes on from the checkpoint; one that does not even come to a
                # batch would not come to it another time either, unless Python was too slow.
                is_stuck = self._outcome.batches == progress
                progress = self._outcome.batches
                can_start = starts < STARTS_MAX and _is_slow_start(error)
                if self._stopping.is_set() or (is_stuck and not can_start):
                    raise
                starts = starts if is_stuck else 0
        self._outcome.finish()
        self._outcome.is_stopped = self._stopping.is_set()
        return self._outcome

    def _may_have_more(self, before: int) -> bool:
        """Return whether a query that ended may have left something behind.

        Spark without bounds for sources in Python ends after one micro-batch of them.
        """
        is_endless = self._pipeline.trigger.kind == "processing_time"
        is_done = self._stopping.is_set() or self._outcome.batches == before
        return not (is_endless or is_done or Feature.READ_LIMITS.is_there)

    def _begin(self, spark: SparkSession, run_name: str | None) -> None:
        for setting in self._pipeline.sinks:
            setting.sink.begin(spark, run_name)

    def _stream_once(self, writer: Any, folders: Folders) -> None:
        from pyspark.errors import StreamingQueryException

        pipeline = self._pipeline
        started: list[str] = []
        is_started = threading.Event()
        self._failure = None

        def write(batch: DataFrame, number: int) -> None:
            try:
                is_started.wait()
                if self._stopping.is_set() or not started:
                    raise _StopError
                standings = self._standings_of(folders, started[0])
                if self._joins is None:
                    self._joins = StreamJoins(pipeline, folders, started[0])
                self._outcome.write(number, self._micro_batch(batch, number, started[0], standings))
            except BaseException as error:
                self._failure = error
                raise

        writer = writer.foreachBatch(write).queryName(pipeline.name)
        writer = writer.option("checkpointLocation", pipeline.checkpoint)
        try:
            query = writer.trigger(**self._trigger()).start()
            started.append(str(query.id))
        finally:
            # Whether it started or not, the batch that waits for the name goes on.
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

    def _standings_of(self, folders: Folders, stream: str) -> Standings:
        if self._standings is None:
            checkpoint = self._pipeline.checkpoint
            assert checkpoint is not None, "a stream has a checkpoint"
            self._standings = Standings(folders, checkpoint, stream)
        return self._standings

    def _micro_batch(
        self, documents: DataFrame, number: int, stream: str, standings: Standings
    ) -> Counts:
        """Write a batch with who is suspended in it, and decide who is in the next one."""
        pipeline = self._pipeline
        suspend_after = pipeline.suspend_after
        standing = Standing() if suspend_after is None else standings.at(number)
        standing = standing.known(identities_of(pipeline.registry, standing.names, stream, number))
        suspended = tuple(sorted(standing.suspended))
        # Tasks have the properties of the thread that starts their job, also when they are
        # tried again.
        spark = documents.sparkSession
        context = spark.sparkContext
        context.setLocalProperty(SUSPENDED, json.dumps(suspended) if suspended else "")

        def decide(rows: DataFrame, counts: Counts) -> None:
            if suspend_after is None or not counts.documents:
                return
            failing = failing_of(rows) if counts.failures else {}
            names = standing.names | failing.keys()
            identities = identities_of(pipeline.registry, names, stream, number)
            standings.settle(number, standing.after(number, failing, identities, suspend_after))

        matching, joins = self._matching, self._joins
        assert matching is not None, "documents come of a query that was started"
        assert joins is not None, "documents come of a query that was started"
        with joins.micro_batch(spark, number, lambda: matching.sample(documents)) as rounds:
            rows = matching.rows(documents, None if rounds is None else rounds.job)
            rows = told_rows(rows, standing, number)
            join = None if rounds is None else partial(_joined, rounds)
            counts = self._write(rows, number, stream, join, decide)
        if rounds is not None and rounds.after is not None:
            self._outcome.joins = progress_of(rounds.after)
        self._outcome.suspended = suspended
        return counts

    def _whole_batch(self, spark: SparkSession, run_name: str) -> Counts:
        matching, registry = self._match(spark), self._pipeline.registry
        documents = matching.documents
        if not holds_joins(registry):
            return self._write(matching.rows(documents), 0, run_name)
        # What is read twice might not be the same.
        documents = documents.persist()
        try:
            join = partial(joined_rows, documents, matching, registry)
            return self._write(matching.rows(documents), 0, run_name, join)
        finally:
            documents.unpersist()

    def _match(self, spark: SparkSession) -> Matching:
        pipeline = self._pipeline
        is_streaming = pipeline.trigger.is_streaming
        read = documents(spark, pipeline.sources, pipeline.limits, is_streaming)
        return Matching.of(read, pipeline.registry, pipeline.limits)

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

    def _write(
        self,
        matched: DataFrame,
        number: int,
        run_name: str,
        join: Callable[[DataFrame], DataFrame] | None = None,
        decide: Callable[[DataFrame, Counts], None] = lambda matched, counts: None,
    ) -> Counts:
        """Write a batch to all sinks; the documents are read once, by the join or the count.

        ``join`` returns the rows of joins, given those of matching.
        """
        rows = matched = matched.persist()
        try:
            if join is not None:
                rows = matched.unionByName(join(matched), allowMissingColumns=True).persist()
            counts = count_rows(rows, has_names=len(self._pipeline.registry) <= NAMED_MAX)
            owners = self._owners(rows, number, run_name)
            for setting in self._pipeline.sinks:
                # A first batch without rows is written for what it says about others. Where there
                # must be none, it would be taken for one of them by the next run.
                is_told = number == 0 and setting.sink.write_mode != "fail"
                count, choose = CHOICES[setting.rows]
                if is_told or count(counts):
                    chosen = choose(rows.where(~rows["kind"].isin(*SILENT)))
                    if setting.choice:
                        of_owners = (n for n, owner in owners if owner in setting.choice.owners)
                        chosen = chosen_rows(chosen, setting.choice, of_owners)
                        if not is_told and chosen.isEmpty():
                            continue
                    if setting.table is not None:
                        query = self._pipeline.registry[setting.table].query
                        chosen = typed_rows(chosen, setting.table, query)
                    setting.sink.write_batch(chosen, number, run_name)
            # What fails in joins suspends nobody.
            decide(matched, counts)
            return counts
        finally:
            rows.unpersist()
            matched.unpersist()

    def _owners(self, rows: DataFrame, number: int, stream: str) -> list[tuple[str, str | None]]:
        """Return the subscriptions of a batch with their owners, if a sink asks for owners."""
        if not any(setting.choice.owners for setting in self._pipeline.sinks):
            return []
        named = rows.where("subscription IS NOT NULL").select("subscription").distinct()
        names = {name for (name,) in named.collect()}
        registry = self._pipeline.registry
        is_streaming = self._pipeline.trigger.is_streaming
        found = (
            pinned(registry, names, stream, number) if is_streaming else current(registry, names)
        )
        return [(one.name, one.owner) for one in found]


def _joined(rounds: Rounds, matched: DataFrame) -> DataFrame:
    """Join what the documents of a batch have for the joins; return the rows."""
    told = matched.where(f"kind = '{TOLD}'").select("value").collect()
    rounds.join([Told.load(row.value) for row in told])
    return rounds.results()


def _is_slow_start(error: Exception) -> bool:
    # Spark gives Python ten seconds to start, which a busy machine may not have.
    return "Python worker failed to connect back" in str(error)
