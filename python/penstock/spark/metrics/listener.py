"""A listener that adds up what streams on a session did."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from pyspark.sql.streaming.listener import StreamingQueryListener

from penstock.spark.metrics.measures import Measures
from penstock.spark.metrics.observing import PREFIX, measures_of
from penstock.spark.metrics.prometheus import exposition

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import (
        QueryIdleEvent,
        QueryProgressEvent,
        QueryStartedEvent,
        QueryTerminatedEvent,
    )

    from penstock.spark.pipelines import Outcome


class MetricsListener(StreamingQueryListener):
    """Adds up the numbers of streams whose rows ``penstock.spark.metrics.match`` made.

    Register it with ``spark.streams.addListener(listener)``. Numbers are those of the batches that
    Spark has reported, by the name of the query, or by its id if it has no name. A batch that is
    computed again after a failure counts again. For pipelines, which count for themselves, give
    ``listener.pipeline("name")`` to ``run`` as its watch. Any thread may ask at any time.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._measures: dict[str, Measures] = {}

    def measures(self, query: str | None = None) -> Measures:
        """Return what a query did so far, nothing if it is not known, or what all did."""
        total = Measures()
        with self._lock:
            for name, one in self._measures.items():
                if query is None or name == query:
                    total.add(one)
        return total

    def queries(self) -> list[str]:
        """Return the names of the queries that have done anything."""
        with self._lock:
            return sorted(self._measures)

    def prometheus(self) -> str:
        """Return all numbers in the text format of Prometheus."""
        return exposition({name: self.measures(name) for name in self.queries()})

    def pipeline(self, name: str) -> PipelineWatch:
        """Return what takes in the outcome of a pipeline after every batch."""
        return PipelineWatch(self, name)

    def put(self, query: str, measures: Measures) -> None:
        """Take in all that a query did so far, in the place of what was known of it."""
        with self._lock:
            self._measures[query] = measures

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802  # Spark's name
        """Do nothing: there are no numbers yet."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802  # Spark's name
        """Add the numbers of a batch."""
        progress = event.progress
        query = progress.name or str(progress.id)
        for name, row in progress.observedMetrics.items():
            if name.startswith(PREFIX) and row is not None:
                with self._lock:
                    total = self._measures.setdefault(query, Measures())
                    total.add(measures_of(row.asDict()))

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802  # Spark's name
        """Do nothing: the numbers stay."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802  # Spark's name
        """Do nothing: the numbers stay."""


class PipelineWatch:
    """Hands the numbers of a pipeline to a listener."""

    def __init__(self, listener: MetricsListener, name: str) -> None:
        self._listener = listener
        self._name = name

    def __call__(self, outcome: Outcome) -> None:
        """Take in what a pipeline did so far."""
        self._listener.put(self._name, outcome.measures())
