"""Documents that are matched and joined: one pass gives rows, and records for the joins.

Where queries read several streams, a second pass gives what their sides bind: these are a plan of
their own.

A task gives its rows as ``match`` does. Behind them comes one row of the kind ``TOLD``, whose
value says where the task put the records and what it found in them: the rounds of joins begin
with that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from penstock.engine.reading import Portion
from penstock.errors import DocumentError
from penstock.kernel import BUNDLE_DOCUMENTS_MAX, Session, Witness
from penstock.sources.inputs import Input
from penstock.sources.packs import Pack
from penstock.spark import worker
from penstock.spark.documents import documents_of
from penstock.spark.joins.reading import ReadDocument
from penstock.spark.joins.worker import Intake, Job, timed_documents, with_event_times
from penstock.spark.rows import error_batch, told_batch
from penstock.spark.worker import PACE

if TYPE_CHECKING:
    import pyarrow as pa


def evaluate(
    matching: worker.Job, joining: Job, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of batches of documents, then what their joins begin with."""
    intake = Intake(joining)

    def task(job: worker.Job, session: Session, names: Any) -> worker.Task:
        return _JoiningTask(job, session, names, intake, joining.arrival_us)

    yield from worker.evaluate_with(task, matching, batches)


class _JoiningTask(worker.Task):
    """Reads documents with one session, for the rows and for the joins."""

    # Nothing counts the bytes of witnesses, so they are taken after every bundle.
    pace = replace(
        PACE, documents_max=BUNDLE_DOCUMENTS_MAX, bundle_documents_max=BUNDLE_DOCUMENTS_MAX
    )

    def __init__(
        self, job: worker.Job, session: Session, names: Any, intake: Intake, arrival_us: int
    ) -> None:
        super().__init__(job, session, names)
        self._intake = intake
        self._arrival_us = arrival_us
        self._times_us: Any = None
        self._taken = 0
        """So many documents of a portion that is open were taken already."""
        self._is_one_pass = True
        self._failed: set[int] = set()
        """The documents of the batch that matching has reported."""

    def read(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        planned = self._intake.planned
        self._is_one_pass = not planned.bound.sides
        self._session.listen(planned.joins if self._is_one_pass else None)
        last = None
        try:
            for batch in batches:
                if batch.num_rows:
                    last = batch
                    self._failed = set()
                    timed = self._timed(batch)
                    yield from super().read(iter((timed,)))
                    if not self._is_one_pass:
                        yield from self._read_again(timed)
                    self._intake.settle()
        finally:
            self._session.listen(None)
        if last is not None:
            inputs = last.select(range(last.num_columns - self._job.has_faults))
            yield told_batch(self._intake.tell(), inputs)

    def _timed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        batch, self._times_us = with_event_times(batch)
        return batch

    def _documents(self, batch: pa.RecordBatch) -> Iterator[Input | Pack]:
        streams = [stream or "default" for stream in batch.column(3).to_pylist()]
        return documents_of(batch.column(0), self._job.is_text, streams)

    def _further(
        self, portion: Portion, batch: pa.RecordBatch, start: int
    ) -> Iterator[pa.RecordBatch]:
        """Hand the documents that ended to the joins; yield what is wrong with them there."""
        ended = len(portion.documents) - portion.is_open
        found: dict[int, Witness | DocumentError] = dict(portion.batch.witnesses())
        # What a subscription failed at alone, the joins have read.
        failed = {number: one for number, one in portion.errors if one.subscription is None}
        if not self._is_one_pass:
            self._failed |= {start + number for number in failed}
            return
        found |= failed
        inputs = batch.slice(start, ended)
        ids = inputs.column(1).to_pylist()
        times_us = self._times_us.slice(start, ended).to_pylist()
        late: list[tuple[int, DocumentError]] = []
        for number in range(self._taken, ended):
            document, time_us = portion.documents[number], times_us[number]
            document.document = ids[number] or ""
            time_us = self._arrival_us if time_us is None else time_us
            one = ReadDocument(document, found[number])
            errors = self._intake.take(one, time_us)
            if number not in failed:
                late += [(number, error) for error in errors]
        self._taken = ended if portion.is_open else 0
        if late:
            yield error_batch(late, inputs)

    def _read_again(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Hand the documents of a batch to the joins with what the sides of queries bind."""
        intake, is_text = self._intake, self._job.is_text
        found = timed_documents(intake.planned, batch, self._times_us, is_text, self._arrival_us)
        failures: list[tuple[int, DocumentError]] = []
        for number, (time_us, one) in enumerate(found):
            errors = intake.take(one, time_us)
            if number not in self._failed:
                failures += [(number, error) for error in errors]
        if failures:
            inputs = batch.select(range(batch.num_columns - self._job.has_faults))
            yield error_batch(failures, inputs)
