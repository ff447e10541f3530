"""Micro-batches of a stream whose documents are joined: what each begins with and leaves behind.

``join_stream`` and pipelines use the same state in the same way; they differ in who reads the
documents and who takes the rows.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from penstock.errors import DocumentError
from penstock.joins import JoinOptions
from penstock.limits import Limits
from penstock.spark.arrow import record_batches
from penstock.spark.joins.changes import Subscriptions, pin_changes
from penstock.spark.joins.planned import Planned
from penstock.spark.joins.rounds import Rounds
from penstock.spark.joins.state import Manifest, State
from penstock.spark.joins.worker import Job, read_record, timed_documents
from penstock.spark.times import times_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

BUCKETS = 16
LEARNT_MAX = 256
"""So many documents say which values are rare, when subscriptions come."""

Sample = Iterable[tuple["pa.RecordBatch", bool]]
"""Some documents of a micro-batch, each batch with whether it is text."""


@dataclass(frozen=True, slots=True)
class Joining:
    """What is done with every micro-batch of a stream."""

    state: State
    lateness: timedelta | float | None
    limits: Limits
    buckets: int = BUCKETS
    hash_bits: int = 64
    is_text: bool = False
    has_faults: bool = False
    first: int = 0
    """The first micro-batch that joins; none before it has any state."""

    @contextmanager
    def micro_batch(
        self,
        spark: SparkSession,
        number: int,
        subscriptions: Subscriptions,
        sample: Callable[[], Sample],
    ) -> Iterator[Rounds]:
        """Give the rounds of a micro-batch, to be gone through and handed out inside the block.

        Only when the block is over does the state go on. A micro-batch that comes again finds the
        state and the subscriptions that it found before. ``sample`` is asked for documents if
        there are new subscriptions.

        Raises:
            StateError: The state is missing or damaged.
        """
        before = self.state.before(number, self.buckets, self.hash_bits, self.first)

        def learn(planned: Planned) -> None:
            for batch, is_text in sample():
                _learn(planned, batch, is_text, number)

        changes = pin_changes(self.state, before, subscriptions, self.limits, learn)
        with self.state.work(number) as work:
            changed = () if changes.is_empty else ((changes.batch, changes.mark),)
            known = () if changes.is_whole else before.changes
            job = Job(
                str(self.state.folder),
                work,
                changes.batch,
                (*known, *changed),
                before.buckets,
                before.hash_bits,
                before.watermark_us,
                changes.arrival_us,
                self.lateness,
                self.limits,
                self.is_text,
                self.has_faults,
            )
            rounds = self.rounds(spark, job, before)
            yield rounds
        assert rounds.after is not None, "whoever asked for them went through them"
        self.state.commit(replace(rounds.after, registry_version=changes.registry_version))

    def rounds(self, spark: SparkSession, job: Job, before: Manifest) -> Rounds:
        """Return the rounds of a batch, none of which was gone through."""
        return Rounds(spark, job, before, JoinOptions(self.lateness).lateness_us)


def sample_of(documents: DataFrame, is_text: bool) -> Sample:
    """Yield some documents of a DataFrame whose first columns are those of ``Inputs``."""
    for batch in record_batches(documents.limit(LEARNT_MAX)):
        yield batch, is_text


def _learn(planned: Planned, batch: pa.RecordBatch, is_text: bool, number: int) -> None:
    """Join some of the documents, to see which values are rare."""
    times_us = times_of(batch.column(2))
    for time_us, one in timed_documents(planned, batch, times_us, is_text, 0):
        with contextlib.suppress(DocumentError):
            origin, record = read_record(planned, one, time_us, number)
            for each in (record, *planned.bound.records([(origin, one.bindings)], number)):
                if each and not isinstance(each, DocumentError):
                    planned.joins.push(each)
        planned.joins.forget_results()
