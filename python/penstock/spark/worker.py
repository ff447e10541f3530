"""What runs in Spark's Python workers: record batches of documents in, of rows out.

A worker lives longer than a task, so sessions are kept here, in a module that is imported; what
travels with the function is only a ``Job``.
"""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from typing import TYPE_CHECKING, Any

from penstock.engine.follower import Fixed
from penstock.engine.reading import Pace, Portion, Reader
from penstock.kernel import Batch, Session
from penstock.limits import Limits
from penstock.planning.program import Request
from penstock.registry.plans.names import arrow_of
from penstock.registry.requests import require_requests
from penstock.registry.subscriptions import Snapshot
from penstock.results.arrow import constant, schema
from penstock.sources.inputs import Input
from penstock.sources.packs import Pack
from penstock.spark.bulk import arrow_schema, bulk_batch
from penstock.spark.documents import documents_of
from penstock.spark.inputs import DEFAULT_STREAM, INTERNAL, STREAM, TIME
from penstock.spark.plans import PlanReference
from penstock.spark.rows import count_batch, error_batch, result_batch, usage_batch
from penstock.spark.stopwatch import Stopwatch

if TYPE_CHECKING:
    import pyarrow as pa

PACE = Pace(
    rows_max=16 << 10,
    value_bytes_max=4 << 20,
    documents_max=8 << 10,
    linger_seconds=math.inf,
    bundle_documents_max=256,
    is_prompt=False,
)

BULK_PACE = replace(
    PACE, rows_max=256 << 10, value_bytes_max=16 << 20, documents_max=1 << 10, with_times=False
)

SUSPENDED = "penstock.suspended"
"""The property of a job in which a stream's driver names who is suspended, as a list in JSON."""

USAGE_MAX = 20
"""So many subscriptions at most, those that cost most, are named in a task."""

_SESSIONS_KEPT = 4

_Key = tuple[str, str, Limits]
"""The family of a plan, the plan, and limits."""
_idle: OrderedDict[_Key, tuple[Session, Sequence[str]]] = OrderedDict()
"""Sessions that no task uses, with the names of their subscriptions; the oldest goes first."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a task needs to know."""

    plan: PlanReference
    limits: Limits
    is_text: bool
    has_faults: bool = False
    """Whether the last column says why a source could not read a document."""
    is_counting: bool = False
    """Whether rows that count documents, and core time, come among the others."""
    is_joined: bool = False
    """Whether somebody else evaluates the subscriptions that join."""
    is_bulk: bool = False
    """Whether rows are those of ``Engine.matches``."""
    rejects: bool = False
    """Whether a document that fails has no row but its error."""
    constant: frozenset[str] = frozenset()
    """Those of the first four columns that do not come: they say the same of all documents."""


