"""Documents of a stream, joined with all before them: state in a folder, results to a writer."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from penstock.limits import Limits
from penstock.registry import AnyRegistry
from penstock.sinks.folders import LocalFolders
from penstock.spark.bounds import checked_limits
from penstock.spark.checkpoints import clear_leftovers
from penstock.spark.deployment import prepare
from penstock.spark.inputs import inputs_of
from penstock.spark.joins.changes import Subscriptions
from penstock.spark.joins.joining import BUCKETS, Joining, Sample, sample_of
from penstock.spark.joins.state import BEGINNING, Manifest, State
from penstock.spark.plans import require_registry
from penstock.spark.streams import warn_of_streams

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

Into = Callable[["DataFrame", int], None]


def join_stream(
    documents: DataFrame,
    registry: AnyRegistry,
    state: str | os.PathLike[str],
    into: Into | str | os.PathLike[str],
    document: str | Column = "xml",
    id: str | Column = "id",  # noqa: A002  # the word that users know
    time: str | Column | None = None,
    stream: str | Column | None = None,
    lateness: timedelta | float | None = None,
    buckets: int = BUCKETS,
    limits: Limits | None = None,
    trigger: Mapping[str, Any] | None = None,
    name: str | None = None,
    hash_bits: int = 64,
) -> StreamingQuery:
    """Start a query that joins the documents of a stream, and return it.

    ``state`` is a folder that driver and workers reach under the same path; it holds Spark's
    checkpoint, too, and a query that is started with the same folder goes on where the last one
    stopped. ``into`` is called with the rows of each micro-batch and its number, or is a path,
    under which each batch gets a folder of Parquet files. A batch that is computed again after a
    crash gives the same rows with the same ids, so whoever writes by the number of the batch, as a
    path does, loses nothing and doubles nothing. The rows can be read until the call returns.

    The first columns are those of ``match``; so are the rows, and documents that fail are rows
    among them. The watermark is the latest event time of any document of the batches before minus
    ``lateness``, in seconds; every document advances it, whether a subscription reads it or not.
    State goes when no window needs it any more, absence is reported when its window has passed,
    and a document from before the watermark gives an error row. Without ``lateness`` nothing is
    late, nothing is dropped that a window may need, and absence is never reported. Documents
    without a time have that of their batch.

    State is divided by value into ``buckets``, which bounds how many tasks join at a time; their
    number stays as the stream began. ``trigger`` are the arguments of Spark's ``trigger``.
    ``hash_bits`` is for tests: with few of them different values have equal hashes.

    A registry in memory is taken as it is now; changes of a durable one take effect with the next
    batch.

    Raises:
        ImportError: pyspark is not installed.
        SettingError: The limits bound seconds.
        StateError: The state lies in an object store.
        TypeError: The registry is something else.
        ValueError: The documents are no stream, a column is missing or has a type that holds no
            documents, or there are no buckets.
    """
    if not documents.isStreaming:
        raise ValueError("these documents are no stream; penstock.spark.join joins a batch")
    checked = checked_limits(limits)
    if buckets < 1:
        raise ValueError(f"state needs at least one bucket, not {buckets}")
    require_registry(registry)
    inputs = inputs_of(documents, document, id, time, stream)
    warn_of_streams(registry, stream)
    prepare(documents.sparkSession)
    folder = State(state)
    streaming = Streaming(
        Joining(folder, lateness, checked, buckets, hash_bits, inputs.is_text, inputs.has_faults),
        Subscriptions(registry),
        into if callable(into) else _Files(os.fspath(into)),
    )
    writer = inputs.without_others().writeStream.foreachBatch(streaming.batch)
    clear_leftovers(LocalFolders(), folder.checkpoint)
    writer = writer.option("checkpointLocation", folder.checkpoint)
    if name is not None:
        writer = writer.queryName(name)
    if trigger is not None:
        writer = writer.trigger(**trigger)
    return writer.start()


@dataclass(frozen=True, slots=True)
class JoinProgress:
    """How far the joins of a stream have come."""

    batches: int
    documents: int
    """Those that were well-formed."""
    late: int
    watermark_us: int | None
    """Documents before this event time are late, in microseconds since 1970."""
    records: int
    """Documents and partial matches in the state; one counts in every bucket that it is in."""
    segments: int
    bytes: int


def join_progress(state: str | os.PathLike[str]) -> JoinProgress:
    """Return how far the joins have come whose state a folder is.

    Raises:
        StateError: The state is damaged.
    """
    return progress_of(State(state).last() or Manifest(-1, 0, 0))


def progress_of(manifest: Manifest) -> JoinProgress:
    """Return how far joins have come that left this behind."""
    segments = [segment for own in manifest.segments.values() for segment in own]
    return JoinProgress(
        manifest.batch + 1,
        manifest.documents,
        manifest.late,
        None if manifest.watermark_us == BEGINNING else manifest.watermark_us,
        sum(segment.records for segment in segments),
        len(segments),
        sum(segment.bytes for segment in segments),
    )


@dataclass(frozen=True, slots=True)
class _Files:
    """Writes each batch into a folder of its own; a batch that comes again takes its place."""

    path: str

    def __call__(self, rows: DataFrame, number: int) -> None:
        rows.write.mode("overwrite").parquet(f"{self.path}/batch={number}")


@dataclass(frozen=True, slots=True)
class Streaming:
    """A stream whose rows go to a writer."""

    joining: Joining
    subscriptions: Subscriptions
    into: Into

    def batch(self, documents: DataFrame, number: int) -> None:
        """Join a micro-batch, hand out its rows, and only then let the state go on."""

        def sample() -> Sample:
            return sample_of(documents, self.joining.is_text)

        spark = documents.sparkSession
        with self.joining.micro_batch(spark, number, self.subscriptions, sample) as rounds:
            rounds.join(rounds.read(documents))
            if rounds.has_rows or not isinstance(self.into, _Files):
                self.into(rounds.results(), number)
