"""What runs in Spark's Python workers: documents to records, and records to rows, bucket by bucket.

Rows of subscriptions are built once in each worker process and kept here, in a module that is
imported; every bucket and every batch uses them. What travels with a function is a ``Job``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.engine.joining import lateness_error
from penstock.errors import DocumentError
from penstock.kernel import error_of
from penstock.limits import Limits
from penstock.results.documents import check_event_time
from penstock.spark.joins.bindings import Bound, Origin
from penstock.spark.joins.changes import apply, read_changes
from penstock.spark.joins.exchange import Extent, FileOutlet, read_extents
from penstock.spark.joins.findings import Findings, document_number
from penstock.spark.joins.planned import Planned
from penstock.spark.joins.reading import ReadDocument, read_each
from penstock.spark.joins.segments import (
    damaged_segment,
    map_segment,
    merge_alike,
    write_segment,
)
from penstock.spark.joins.state import BEGINNING, SEGMENTS, Segment
from penstock.spark.rows import error_batch
from penstock.spark.times import event_times, times_of

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Job:
    """What every task of a batch needs to know."""

    folder: str
    work: str
    batch: int
    changes: tuple[tuple[int, str], ...]
    buckets: int
    hash_bits: int
    watermark_us: int
    arrival_us: int
    lateness: timedelta | float | None
    limits: Limits
    is_text: bool
    has_faults: bool


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be done in one bucket: join what was sent to it, or let go what is due."""

    bucket: int
    segments: tuple[Segment, ...]
    sent: tuple[Extent, ...] = ()
    is_derived: bool = False
    until_us: int = BEGINNING
    depth: int = 0


@dataclass(slots=True)
class Told:
    """What a task tells the driver; it crosses as text."""

    bucket: int | None = None
    rows: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    """Files whose rows other tasks may have found as well."""
    sent: dict[int, Extent] = field(default_factory=dict)
    segments: list[Segment] | None = None
    dues: dict[str, int | None] = field(default_factory=dict)
    documents: int = 0
    late: int = 0
    latest_us: int = BEGINNING
    depth: int = 0

    def dump(self) -> str:
        """Return it as text."""
        return json.dumps(asdict(self))

    @staticmethod
    def load(text: str) -> Told:
        """Return it from text."""
        entry = json.loads(text)
        entry["sent"] = {int(bucket): tuple(one) for bucket, one in entry["sent"].items()}
        if entry["segments"] is not None:
            entry["segments"] = [Segment(**segment) for segment in entry["segments"]]
        return Told(**entry)


_kept: dict[tuple[str, Limits, int], Planned] = {}
"""Rows by the folder of their state, limits and hashes: those of one stream at a time."""


def planned_for(job: Job) -> Planned:
    """Return the rows of a batch's subscriptions.

    Raises:
        StateError: What was written down is missing or damaged, or was another version's.
    """
    key = (job.folder, job.limits, job.hash_bits)
    planned = _kept.pop(key, None)
    _kept.clear()
    if planned is None or planned.applied != job.changes[: len(planned.applied)]:
        planned = Planned(job.limits, job.hash_bits)
    for batch, _ in job.changes[len(planned.applied) :]:
        apply(planned, read_changes(job.folder, batch))
    # Whoever fails in the middle leaves nothing half applied behind.
    _kept[key] = planned
    return planned


class Intake:
    """What a task makes of documents: records in their buckets, and what it tells of them."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self.planned = planned_for(job)
        self.planned.joins.enter(0, 1)
        self._outlet, self._told = FileOutlet(job.work), Told()
        self._findings = Findings(self.planned, job.buckets, job.batch, self._outlet)
        self._bound: list[tuple[Origin, list[Bound]]] = []

    def take(self, one: ReadDocument, time_us: int) -> list[DocumentError]:
        """Take a document; return what is wrong with it, or with subscriptions that fail alone."""
        job, told = self._job, self._told
        try:
            check_event_time(time_us)
            # Event time goes on with every document, whatever else is wrong with it.
            told.latest_us = max(told.latest_us, time_us)
            origin, record = read_record(self.planned, one, time_us, job.batch)
        except DocumentError as error:
            return [error]
        told.documents += 1
        if time_us < job.watermark_us:
            told.late += 1
            return [lateness_error(job.lateness)]
        if record:
            self._findings.send(record)
        if one.bindings:
            self._bound.append((origin, one.bindings))
        if self.planned.joins.is_batch_full():
            self._findings.settle()
        failures = self.planned.bound.failures
        return [each for side, error in one.failing for each in failures(side, error)]

    def settle(self, errors: Any = None) -> None:
        """Take the results that wait, and add rows of documents that failed."""
        bound, self._bound = self._bound, []
        self._findings.send_bound(bound)
        self._findings.settle()
        if errors is not None:
            self._outlet.add_batch(errors)

    def tell(self) -> str:
        """Write everything down; return, as text, where it is."""
        return _tell(self._told, self.planned, self._outlet).dump()


def read_documents(job: Job, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield what a task tells that turns documents into records and sends them to buckets."""
    intake = Intake(job)
    for whole in batches:
        batch, times_us = with_event_times(whole.select(range(4)))
        faults = whole.column(4) if job.has_faults else None
        failures: list[tuple[int, DocumentError]] = []
        found = timed_documents(intake.planned, batch, times_us, job.is_text, job.arrival_us)
        for number, (time_us, one) in enumerate(found):
            failures += [(number, error) for error in intake.take(one, time_us)]
        intake.settle(error_batch(failures, batch, faults) if failures else None)
    yield _row(intake.tell())


