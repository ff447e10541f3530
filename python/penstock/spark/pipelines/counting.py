"""What is in a batch of rows, and which of them a sink gets by its setting."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.spark.match import quarantine, results
from penstock.spark.metrics.observing import aggregates, measures_of
from penstock.spark.pipelines.progress import Counts
from penstock.spark.rows import SILENT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def count_rows(rows: DataFrame, *, has_names: bool) -> Counts:
    """Return the numbers of a batch, with the names of subscriptions if they are wanted."""
    from pyspark.sql import functions as f

    # A null is no member of a set.
    is_named = ~f.col("kind").isin(*SILENT, "error") & f.lit(has_names)
    names = f.collect_set(f.when(is_named, f.col("subscription"))).alias("names")
    numbers = (column.alias(name) for name, column in aggregates().items())
    (row,) = rows.select(*numbers, names).collect()
    return Counts.of(measures_of(row.asDict()), frozenset(row.names))


CHOICES: dict[str, tuple[Callable[[Counts], int], Callable[[DataFrame], DataFrame]]] = {
    "results": (lambda counts: counts.results, results),
    "quarantine": (lambda counts: counts.quarantined, quarantine),
    "errors": (
        lambda counts: counts.quarantined + counts.failures,
        lambda rows: rows.where("kind = 'error'"),
    ),
    "all": (lambda counts: counts.rows, lambda rows: rows),
}
"""How many rows a sink gets of a batch, and which, by its setting."""
