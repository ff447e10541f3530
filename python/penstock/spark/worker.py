"""What runs in Spark's Python workers: record batches of documents in, of rows out.

A worker lives longer than a task, so sessions are kept here, in a module that is imported; what
travels with the function is only a ``Job``.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.engine.driver import Driver, Pace
from penstock.engine.follower import Fixed
from penstock.kernel import Session
from penstock.limits import Limits
from penstock.planning.program import Request
from penstock.registry.requests import require_requests
from penstock.registry.subscriptions import Snapshot
from penstock.spark.documents import documents_of
from penstock.spark.plans import PlanReference
from penstock.spark.rows import count_batch, error_batch, result_batch

if TYPE_CHECKING:
    import pyarrow as pa

PACE = Pace(
    rows_max=16 << 10,
    value_bytes_max=4 << 20,
    documents_max=8 << 10,
    linger_seconds=math.inf,
    is_prompt=False,
)

_SESSIONS_KEPT = 4

_Key = tuple[str, Limits]
_idle: OrderedDict[_Key, tuple[Session, Any]] = OrderedDict()
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
    """Whether rows that count documents come among the others."""


def evaluate(job: Job, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of batches of documents.

    The first four columns of a batch are document, id, time and stream; the others come along.
    """
    key = (job.plan.key(), job.limits)
    session, names = _idle.pop(key) if key in _idle else _start(job, key[0])
    try:
        yield from _read(session, names, job, batches)
    finally:
        # A task may end before its input does, but a session is clean between documents.
        if not session.row_count():
            _keep(key, session, names)


def _read(
    session: Session, names: Any, job: Job, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    driver = Driver(Fixed(session), PACE)
    for whole in batches:
        batch, faults = _without_faults(whole) if job.has_faults else (whole, None)
        if job.is_counting and batch.num_rows:
            yield count_batch(batch)
        start = 0
        for portion in driver.run(documents_of(batch.column(0), job.is_text)):
            count = len(portion.documents)
            inputs = batch.slice(start, count)
            if portion.batch.row_count:
                yield result_batch(portion.batch.columns(), names, inputs)
            if portion.errors:
                known = None if faults is None else faults.slice(start, count)
                yield error_batch(portion.errors, inputs, known)
            start += count


def _without_faults(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Any]:
    last = batch.num_columns - 1
    return batch.select(range(last)), batch.column(last)


def _start(job: Job, key: str) -> tuple[Session, Any]:
    names, plan = job.plan.load(key)
    if plan.request_count():
        require_rows(Snapshot(0, names.to_pylist(), plan))
    return Session(plan, job.limits), names


def require_rows(snapshot: Snapshot) -> None:
    """See whether no subscription joins documents.

    Raises:
        RegistryError: One does.
    """
    instead = "penstock.spark.join or join_stream"
    require_requests(snapshot, (Request.ROWS,), "penstock.spark.match", instead)


def _keep(key: _Key, session: Session, names: Any) -> None:
    _idle[key] = (session, names)
    while len(_idle) > _SESSIONS_KEPT:
        _idle.popitem(last=False)
