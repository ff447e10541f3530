"""Warnings about streams that no column names."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from penstock.engine.silence import SUBSCRIPTIONS_MAX
from penstock.errors import PenstockWarning
from penstock.planning.streams import published_stream, unfed_reason, unfed_streams
from penstock.registry import AnyRegistry
from penstock.spark.inputs import DEFAULT_STREAM

if TYPE_CHECKING:
    from pyspark.sql import Column


def warn_of_streams(registry: AnyRegistry, stream: str | Column | None, level: int = 3) -> None:
    """Warn of subscriptions that read other streams, where all documents are of one.

    Of large registries nothing is said.
    """
    if stream is not None or len(registry) > SUBSCRIPTIONS_MAX:
        return
    queries = {one.name: one.query for one in registry}
    fed = {DEFAULT_STREAM, *filter(None, map(published_stream, queries.values()))}
    for name, query in queries.items():
        unfed = unfed_streams(query, fed)
        if unfed:
            way_out = "say which column has their streams, as in stream='stream'"
            reason = unfed_reason(unfed, [DEFAULT_STREAM], way_out)
            message = f"the subscription `{name}` gives no row: {reason}"
            warnings.warn(message, PenstockWarning, stacklevel=level)
