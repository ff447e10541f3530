"""What streams and pipelines do, in numbers: for Spark's progress, listeners and Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.spark.metrics.measures import Measures
from penstock.spark.metrics.observing import match, measures_of
from penstock.spark.metrics.prometheus import exposition

if TYPE_CHECKING:
    from penstock.spark.metrics.listener import MetricsListener

__all__ = ["Measures", "MetricsListener", "exposition", "match", "measures_of"]


def __getattr__(name: str) -> Any:
    # Its base is a class of pyspark, which pipelines are checked without.
    if name != "MetricsListener":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from penstock.spark.metrics.listener import MetricsListener

    return MetricsListener
