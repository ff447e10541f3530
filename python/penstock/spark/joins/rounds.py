"""One micro-batch, as the driver goes through it: rounds of tasks until nothing new turns up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from penstock.spark.deployment import map_batches
from penstock.spark.joins.exchange import PARTS, Extent
from penstock.spark.joins.state import BEGINNING, Manifest, Segment
from penstock.spark.joins.worker import Job, Task, Told, do_tasks, read_documents

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

_TOLD = "told string"
Sent = Mapping[int, tuple[Extent, ...]]


@dataclass
class Rounds:
    """The rounds of one batch, and what has come of them so far."""

    spark: SparkSession
    job: Job
    before: Manifest
    lateness_us: int | None = None
    after: Manifest | None = None
    """What is the state then."""
    rows: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    segments: dict[int, tuple[Segment, ...]] = field(default_factory=dict)
    depth: int = 0

    def read(self, documents: DataFrame) -> list[Told]:
        """Read the documents of the batch; return what the tasks tell of it, for ``join``.

        Raises:
            StateError: The state is missing or damaged.
        """
        job = self.job
        return self._collect(documents, lambda batches: read_documents(job, batches))

    def join(self, told: Sequence[Told]) -> None:
        """Join what was read.

        Raises:
            StateError: The state is missing or damaged.
        """
        job, before = self.job, self.before
        self._take(told)
        # What no window can need any more goes as it is, unread.
        self.segments = {
            bucket: tuple(one for one in segments if one.expires_us >= before.watermark_us)
            for bucket, segments in before.segments.items()
        }
        self._join(_sent(told), is_derived=False)
        watermark_us = before.watermark_us
        latest_us = max((one.latest_us for one in told), default=BEGINNING)
        if self.lateness_us is not None and latest_us != BEGINNING:
            watermark_us = max(watermark_us, latest_us - self.lateness_us)
        self._release(watermark_us)
        self.after = replace(
            before,
            batch=job.batch,
            watermark_us=watermark_us,
            documents=before.documents + sum(one.documents for one in told),
            late=before.late + sum(one.late for one in told),
            changes=job.changes,
            segments={bucket: segments for bucket, segments in self.segments.items() if segments},
        )

    def _join(self, sent: Sent, is_derived: bool) -> None:
        """Join what was sent to buckets, and whatever that leads to, round after round."""
        while sent:
            tasks = [
                Task(bucket, self.segments.get(bucket, ()), extents, is_derived)
                for bucket, extents in sorted(sent.items())
            ]
            told = self._take(self._do(tasks))
            for one in told:
                assert one.bucket is not None, "it was about a bucket"
                self.segments[one.bucket] = tuple(one.segments or ())
            sent, is_derived = _sent(told), True

    def _release(self, until_us: int) -> None:
        """Let go what waited in vain until before a time, those first that others may wait for."""
        dues: dict[str, int | None] = {}
        for depth in range(1, self.depth + 1):
            tasks = [
                Task(bucket, segments, until_us=until_us, depth=depth)
                for bucket, segments in sorted(self.segments.items())
                if any(one.due_us is not None and one.due_us < until_us for one in segments)
            ]
            if tasks:
                told = self._take(self._do(tasks))
                for one in told:
                    dues |= one.dues
                self._join(_sent(told), is_derived=True)
        self.segments = {
            bucket: tuple(
                replace(one, due_us=dues.get(one.file, one.due_us), released_us=until_us)
                for one in segments
            )
            for bucket, segments in self.segments.items()
        }

    def _do(self, tasks: Sequence[Task]) -> list[Told]:
        job = self.job
        numbers = self.spark.range(0, len(tasks), 1, len(tasks))
        return self._collect(numbers, lambda batches: do_tasks(job, tasks, batches))

    def _collect(
        self,
        inputs: DataFrame,
        work: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    ) -> list[Told]:
        return [Told.load(row[0]) for row in map_batches(inputs, work, _TOLD).collect()]

    def _take(self, told: Sequence[Told]) -> Sequence[Told]:
        for one in told:
            self.rows += one.rows
            self.repeated += one.repeated
            self.depth = max(self.depth, one.depth)
        return told

    @property
    def has_rows(self) -> bool:
        """Whether the batch has any rows."""
        return bool(self.rows or self.repeated)

    def results(self) -> DataFrame:
        """Return the rows of the batch; they can be read until the batch is over."""
        rows = self._read(self.rows)
        if not self.repeated:
            return rows
        # A result's id says what it is made of, so one that two buckets found has it twice.
        once = self._read(self.repeated, PARTS)
        once = once.dropDuplicates(["subscription", "document", "ordinal", PARTS]).drop(PARTS)
        return rows.unionByName(once)

    def _read(self, names: Sequence[str], *beside: str) -> DataFrame:
        """Return the rows of files, with further columns of numbers."""
        from pyspark.sql import types as t

        from penstock.spark.schema import schema

        fields = [t.StructField(name, t.LongType()) for name in beside]
        wanted = t.StructType([*schema().fields, *fields])
        if not names:
            return self.spark.createDataFrame([], wanted)
        paths = [f"{self.job.work}/{name}" for name in names]
        return self.spark.read.schema(wanted).parquet(*paths)


def _sent(told: Iterable[Told]) -> dict[int, tuple[Extent, ...]]:
    """Return what tasks sent, by bucket, in an order that does not depend on who was faster."""
    sent: dict[int, Any] = {}
    for one in told:
        for bucket, extent in one.sent.items():
            sent.setdefault(bucket, []).append(extent)
    return {bucket: tuple(extents) for bucket, extents in sent.items()}
