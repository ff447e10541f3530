"""The joins of a batch of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import refuse_gone
from penstock.limits import Limits
from penstock.registry import AnyRegistry
from penstock.spark.bounds import checked_limits
from penstock.spark.deployment import prepare
from penstock.spark.inputs import inputs_of
from penstock.spark.joins.batch.segments import join_segments
from penstock.spark.joins.requested import all_joined
from penstock.spark.plans import require_registry
from penstock.spark.streams import warn_of_streams

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_GONE = {"strategy": "a batch is joined by the native joins; SQL is in papers/mmqjp"}
"""Settings of earlier versions."""


def join(
    documents: DataFrame,
    registry: AnyRegistry,
    document: str | Column = "xml",
    id: str | Column = "id",  # noqa: A002  # the word that users know
    time: str | Column | None = None,
    stream: str | Column | None = None,
    limits: Limits | None = None,
    buckets: int | None = None,
    **gone: object,
) -> DataFrame:
    """Return the results of all subscriptions of a registry that join documents, in a batch.

    The columns are given as for ``match``, and the rows have its columns; those of the input do
    not come along. The rows are those of the engine over the same documents, with the same ids.
    The end of the batch is the end of all streams: what waits for a partner is reported. A
    document without an event time has that of the evaluation. A document that cannot be read
    gives an error row.

    The call reads each document once; the joins run when the rows are used first, or in the call
    where one step depends on another. What several steps read, and the rows, are local
    checkpoints: Spark keeps them in memory and on disk until nothing refers to them any more.
    The registry is taken as it is now.

    The workers join. Records are divided by value into ``buckets``, whose number follows from their
    size unless it is given.

    Raises:
        ImportError: pyspark is not installed.
        SettingError: The limits bound seconds, or a setting is one of an earlier version.
        TypeError: The registry is something else, or a setting is unknown.
        ValueError: The documents are a stream; a column is missing or holds no documents; there
            are no buckets.
    """
    refuse_gone(gone, _GONE)
    if gone:
        raise TypeError(f"join has no setting {next(iter(gone))!r}")
    if documents.isStreaming:
        raise ValueError("`join` is for batches; `penstock.spark.join_stream` joins streams")
    if buckets is not None and buckets < 1:
        raise ValueError(f"`buckets` is at least 1, not {buckets}")
    checked = checked_limits(limits)
    require_registry(registry)
    inputs = inputs_of(documents, document, id, time, stream)
    warn_of_streams(registry, stream)
    prepare(documents.sparkSession)
    return join_segments(inputs, all_joined(registry.snapshot()), checked, buckets)
