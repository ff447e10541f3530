"""What runs in Spark's Python workers for a batch: documents to records, records to rows.

Few records are joined by one task, as in one process. Many are divided by value into buckets.
"""

from __future__ import annotations

import hashlib
import mmap
import pickle
import tempfile
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

from penstock.engine.joining import found_row
from penstock.engine.push import PushedInput
from penstock.engine.rows import error_row
from penstock.errors import DocumentError
from penstock.joins import Found, Joiner, Outcome
from penstock.kernel import error_of
from penstock.limits import Limits
from penstock.results.documents import check_event_time
from penstock.spark.joins.batch.segments.frames import SEGMENT, FrameOutlet, records_in
from penstock.spark.joins.bindings import Bound, BoundSubscriptions, Origin
from penstock.spark.joins.findings import Findings
from penstock.spark.joins.planned import Pair, Planned
from penstock.spark.joins.reading import read_each
from penstock.spark.joins.state import BEGINNING
from penstock.spark.rows import error_batch
from penstock.spark.times import event_times, times_of

if TYPE_CHECKING:
    import pyarrow as pa

END = (1 << 63) - 1
"""After all event times: what waits for ever is let go as well."""

_PUBLISHED = 1 << 63
"""What is published has numbers that no document has, which are those of Spark's."""

CHUNK_BYTES = 16 << 20
"""Records of so many bytes become a segment."""
_VERSION = 0
_PLANNED_KEPT = 4


@dataclass(frozen=True, slots=True)
class Programs:
    """The subscriptions of a batch, packed: they travel with every task."""

    name: str
    packed: bytes = field(repr=False)

    @classmethod
    def of(cls, programs: Mapping[str, bytes]) -> Programs:
        """Return programs by the names of their subscriptions, packed."""
        data = pickle.dumps(list(programs.items()))
        return cls(hashlib.blake2b(data, digest_size=16).hexdigest(), zlib.compress(data, 1))

    def read(self) -> list[tuple[str, bytes]]:
        """Return names and programs."""
        found: list[tuple[str, bytes]] = pickle.loads(zlib.decompress(self.packed))
        return found


@dataclass(frozen=True, slots=True)
class Job:
    """What every task of a batch needs to know."""

    programs: Programs
    limits: Limits
    hash_bits: int
    is_text: bool
    has_faults: bool
    arrival_us: int
    buckets: int = 1
    ranks: tuple[Pair, ...] | None = None
    """Pairs of variables that drive the search, where there are buckets."""
    depth: int = 0
    """What waits is let go up to this depth, as soon as a bucket is joined."""
    keeps_state: bool = False


_idle: OrderedDict[tuple[object, ...], Planned] = OrderedDict()
"""Joins without records that no task uses; the oldest goes first."""


def plan(job: Job) -> Planned:
    """Return joins of the subscriptions of a batch, without records."""
    planned = Planned(job.limits, job.hash_bits)
    for number, (name, program) in enumerate(job.programs.read()):
        planned.add(number, _VERSION, name, program)
    planned.settle()
    if job.ranks is not None:
        planned.joins.pin(list(job.ranks))
    return planned


@contextmanager
def planned_for(job: Job) -> Iterator[Planned]:
    """Give joins of the subscriptions of a batch, which are kept for the next task."""
    key = (job.programs.name, job.limits, job.hash_bits, job.ranks)
    planned = _idle.pop(key) if key in _idle else plan(job)
    yield planned
    # What failed in the middle is not kept. Nobody holds the segments of this task any more.
    planned.joins.enter(0, 1)
    _idle[key] = planned
    while len(_idle) > _PLANNED_KEPT:
        _idle.popitem(last=False)


