"""How far a pipeline has come, in numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from penstock.results.documents import FIRST_US, moment_of
from penstock.spark.joins.stream import JoinProgress
from penstock.spark.metrics.measures import Measures, added
from penstock.spark.sources.offsets import WAITING


class Counts(NamedTuple):
    """What was in a batch."""

    documents: int = 0
    bytes: int = 0
    results: int = 0
    quarantined: int = 0
    failures: int = 0
    """Error rows of subscriptions, whose documents all others have read."""
    matched: frozenset[str] = frozenset()
    """The names of subscriptions with results, where the registry is small enough to say."""
    seconds: float = 0.0
    by_subscription: Mapping[str, float] = MappingProxyType({})
    """Core time of evaluation, and the part of those subscriptions that cost most."""

    @classmethod
    def of(cls, measures: Measures, matched: frozenset[str]) -> Counts:
        """Return the numbers of a batch."""
        return cls(
            measures.documents,
            measures.bytes,
            measures.results,
            measures.quarantined,
            measures.failures,
            matched,
            measures.seconds,
            measures.by_subscription,
        )

    @property
    def rows(self) -> int:
        """Return how many rows there are."""
        return self.results + self.quarantined + self.failures


@dataclass(slots=True)
class Outcome:
    """What a pipeline has done so far; rates are those of the last batch."""

    batches: int = 0
    documents: int = 0
    bytes: int = 0
    results: int = 0
    quarantined: int = 0
    failures: int = 0
    """Error rows of subscriptions, whose documents all others have read."""
    suspended: tuple[str, ...] = ()
    """The subscriptions that got nothing in the last batch."""
    seconds: float = 0.0
    """Core time of evaluation in the workers."""
    by_subscription: dict[str, float] = field(default_factory=dict, repr=False)
    """The part of it of those subscriptions that cost most."""
    documents_per_second: float = 0.0
    bytes_per_second: float = 0.0
    lag: int | None = None
    """Documents, or files, that wait in the sources, where they tell."""
    state_rows: int | None = None
    state_bytes: int | None = None
    joins: JoinProgress | None = None
    """How far the joins of a stream have come, if anything joins."""
    matched: set[str] = field(default_factory=set, repr=False)
    """The names of subscriptions with results, where the registry is small enough to say."""
    is_stopped: bool = False
    """Whether a signal ended it before the input did."""
    _written: dict[int, Counts] = field(default_factory=dict, repr=False)
    """Batches that are in all sinks, and of which Spark has not reported yet."""

    def write(self, batch: int, counts: Counts) -> None:
        """Take note that a batch is in all sinks; a batch that comes again counts once."""
        self._written[batch] = counts

    def note(self, progress: dict[str, Any]) -> bool:
        """Take in what Spark reports of a batch; return whether it was news."""
        batch = int(progress["batchId"])
        if batch not in self._written:
            return False
        seconds = progress["durationMs"].get("triggerExecution", 0) / 1000
        for number in sorted(self._written):
            if number <= batch:
                self.add(self._written.pop(number), seconds)
        self.lag = _lag(progress["sources"])
        operators = progress["stateOperators"]
        if operators:
            self.state_rows = sum(one["numRowsTotal"] for one in operators)
            self.state_bytes = sum(one["memoryUsedBytes"] for one in operators)
        return True

    def add(self, counts: Counts, seconds: float = 0.0) -> None:
        """Add a batch that took so long; without a time, the rates stay."""
        self.batches += 1
        self.documents += counts.documents
        self.bytes += counts.bytes
        self.results += counts.results
        self.quarantined += counts.quarantined
        self.failures += counts.failures
        self.seconds += counts.seconds
        self.by_subscription = added(self.by_subscription, counts.by_subscription.items())
        self.matched |= counts.matched
        if seconds:
            self.documents_per_second = counts.documents / seconds
            self.bytes_per_second = counts.bytes / seconds

    def measures(self) -> Measures:
        """Return the numbers as those of other streams are told."""
        return Measures(
            self.batches,
            self.documents,
            self.bytes,
            self.results,
            self.quarantined,
            self.failures,
            self.seconds,
            dict(self.by_subscription),
        )

    def finish(self) -> None:
        """Add the batches that are in all sinks and of which Spark reported nothing."""
        for number in sorted(self._written):
            self.add(self._written.pop(number))

    def describe(self) -> str:
        """Return one line for people."""
        parts = [
            f"{self.documents:,} documents",
            f"{self.documents_per_second:,.0f}/s",
            f"{self.bytes_per_second / 1e6:,.1f} MB/s",
            f"{self.results:,} results",
            f"{self.quarantined:,} quarantined",
        ]
        if self.failures:
            parts.append(f"{self.failures:,} failures of subscriptions")
        if self.suspended:
            parts.append(f"{len(self.suspended):,} suspended")
        if self.lag is not None:
            parts.append(f"{self.lag:,} waiting")
        if self.state_rows is not None:
            parts.append(f"state {self.state_rows:,} rows, {(self.state_bytes or 0) / 1e6:,.1f} MB")
        if self.joins is not None:
            parts += _described(self.joins)
        return ", ".join(parts)


def _described(joins: JoinProgress) -> list[str]:
    records, segments = f"{joins.records:,} records", f"{joins.segments:,} segments"
    parts = [f"state {records} in {segments}, {joins.bytes / 1e6:,.1f} MB"]
    if joins.watermark_us is not None:
        moment = moment_of(max(joins.watermark_us, FIRST_US))
        parts.append(f"watermark {moment:%Y-%m-%dT%H:%M:%SZ}")
    if joins.late:
        parts.append(f"{joins.late:,} late")
    return parts


def as_dict(progress: Any) -> dict[str, Any]:
    """Return a streaming query's progress, an object or plain data already, as plain data."""
    text = getattr(progress, "json", None)
    found: dict[str, Any] = progress if text is None else json.loads(text)
    return found


def _lag(sources: list[dict[str, Any]]) -> int | None:
    found = [one for one in map(_waiting, sources) if one is not None]
    return sum(found) if found else None


def _waiting(source: dict[str, Any]) -> int | None:
    """Return how many documents, or files of them, a source has not handed over yet."""
    metrics = source.get("metrics") or {}
    latest, end = _offset(source.get("latestOffset")), _offset(source.get("endOffset"))
    if WAITING in latest:
        return int(latest[WAITING])
    if "numFilesOutstanding" in metrics:
        return int(float(metrics["numFilesOutstanding"]))
    if "maxOffsetsBehindLatest" in metrics:  # Kafka: offsets by topic and partition
        return sum(
            int(last) - int(end.get(topic, {}).get(partition, last))
            for topic, partitions in latest.items()
            for partition, last in partitions.items()
        )
    return None


def _offset(told: Any) -> dict[str, Any]:
    found = json.loads(told) if isinstance(told, str) else told
    return found if isinstance(found, dict) else {}
