"""A stream on Spark whose registry changes between its micro-batches: what each of them saw.

One subscription is added and an earlier one removed, then a file arrives with a document for each
subscription that was ever added. So the rows of the micro-batch name those that are there.
"""

import json
import time
from pathlib import Path
from typing import Any

import penstock
from benchmarks.runner import progress
from benchmarks.spark_session import SCHEMA, start_session
from benchmarks.workloads import messages
from penstock.spark import match

CHANGES = 25
KEPT = 5
"""So many of the added ones are there before the first of them is removed."""


def measure(count: int, folder: Path) -> dict[str, Any]:
    """Return the seconds of each change and each micro-batch, and how many saw the changes."""
    registry = penstock.Registry.open(folder / "followed")
    texts = enumerate(messages.queries(count))
    registry.load([json.dumps({"name": f"q{n}", "query": text}) for n, text in texts], workers=0)
    inbox = folder / "inbox"
    inbox.mkdir()
    spark = start_session()
    seen: list[set[str]] = []

    def take(rows: Any, number: int) -> None:
        seen.append({row["subscription"] for row in rows.select("subscription").collect()})

    stream = spark.readStream.schema(SCHEMA).parquet(str(inbox))
    writer = match(stream, registry).writeStream.foreachBatch(take)
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).start()
    changes, batches, wrong = [], [], 0
    arrive(inbox, 0)  # the workers start, and learn the large tier
    query.processAllAvailable()
    for number in range(1, CHANGES + 1):
        start = time.perf_counter()
        registry.add(f"new{number}", f"/change[@n = '{number}']", mode="filter")
        changes.append(time.perf_counter() - start)
        gone = number - KEPT
        if gone > 0:
            start = time.perf_counter()
            registry.remove(f"new{gone}")
            changes.append(time.perf_counter() - start)
        start = time.perf_counter()
        arrive(inbox, number)
        query.processAllAvailable()
        batches.append(time.perf_counter() - start)
        wrong += seen[-1] != {f"new{n}" for n in range(max(1, gone + 1), number + 1)}
    assert len(seen) == CHANGES + 1, "each file is a micro-batch"
    query.stop()
    spark.stop()
    registry.close()
    progress(f"{count:,} subscriptions, a stream: {max(changes) * 1e3:.1f} ms for a change at most")
    return {"changes": changes, "micro-batches": batches, "missed": wrong}


def arrive(inbox: Path, number: int) -> None:
    """Put a file of documents into the folder that the stream reads."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    documents = [f"<change n='{n}'/>".encode() for n in range(number + 1)]
    data = {"id": pa.array(range(number + 1), pa.int64()), "xml": pa.array(documents, pa.binary())}
    unfinished = inbox.parent / f"{number}.parquet"
    pq.write_table(pa.table(data), unfinished)
    unfinished.rename(inbox / unfinished.name)