def read(job: Job, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the records of documents, the rows of those that failed, and how much that was.

    The columns of a batch are document, id, time, stream and number.
    """
    outlet = FrameOutlet()
    with planned_for(job) as planned:
        for whole in batches:
            yield from _read(job, planned, whole, outlet)
    yield from outlet.tell()


def _read(
    job: Job, planned: Planned, whole: pa.RecordBatch, outlet: FrameOutlet
) -> Iterator[pa.RecordBatch]:
    batch = whole.select(range(4))
    times_us = times_of(batch.column(2))
    batch = batch.set_column(2, batch.schema.names[2], event_times(times_us))
    failures: list[tuple[int, DocumentError]] = []
    bound: list[tuple[Origin, list[Bound]]] = []
    found = read_each(planned.subscribers.reader, batch, job.is_text, len(planned.bound.sides))
    cells = [column.to_pylist() for column in (whole.column(4), whole.column(1), times_us)]
    for place, (one, number, id_, time) in enumerate(zip(found, *cells, strict=True)):
        try:
            if isinstance(one.witness, DocumentError):
                raise one.witness
            time_us = job.arrival_us if time is None else time
            check_event_time(time_us)
        except DocumentError as error:
            failures.append((place, error))
            continue
        record = planned.joins.record(one.witness, number, id_ or "", time_us, _VERSION)
        if record:
            outlet.pack(record)
            yield from outlet.take()
        if one.bindings:
            bound.append((Origin(number, id_ or "", time_us), one.bindings))
        for side, failure in one.failing:
            failures += [(place, each) for each in planned.bound.failures(side, failure)]
    for made in planned.bound.records(bound, _VERSION):
        if isinstance(made, DocumentError):
            outlet.add(error_row(made, PushedInput("", "default", None)))
        else:
            outlet.pack(made)
        yield from outlet.take()
    if failures:
        faults = whole.column(5) if job.has_faults else None
        outlet.add_batch(error_batch(failures, batch, faults))


def join_whole(job: Job, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of all records, packed in their only column, as one process finds them."""
    joiner = Joiner(limits=job.limits, first=_PUBLISHED)
    bound = BoundSubscriptions(joiner.joins, job.limits)
    for number, (name, program) in enumerate(job.programs.read()):
        joiner.add(number, _VERSION, name, bound.lower(number, name, program))
    joiner.settle()
    bound.bind_published(joiner.subscribers)
    outlet = FrameOutlet()

    def add(outcomes: Iterable[Outcome]) -> Iterator[pa.RecordBatch]:
        for one in outcomes:
            if not isinstance(one, Found):
                outlet.add(error_row(one, PushedInput("", "default", None)))
            elif one.joined.subscription in bound and one.error is None:
                bound.add(one.joined, False, outlet.add)
            else:
                outlet.add(found_row(joiner.subscriber(one.joined.subscription), one))
        yield from outlet.take()

    try:
        for batch in batches:
            for record in _records(batch):
                failure = joiner.joins.push(record)
                if failure is not None:
                    yield from add([error_of(failure)])
                if joiner.joins.is_batch_full():
                    for outcomes in joiner.results(_VERSION):
                        yield from add(outcomes)
        for outcomes in chain(joiner.results(_VERSION), joiner.end(_VERSION)):
            yield from add(outcomes)
    finally:
        joiner.close()
    bound.flush(outlet.add, lambda _: False)
    yield from outlet.take_all()


def send(job: Job, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield records, packed in their only column, for their buckets, and what each gives alone."""
    outlet = FrameOutlet()
    with planned_for(job) as planned:
        planned.joins.enter(0, 1)
        findings = Findings(planned, job.buckets, _VERSION, outlet)
        for batch in batches:
            for record in _records(batch):
                findings.send(record)
                if planned.joins.is_batch_full():
                    findings.settle()
                    yield from outlet.take()
            findings.settle()
            yield from outlet.take()
    yield from outlet.tell()


def join_buckets(
    job: Job, batches: Iterator[pa.RecordBatch], is_derived: bool
) -> Iterator[pa.RecordBatch]:
    """Yield what is found in buckets by joining the records that were sent to them.

    The columns are bucket, kind and body, in the order of buckets, segments before records.
    """
    yield from _by_bucket(job, batches, lambda bucket: bucket.join(is_derived))


def release(job: Job, batches: Iterator[pa.RecordBatch], depth: int) -> Iterator[pa.RecordBatch]:
    """Yield what is found in buckets by letting go what waits in their segments, of one depth."""
    yield from _by_bucket(job, batches, lambda bucket: bucket.release(depth))


def _records(batch: pa.RecordBatch) -> Iterator[bytes]:
    return chain.from_iterable(map(records_in, batch.column(0).to_pylist()))


def _by_bucket(
    job: Job,
    batches: Iterator[pa.RecordBatch],
    work: Callable[[_Bucket], Iterator[pa.RecordBatch]],
) -> Iterator[pa.RecordBatch]:
    outlet = FrameOutlet()
    with planned_for(job) as planned:
        rows = (row for batch in batches for row in zip(*_cells(batch), strict=True))
        for number, own in groupby(rows, lambda row: row[0]):
            bucket = _Bucket(job, planned, outlet, number, ((kind, body) for _, kind, body in own))
            yield from work(bucket)
            yield from outlet.take()
    yield from outlet.tell()


def _cells(batch: pa.RecordBatch) -> list[list[Any]]:
    return [batch.column(place).to_pylist() for place in range(3)]


class _Bucket:
    """The records of one bucket: segments from before, then those that were sent to it."""

    def __init__(
        self,
        job: Job,
        planned: Planned,
        outlet: FrameOutlet,
        number: int,
        bodies: Iterator[tuple[str, bytes]],
    ) -> None:
        self._job = job
        self._joins = planned.joins
        self._outlet = outlet
        self._findings = Findings(planned, job.buckets, _VERSION, outlet)
        self._number = number
        self._bodies = bodies
        self._segments = 0
        self._joins.enter(number, job.buckets)

    def join(self, is_derived: bool) -> Iterator[pa.RecordBatch]:
        """Join what was sent; yield what was found so far, now and then."""
        chunk: list[bytes] = []
        size = 0
        known: set[bytes] = set()
        for body in self._sent():
            if is_derived:
                # Several tasks may have derived one record from others.
                digest = hashlib.blake2b(body, digest_size=16).digest()
                if digest in known:
                    continue
                known.add(digest)
            chunk.append(body)
            size += len(body)
            if size >= CHUNK_BYTES:
                yield from self._join(chunk)
                chunk, size = [], 0
        yield from self._join(chunk)
        for depth in range(1, self._job.depth + 1):
            yield from self._let_go(depth)

    def release(self, depth: int) -> Iterator[pa.RecordBatch]:
        """Let go what waits, of one depth; yield what is found."""
        for _ in self._sent():
            raise AssertionError("nothing is sent where something is let go")
        yield from self._let_go(depth)

    def _sent(self) -> Iterator[bytes]:
        """Take over the segments; yield the records."""
        for kind, body in self._bodies:
            if kind == SEGMENT:
                self._attach(body)
            else:
                yield body

    def _join(self, chunk: list[bytes]) -> Iterator[pa.RecordBatch]:
        joins, findings = self._joins, self._findings
        joins.queue(b"".join(chunk), is_derived=False)
        is_more = True
        while is_more:
            is_more, failed = joins.push_queued()
            for document, _, failure in failed:
                findings.add_failure(error_of(failure), document)
            findings.settle()
            yield from self._outlet.take()
        words = joins.write_segment()
        if words is not None:
            self._attach(words)

    def _let_go(self, depth: int) -> Iterator[pa.RecordBatch]:
        for segment in range(self._segments):
            _, failure = self._joins.release_segment(segment, BEGINNING, END, depth)
            if failure is not None:
                self._findings.add_failure(error_of(failure))
            self._findings.settle()
            yield from self._outlet.take()

    def _attach(self, words: bytes) -> None:
        """Search a segment from now on: in a file of our own, so that memory stays bounded."""
        if self._job.keeps_state:
            self._outlet.keep(self._number, words)
        with tempfile.TemporaryFile(prefix="penstock-joins-") as file:
            file.write(words)
            file.flush()
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._joins.attach(self._segments, mapped)
        self._segments += 1
