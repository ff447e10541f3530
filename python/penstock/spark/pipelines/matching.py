"""The documents of a batch become rows: matched, and read for joins, in one pass.

A pipeline has one frame of documents, whatever its sources hold. Text is decoded already, whatever
it declares, so it must not become bytes: where some sources have bytes and others text, it has a
column of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from penstock.limits import Limits
from penstock.registry import AnyRegistry
from penstock.spark import worker
from penstock.spark.deployment import map_batches
from penstock.spark.inputs import INTERNAL, Inputs, inputs_of
from penstock.spark.joins import matching as joined
from penstock.spark.joins import worker as joins
from penstock.spark.joins.joining import Sample, sample_of
from penstock.spark.pipelines.inputs import TEXT, with_ancestors
from penstock.spark.plans import PlanReference, ship

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


@dataclass(frozen=True, slots=True)
class Matching:
    """How batches of a pipeline's documents are matched."""

    documents: DataFrame
    """Those of all batches of a stream, or of the one batch."""
    text_at: int | None
    """The place of the column of text, where others have bytes."""
    outputs: StructType
    job: worker.Job

    @classmethod
    def of(cls, documents: DataFrame, registry: AnyRegistry, limits: Limits) -> Matching:
        """Return how documents of sources are matched for a registry.

        Raises:
            RegistryError: The folder of a registry that streams follow cannot be written.
        """
        from pyspark.sql import types as t

        from penstock.spark.schema import schema

        inputs = inputs_of(documents, "xml", "id", "ts", "stream")
        kept = [field.name for field in inputs.kept]
        text_at = len(INTERNAL) + kept.index(TEXT) if TEXT in kept else None
        besides = [t.StructField(f.name, f.dataType) for f in inputs.kept if f.name != TEXT]
        outputs = t.StructType([*schema().fields, *besides])
        job = _job(ship(registry, inputs.frame), inputs, limits)
        return cls(inputs.frame, text_at, outputs, job)

    def rows(self, batch: DataFrame, joining: joins.Job | None = None) -> DataFrame:
        """Return the rows of a batch of documents, with those that count and tell among them."""
        job, text_at = self.job, self.text_at

        # A closure over plain data: what runs in the workers is their own copy of the package.
        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return evaluate(job, joining, text_at, batches)

        return with_ancestors(map_batches(batch, run, self.outputs))

    def sample(self, batch: DataFrame) -> Sample:
        """Yield some documents of a batch."""
        from pyspark.sql import functions as f

        if self.text_at is None:
            yield from sample_of(batch, self.job.is_text)
            return
        text = f.col(batch.columns[self.text_at])
        yield from sample_of(batch.where(text.isNull()), is_text=False)
        others = batch.where(text.isNotNull()).withColumn(INTERNAL[0], text)
        yield from sample_of(others, is_text=True)


def _job(reference: PlanReference, inputs: Inputs, limits: Limits) -> worker.Job:
    return worker.Job(
        reference, limits, inputs.is_text, inputs.has_faults, is_counting=True, is_joined=True
    )


def evaluate(
    job: worker.Job,
    joining: joins.Job | None,
    text_at: int | None,
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of batches of documents, in a worker."""
    for is_text, alike in groupby(_told_apart(batches, job.is_text, text_at), itemgetter(0)):
        own = replace(job, is_text=is_text)
        documents = (batch for _, batch in alike)
        if joining is None:
            yield from worker.evaluate(own, documents)
        else:
            yield from joined.evaluate(own, joining, documents)


def _told_apart(
    batches: Iterator[pa.RecordBatch], is_text: bool, text_at: int | None
) -> Iterator[tuple[bool, pa.RecordBatch]]:
    """Yield batches of bytes and batches of text, each with whether it is text."""
    for batch in batches:
        if text_at is None:
            yield is_text, batch
            continue
        text = batch.column(text_at)
        others = [place for place in range(batch.num_columns) if place != text_at]
        for has_text in (False, True):
            part = batch.filter(text.is_valid() if has_text else text.is_null())
            if part.num_rows:
                name = part.schema.names[0]
                column = part.column(text_at if has_text else 0)
                yield has_text, part.select(others).set_column(0, name, column)
