"""The joins of a batch as the driver goes through them: few jobs for little, rounds for chains."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial, reduce
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from penstock.limits import Limits
from penstock.spark.deployment import map_batches
from penstock.spark.inputs import FAULT, INTERNAL, Inputs
from penstock.spark.joins.batch.segments.frames import (
    BODY,
    BUCKET,
    FOUND,
    KIND,
    PARTS,
    RECORD,
    ROW,
    SEGMENT,
    TOLD,
    Told,
    frame_schema,
    records_in,
    told_by,
)
from penstock.spark.joins.batch.segments.tasks import (
    Job,
    Programs,
    join_buckets,
    join_whole,
    plan,
    read,
    release,
    send,
)
from penstock.spark.joins.planned import Planned

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

WHOLE_BYTES_MAX = 64 << 20
"""Records of so many bytes are joined by one task, which takes about a second …"""
BUCKET_BYTES = 32 << 20
"""… more of them by one task for so many bytes."""
BUCKETS_MAX = 4096
LEARNT_MAX = 256
"""So many records say which values are rare …"""
PACKS_LEARNT_MAX, LEARNT_BYTES_MAX = 64, 1 << 20
"""… out of so many rows, of up to so many bytes each: the driver holds them."""


_IN_BUCKETS = (BUCKET, KIND, BODY)

Work = Callable[[Iterator[Any]], Iterator[Any]]
"""What a task makes of record batches."""


def join_segments(
    inputs: Inputs,
    programs: Mapping[str, bytes],
    limits: Limits,
    buckets: int | None = None,
    hash_bits: int = 64,
) -> DataFrame:
    """Return the rows of programs that join documents.

    Documents are read once, by the call; their records are a local checkpoint. How many there are
    says how they are joined. Without ``buckets`` their number follows from the size of all records.
    """
    return Evaluation(inputs, programs, limits, hash_bits).run(numbered(inputs), buckets)


def numbered(inputs: Inputs) -> DataFrame:
    """Return documents with a number for each, which is another one whenever they are computed."""
    from pyspark.sql import functions as f

    number = f.monotonically_increasing_id().alias("__number")
    return inputs.without_others().select(
        *INTERNAL, number, *([FAULT] if inputs.has_faults else [])
    )


class Evaluation:
    """One batch on its way.

    What several steps read is computed once: a *local checkpoint*, which Spark drops when nothing
    refers to it any more. Should an executor be lost with a part of one, Spark ends the job with
    an error; nothing is computed again in another way, lost or doubled.
    """

    def __init__(
        self, inputs: Inputs, programs: Mapping[str, bytes], limits: Limits, hash_bits: int
    ) -> None:
        self._count = len(programs)
        self._job = Job(
            Programs.of(programs),
            limits,
            hash_bits,
            inputs.is_text,
            inputs.has_faults,
            time.time_ns() // 1000,
        )
        self._rows: list[DataFrame] = []
        """Frames with rows of results among others."""

    def run(self, documents: DataFrame, buckets: int | None) -> DataFrame:
        """Return the rows of documents that have numbers; ``buckets`` is None if size decides."""
        frame = _kept(documents, partial(read, self._job))
        told = _told(frame)
        if told.rows or not told.records:
            self._rows.append(frame)
        if buckets is None:
            buckets = 1 if told.bytes <= WHOLE_BYTES_MAX else -(-told.bytes // BUCKET_BYTES)
        if told.records:
            self._join(frame.where(_is(RECORD)).select(BODY), min(buckets, BUCKETS_MAX))
        # Who reads the rows twice does not join twice.
        return self._results(is_repeated=buckets > 1).localCheckpoint(eager=False)

    def _join(self, records: DataFrame, buckets: int) -> None:
        if buckets == 1:
            self._rows.append(_mapped(records.coalesce(1), partial(join_whole, self._job)))
            return
        planned = plan(self._job)
        small = records.where(f"length({BODY}) <= {LEARNT_BYTES_MAX}")
        packs = (bytes(row[0]) for row in small.limit(PACKS_LEARNT_MAX).collect())
        for record in islice(chain.from_iterable(map(records_in, packs)), LEARNT_MAX):
            planned.joins.push(record)
            planned.joins.forget_results()
        job = replace(self._job, buckets=buckets, ranks=planned.new_ranks())
        depth = planned.joins.depth()
        sent = _kept(records, partial(send, job))
        self._rows.append(sent)
        if depth > 1 or any(_leads_on(planned, number) for number in range(self._count)):
            self._go_round(replace(job, keeps_state=True), sent, depth)
        else:
            self._join_once(replace(job, depth=depth), None, sent, is_derived=False)

    def _results(self, is_repeated: bool) -> DataFrame:
        """Return the rows of results; with ``is_repeated`` some of them may be there twice."""
        frames = [one.where(_is(ROW)) for one in self._rows]
        found = reduce(lambda one, other: one.unionAll(other), frames)
        if not is_repeated:
            return found.select(f"{FOUND}.*")
        once = found.where(f"{PARTS} IS NULL").select(f"{FOUND}.*")
        # A result's id says what it is made of, so one that two buckets found has it twice.
        several = found.where(f"{PARTS} IS NOT NULL").select(f"{FOUND}.*", PARTS)
        several = several.dropDuplicates(["subscription", "document", "ordinal", PARTS])
        return once.unionAll(several.drop(PARTS))

    def _go_round(self, job: Job, sent: DataFrame, depth: int) -> None:
        """Join what was sent to buckets, and whatever that leads to; then let go what waits."""
        state = self._join_all(job, None, sent, is_derived=False)
        for number in range(1, depth + 1):
            segments = state.where(_is(SEGMENT)).select(*_IN_BUCKETS)
            state = self._exchange(job, segments, partial(release, job, depth=number))
            if _told(state).records:
                state = self._join_all(job, state, state, is_derived=True)

    def _join_all(
        self, job: Job, state: DataFrame | None, sent: DataFrame, is_derived: bool
    ) -> DataFrame:
        """Join what was sent, and what that leads to, round after round; return the state."""
        while True:
            state = sent = self._join_once(job, state, sent, is_derived)
            is_derived = True
            if not _told(state).records:
                return state

    def _join_once(
        self, job: Job, state: DataFrame | None, sent: DataFrame, is_derived: bool
    ) -> DataFrame:
        inputs = sent.where(_is(RECORD)).select(*_IN_BUCKETS)
        if state is not None:
            inputs = state.where(_is(SEGMENT)).select(*_IN_BUCKETS).unionAll(inputs)
        return self._exchange(job, inputs, partial(join_buckets, job, is_derived=is_derived))

    def _exchange(self, job: Job, inputs: DataFrame, work: Work) -> DataFrame:
        """Return what tasks make of what lies in buckets: segments first, then what was sent."""
        exchanged = inputs.repartition(job.buckets, BUCKET)
        sorted_ = exchanged.sortWithinPartitions(BUCKET, exchanged[KIND].desc())
        frame = _kept(sorted_, work)
        self._rows.append(frame)
        return frame


def _kept(inputs: DataFrame, work: Work) -> DataFrame:
    """Return what tasks make of rows, once, whoever reads it."""
    return _mapped(inputs, work).localCheckpoint(eager=False)


def _mapped(inputs: DataFrame, work: Work) -> DataFrame:
    """Return what tasks make of rows."""

    # A closure over plain data: what runs in the workers is their own copy of the package.
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return work(batches)

    return map_batches(inputs, run, frame_schema())


def _told(frame: DataFrame) -> Told:
    """Return what the tasks of a frame told, which computes it."""
    return told_by(row[0] for row in frame.where(_is(TOLD)).select(BODY).collect())


def _is(kind: str) -> str:
    return f"{KIND} = '{kind}'"


def _leads_on(planned: Planned, number: int) -> bool:
    """Return whether the results of a subscription are joined further."""
    output = planned.subscribers[number].output
    return output.publish is not None or len(output.streams) > 2
