"""What a row costs where it points to its message, and where it has a copy of it: as on Spark."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import penstock
from benchmarks.broker.measuring import Workload
from benchmarks.report import table
from benchmarks.runner import progress

PASSES = 3


@dataclass(frozen=True)
class Delivery:
    """A way to get rows, with so many subscribers for each plan."""

    way: str
    subscribers: int
    rows: float
    """For a document."""
    megabytes: float
    """Values that were handed over, for a document."""
    milliseconds: float
    """Core time for a document, parsing included."""

    @property
    def microseconds_of_row(self) -> float:
        """Core time for a row."""
        return 1e3 * self.milliseconds / self.rows


def measure_copies(workload: Workload, subscribers: int) -> Iterator[Delivery]:
    """Yield what rows cost in the engine and on Spark, for one and for many subscribers."""
    from benchmarks.spark_session import start_session

    texts = [query.text() for query in workload.queries()]
    spark = start_session()
    for count in (1, subscribers):
        progress(f"copies: {count} subscribers for each of {len(texts):,} plans")
        registry = penstock.Registry()
        report = registry.load(
            json.dumps({"name": f"{number}-{own}", "query": text, "language": "xquery"})
            for number, text in enumerate(texts)
            for own in range(count)
        )
        assert report.failed == 0
        engine = penstock.Engine(registry)
        yield _in_engine("shared", engine, workload, count)
        yield _in_engine("copied", engine, workload, count)
        yield _on_spark(spark, registry, workload, count)
    spark.stop()


def _in_engine(way: str, engine: Any, workload: Workload, subscribers: int) -> Delivery:
    texts = workload.texts()
    # What is read first is for warming up.
    rows = size = 0

    def read() -> None:
        nonlocal rows, size
        rows = size = 0
        if way == "shared":
            for found in engine.matches(_documents(texts)):
                rows += len(found.entries)
                size += found.fragments.column("value").nbytes
        else:
            for batch in engine.batches(_documents(texts)):
                rows += len(batch)
                size += batch.column("value").nbytes

    seconds = _least(read, time.process_time)
    names = {"shared": "matches, rows point to messages", "copied": "batches, a copy for each row"}
    return _delivery(names[way], subscribers, rows, size, seconds, len(texts))


def _on_spark(spark: Any, registry: Any, workload: Workload, subscribers: int) -> Delivery:
    from pyspark.sql import functions as f

    from benchmarks.cores import core_seconds
    from benchmarks.experiments.spark import pass_through, write_nowhere
    from penstock.spark import match

    texts = workload.texts()
    rows = [(number, text) for number, text in enumerate(texts)]
    documents = spark.createDataFrame(rows, "id long, xml binary").repartition(2).cache()
    documents.count()
    matched = match(documents, registry)
    [(count, size)] = matched.agg(f.count("*"), f.sum(f.length("value"))).collect()
    least = _least(lambda: write_nowhere(matched), core_seconds)
    nothing = _least(lambda: write_nowhere(pass_through(documents)), core_seconds)
    documents.unpersist()
    return _delivery("Spark, string columns", subscribers, count, size, least - nothing, len(texts))


def _delivery(
    way: str, subscribers: int, rows: int, size: int, seconds: float, documents: int
) -> Delivery:
    each = (rows / documents, size / documents / 1e6, 1e3 * seconds / documents)
    return Delivery(way, subscribers, *each)


def _documents(texts: list[bytes]) -> list[penstock.Document]:
    return [penstock.Document(text, id=str(number)) for number, text in enumerate(texts)]


def _least(task: Callable[[], None], clock: Callable[[], float]) -> float:
    """Return the seconds of the fastest of several passes, after one that is not counted."""
    task()
    passes = []
    for _ in range(PASSES):
        started = clock()
        task()
        passes.append(clock() - started)
    return min(passes)


def page(deliveries: list[Delivery]) -> str:
    """Return the measurements in Markdown."""
    head = ["", "subscribers", "rows", "MB of values", "ms a document", "µs a row"]
    lines = [
        [
            one.way,
            str(one.subscribers),
            f"{one.rows:,.0f}",
            f"{one.megabytes:.2f}",
            f"{one.milliseconds:.3f}",
            f"{one.microseconds_of_row:.3f}",
        ]
        for one in sorted(deliveries, key=lambda one: one.way)
    ]
    text = "\n".join(table(head, lines))
    return f"## Copies of messages\n\nCore time, parsing included.\n\n{text}"
