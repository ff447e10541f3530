"""The joins of a batch of documents: the call, and who evaluates it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from penstock.limits import Limits
from penstock.registry import AnyRegistry
from penstock.spark.bounds import checked_limits
from penstock.spark.deployment import prepare
from penstock.spark.inputs import inputs_of
from penstock.spark.joins.batch.evaluation import join_sql
from penstock.spark.joins.batch.segments import join_segments
from penstock.spark.joins.requested import all_joined, documents_joined
from penstock.spark.plans import require_registry
from penstock.spark.streams import warn_of_streams

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

BatchStrategy = Literal["segments", "sql"]
"""How a batch is joined: ``segments`` is the one to use."""


def join(
    documents: DataFrame,
    registry: AnyRegistry,
    document: str | Column = "xml",
    id: str | Column = "id",  # noqa: A002  # the word that users know
    time: str | Column | None = None,
    stream: str | Column | None = None,
    limits: Limits | None = None,
    strategy: BatchStrategy = "segments",
    buckets: int | None = None,
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

    ``strategy="segments"`` joins in the workers, by the native joins; records are divided by value
    into ``buckets``, whose number follows from their size unless it is given. With ``"sql"`` Spark
    evaluates one statement for each template, all of them in the call.

    Raises:
        ImportError: pyspark is not installed.
        RegistryError: The strategy does not evaluate one of the subscriptions.
        SettingError: The limits bound seconds.
        TypeError: The registry is something else.
        ValueError: The documents are a stream; a column is missing or holds no documents; there
            is no such strategy, or it has no buckets.
    """
    if documents.isStreaming:
        raise ValueError("`join` is for batches; `penstock.spark.join_stream` joins streams")
    if strategy not in get_args(BatchStrategy):
        raise ValueError(f"a strategy is one of {get_args(BatchStrategy)}, not {strategy!r}")
    if buckets is not None and (buckets < 1 or strategy == "sql"):
        raise ValueError("`buckets` is at least 1, and for the strategy `segments`")
    checked = checked_limits(limits)
    require_registry(registry)
    inputs = inputs_of(documents, document, id, time, stream)
    warn_of_streams(registry, stream)
    prepare(documents.sparkSession)
    if strategy == "sql":
        call = "penstock.spark.join with strategy='sql'"
        return join_sql(inputs, documents_joined(registry.snapshot(), call), checked)
    return join_segments(inputs, all_joined(registry.snapshot()), checked, buckets)