def with_event_times(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Any]:
    """Return a batch without times that are none, and all times in microseconds since 1970."""
    times_us = times_of(batch.column(2))
    return batch.set_column(2, batch.schema.names[2], event_times(times_us)), times_us


def timed_documents(
    planned: Planned, batch: pa.RecordBatch, times_us: Any, is_text: bool, arrival_us: int
) -> Iterator[tuple[int, ReadDocument]]:
    """Yield the documents of a batch as joins read them, with event times in microseconds."""
    sides = len(planned.bound.sides)
    found = read_each(planned.subscribers.reader, batch, is_text, sides)
    named = zip(found, batch.column(1).to_pylist(), times_us.to_pylist(), strict=True)
    for one, id_, time_us in named:
        one.document.document = id_ or ""
        yield arrival_us if time_us is None else time_us, one


def read_record(
    planned: Planned, one: ReadDocument, time_us: int, batch: int
) -> tuple[Origin, bytes]:
    """Return what tells a document from others, and its record, empty if nothing in it joins.

    Raises:
        DocumentError: The document could not be read.
    """
    document, witness = one.document, one.witness
    if isinstance(witness, DocumentError):
        raise witness
    content = hashlib.blake2b(digest_size=8)
    for piece in document.pieces():
        content.update(piece)
    number = document_number(document.stream, document.document, time_us, content.digest())
    record = planned.joins.record(witness, number, document.document, time_us, batch)
    return Origin(number, document.document, time_us), record


def do_tasks(
    job: Job, tasks: Sequence[Task], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield what tasks tell; the batches hold their numbers."""
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield _row(_do(job, tasks[number]).dump())


def _do(job: Job, task: Task) -> Told:
    planned = planned_for(job)
    joins = planned.joins
    joins.enter(task.bucket, job.buckets)
    for number, segment in enumerate(task.segments):
        joins.attach(number, map_segment(job.folder, segment))
    outlet, told = FileOutlet(job.work), Told(task.bucket)
    findings = Findings(planned, job.buckets, job.batch, outlet)
    if task.depth:
        for number, segment in enumerate(task.segments):
            due_us, failure = joins.release_segment(
                number, segment.released_us, task.until_us, task.depth
            )
            if failure is not None:
                findings.add_failure(error_of(failure))
            findings.settle()
            told.dues[segment.file] = due_us
    else:
        told.segments = list(_join(job, task, planned, findings))
    if joins.is_damaged():
        names = ", ".join(segment.file for segment in task.segments)
        raise damaged_segment(Path(job.folder, SEGMENTS), f"is damaged in one of {names}")
    joins.enter(0, 1)  # so that nobody holds files that are garbage by now
    return _tell(told, planned, outlet)


def _join(job: Job, task: Task, planned: Planned, findings: Findings) -> Sequence[Segment]:
    joins = planned.joins
    joins.queue(b"".join(read_extents(job.work, task.sent)), task.is_derived)
    is_more = True
    while is_more:
        is_more, failed = joins.push_queued()
        for document, _, failure in failed:
            findings.add_failure(error_of(failure), document)
        findings.settle()
    words = joins.write_segment()
    if words is None:
        return task.segments
    segments = (*task.segments, write_segment(job.folder, task.bucket, job.batch, words))
    return merge_alike(job.folder, task.bucket, job.batch, segments, job.watermark_us)


def _tell(told: Told, planned: Planned, outlet: FileOutlet) -> Told:
    """Write everything down; return what was told with where it is."""
    told.sent, told.rows, told.repeated = outlet.close()
    told.depth = planned.joins.depth()
    return told


def _row(told: str) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_pydict({"told": [told]})
