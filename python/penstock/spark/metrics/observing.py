"""Rows that count what they came from, as metrics that Spark observes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from penstock.limits import Limits
from penstock.registry import AnyRegistry
from penstock.spark.inputs import inputs_of
from penstock.spark.match import match_inputs
from penstock.spark.metrics.measures import Measures, added
from penstock.spark.plans import require_registry
from penstock.spark.rows import COUNT, SILENT, USAGE
from penstock.spark.worker import require_rows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Observation

PREFIX = "penstock"
"""How the names of our observations begin."""


def match(
    documents: DataFrame,
    registry: AnyRegistry,
    document: str | Column = "xml",
    id: str | Column = "id",  # noqa: A002  # the word that users know
    time: str | Column | None = None,
    stream: str | Column | None = None,
    limits: Limits | None = None,
    observation: str | Observation = PREFIX,
) -> DataFrame:
    """Return the rows that ``penstock.spark.match`` returns, and let Spark observe the numbers.

    In a stream they are part of each progress, where a ``MetricsListener`` finds them under a
    name that begins with ``penstock``. In batch, ``observation`` is an ``Observation`` of
    Spark's, and ``measures_of(observation.get)`` are the numbers once the rows were read.

    Spark counts what is read: rows that are read twice are counted twice, and of rows that nobody
    reads to the end, some are missing.

    Raises:
        Everything that ``penstock.spark.match`` raises.
        ValueError: The name does not begin with ``penstock``.
    """
    if isinstance(observation, str) and not observation.startswith(PREFIX):
        raise ValueError(f"the name of the metrics begins with `{PREFIX}`, not `{observation}`")
    require_registry(registry)
    require_rows(registry.snapshot())
    inputs = inputs_of(documents, document, id, time, stream)
    rows = match_inputs(inputs, registry, limits, is_counting=True)
    first, *others = (column.alias(name) for name, column in aggregates().items())
    observed = rows.observe(observation, first, *others)
    return observed.where(~observed["kind"].isin(*SILENT))


def aggregates() -> dict[str, Column]:
    """Return the numbers of rows that count, as aggregates by name."""
    from pyspark.sql import functions as f

    kind, is_document = f.col("kind"), f.col("subscription").isNull()
    is_error = kind == "error"
    usage = f.when((kind == USAGE) & ~is_document, f.struct("subscription", "end"))
    return {
        "documents": f.sum(f.when(kind == COUNT, f.col("ordinal"))),
        "bytes": f.sum(f.when(kind == COUNT, f.col("end"))),
        "results": f.count(f.when(~kind.isin(*SILENT, "error"), 1)),
        "quarantined": f.count(f.when(is_error & is_document, 1)),
        "failures": f.count(f.when(is_error & ~is_document, 1)),
        "microseconds": f.sum(f.when((kind == USAGE) & is_document, f.col("end"))),
        # A null is no item of a list. Not every version of Spark hands out rows inside of rows.
        "usage": f.to_json(f.collect_list(usage)),
    }


def measures_of(observed: Mapping[str, Any]) -> Measures:
    """Return the numbers of one batch as Spark has observed them."""
    # A sum over no rows is null, and so is what Spark made no observation of.
    costs = json.loads(observed.get("usage") or "[]")
    used = [(one["subscription"], one["end"] / 1e6) for one in costs]
    numbers = {
        name: observed.get(name) or 0
        for name in ("documents", "bytes", "results", "quarantined", "failures")
    }
    seconds = (observed.get("microseconds") or 0) / 1e6
    return Measures(1, **numbers, seconds=seconds, by_subscription=added({}, used))