def evaluate(job: Job, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of batches of documents.

    The first four columns of a batch are document, id, time and stream; the others come along.
    The rows of one document may come in several batches, while it is still being read.
    """
    yield from evaluate_with(Task, job, (_completed(batch, job.constant) for batch in batches))


def evaluate_with(
    make: Callable[[Job, Session, Sequence[str]], Task],
    job: Job,
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Yield what a task that is made for a session yields of batches of documents."""
    key = (job.plan.family, job.plan.key(), job.limits)
    session, names = _idle.pop(key) if key in _idle else _start(job, key)
    session.suspend(_numbers(names, suspended_here()))
    task = make(job, session, names)
    watch = Stopwatch()
    try:
        if not job.is_counting:
            yield from task.read(batches)
        else:
            yield from watch.inside(task.read(watch.outside(batches)))
            yield from task.usage(watch.seconds)
    finally:
        # A task may end before its input does, in the middle of a document.
        session.clear()
        _keep(key, session, names)


class Task:
    """The work of one task with a session."""

    pace = PACE

    def __init__(self, job: Job, session: Session, names: Sequence[str]) -> None:
        self._job = job
        self._session = session
        self._names = names
        pace = replace(BULK_PACE if job.is_bulk else self.pace, rejects=job.rejects)
        self._reader = Reader(Fixed(session, names), pace)
        self._last: Any = None

    def read(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of batches of documents."""
        for whole in batches:
            batch, faults = _without_faults(whole) if self._job.has_faults else (whole, None)
            if self._job.is_counting and batch.num_rows:
                self._last = batch
                yield count_batch(batch)
            yield from self._read(batch, faults)

    def usage(self, seconds: float) -> Iterator[pa.RecordBatch]:
        """Yield what the task cost so far, in core time, and the subscriptions that cost most."""
        if self._last is not None:
            used = [(cost, number) for number, _, _, cost in self._session.take_usage()]
            whole = math.fsum(cost for cost, _ in used) or 1.0
            top = nlargest(USAGE_MAX, (one for one in used if one[1] < len(self._names)))
            shares = {self._names[number]: cost / whole for cost, number in top if cost}
            yield usage_batch(seconds, shares, self._last)

    def _read(self, batch: pa.RecordBatch, faults: Any) -> Iterator[pa.RecordBatch]:
        start = 0
        for portion in self._reader.run(self._documents(batch)):
            count = len(portion.documents)
            inputs = batch.slice(start, count)
            yield from self._results(portion.batch, inputs)
            if portion.errors:
                known = None if faults is None else faults.slice(start, count)
                columns = arrow_schema() if self._job.is_bulk else None
                yield error_batch(portion.errors, inputs, known, columns)
            yield from self._further(portion, batch, start)
            if not portion.is_open:  # otherwise its documents come again, with the same numbers
                start += count

    def _documents(self, batch: pa.RecordBatch) -> Iterator[Input | Pack]:
        return documents_of(batch.column(0), self._job.is_text)

    def _further(
        self, portion: Portion, batch: pa.RecordBatch, start: int
    ) -> Iterator[pa.RecordBatch]:
        """Yield what else a portion gives, whose first document has this place in the batch."""
        return iter(())

    def _results(self, decided: Batch, inputs: Any) -> Iterator[pa.RecordBatch]:
        if self._job.is_bulk:
            in_bulk = bulk_batch(decided, self._names, inputs)
            if in_bulk is not None:
                yield in_bulk
            return
        # Documents that were read together, and one that a trie answered, may have many more rows
        # than a batch, with more bytes than a worker has.
        while (columns := decided.next_columns(PACE.rows_max)) is not None:
            rows = result_batch(columns, self._names, inputs)
            for first in range(0, rows.num_rows, PACE.rows_max):
                yield rows.slice(first, PACE.rows_max)


def _completed(batch: pa.RecordBatch, absent: frozenset[str]) -> pa.RecordBatch:
    """Return a batch with the columns that Spark was spared."""
    import pyarrow as pa

    if not absent:
        return batch
    fields = {field.name: field.type for field in batch.schema}
    columns = dict(zip(fields, batch.columns, strict=True))
    if TIME in absent:
        columns[TIME] = pa.nulls(batch.num_rows, schema().field("event_time").type)
    if STREAM in absent:
        columns[STREAM] = constant(DEFAULT_STREAM, pa.string(), batch.num_rows)
    ordered = [*INTERNAL, *(name for name in fields if name not in INTERNAL)]
    return pa.RecordBatch.from_arrays([columns[name] for name in ordered], names=ordered)


def _without_faults(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Any]:
    last = batch.num_columns - 1
    return batch.select(range(last)), batch.column(last)


def _start(job: Job, key: _Key) -> tuple[Session, Sequence[str]]:
    """Return a session for a plan: one that has read another of its family, or a new one."""
    names, plan = job.plan.load(key[1])
    joining = (Request.RECORDS, Request.BINDINGS)
    if not job.is_joined and any(plan.request_count(one.value) for one in joining):
        require_rows(Snapshot(0, names, plan))
    former = next((one for one in reversed(_idle) if (one[0], one[2]) == (key[0], key[2])), None)
    if former is None:
        return Session(plan, job.limits), names
    # Tiers that both have stay as they are, with everything that was learnt about them.
    session, _ = _idle.pop(former)
    session.take_usage()  # by the numbers of the former plan, of which nobody asked
    session.adopt(plan)
    return session, names


def suspended_here() -> list[str]:
    """Return the names of the subscriptions that are suspended in this task's micro-batch."""
    from pyspark import TaskContext

    context = TaskContext.get()
    told = None if context is None else context.getLocalProperty(SUSPENDED)
    return json.loads(told) if told else []


def _numbers(names: Sequence[str], suspended: list[str]) -> list[int]:
    """Return the numbers of those who are among the names of a plan."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not suspended:
        return []
    wanted = pa.array(suspended, pa.large_string())
    found: list[int] = pc.indices_nonzero(pc.is_in(arrow_of(names), wanted)).to_pylist()
    return found


def require_rows(snapshot: Snapshot) -> None:
    """See whether no subscription joins documents.

    Raises:
        RegistryError: One does.
    """
    instead = "penstock.spark.join or join_stream"
    require_requests(snapshot, (Request.ROWS, Request.MESSAGES), "penstock.spark.match", instead)


def _keep(key: _Key, session: Session, names: Sequence[str]) -> None:
    _idle[key] = (session, names)
    while len(_idle) > _SESSIONS_KEPT:
        _idle.popitem(last=False)
