"""Streaming joins on Spark: what a new document costs while the state grows.

Every document is joined with all before it, however long ago they came. Half of the documents
bring a new value, the others one that some earlier document brought, chosen at random from all of
them, so that each of these gives one result whatever the state. A batch is a file; its time is that
of the whole micro-batch, results written, by the clock and on cores of all of Spark's processes.
Times of batches around a state are averaged, merging included: the larger state has ten times as
many batches around it, so that rare and large merges count as often as they occur. Another stream
before it warms Spark up.
"""

import argparse
import json
import os
import shutil
import statistics
import time
from pathlib import Path
from random import Random
from typing import Any

import penstock
from benchmarks.cores import core_seconds
from benchmarks.runner import machine, progress
from benchmarks.spark_session import OUT, start_session
from penstock.spark import join_progress, join_stream

BATCH_DOCUMENTS = 10_000
WARMING_BATCHES = 15
GROWTH = 10
GROWTH_MAX = 1.5
SPREAD = (0.5, 1.5)
"""Batches from half a state to one and a half count for it."""
QUERY = "S//old->x[key->k][kind->m] FOLLOWED BY{k = l AND m = n, INF} S//new->y[key->l][kind->n]"
SCHEMA = "id long, xml binary, ts timestamp"


def document(random: Random, number: int) -> bytes:
    """Return a document; those with odd numbers ask for one with an even number before them."""
    text = f"<text>{random.getrandbits(320):x}</text>"
    key = number if number % 2 == 0 else 2 * random.randrange(number // 2 + 1)
    name = "old" if number % 2 == 0 else "new"
    return f"<{name}><key>key {key}</key><kind>{key % 7}</kind>{text}</{name}>".encode()


def write_file(folder: Path, batch: int) -> None:
    """Add the file of a batch, after all others."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    random = Random(batch)
    numbers = range(batch * BATCH_DOCUMENTS, (batch + 1) * BATCH_DOCUMENTS)
    table = pa.table(
        {
            "id": pa.array(numbers, pa.int64()),
            "xml": pa.array([document(random, number) for number in numbers], pa.binary()),
            "ts": pa.array([1000 * number for number in numbers], pa.timestamp("us", "UTC")),
        }
    )
    path = folder / f"{batch:05}.parquet"
    pq.write_table(table, folder / f"_{path.name}")
    (folder / f"_{path.name}").rename(path)


def run(states: tuple[int, int]) -> list[dict[str, float]]:
    """Return what each batch cost, up to the larger state and half as much again."""
    spark = start_session()
    folder = OUT / f"join-stream-{os.getpid()}"
    try:
        progress("warming up")
        stream(spark, folder / "first", WARMING_BATCHES)
        return stream(spark, folder / "second", int(states[1] * SPREAD[1]) // BATCH_DOCUMENTS)
    finally:
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)


def stream(spark: Any, folder: Path, count: int) -> list[dict[str, float]]:
    """Return what each of so many batches cost."""
    from pyspark.sql import functions as f

    (folder / "in").mkdir(parents=True)
    registry = penstock.Registry()
    registry.add("q", penstock.xscl(QUERY))
    query = join_stream(
        spark.readStream.schema(SCHEMA).parquet(str(folder / "in")),
        registry,
        folder / "state",
        folder / "out",
        time="ts",
        stream=f.lit("S"),
        buckets=8,
        trigger={"processingTime": "0 seconds"},
    )
    batches: list[dict[str, float]] = []
    try:
        for batch in range(count):
            write_file(folder / "in", batch)
            core, clock = core_seconds(), time.perf_counter()
            query.processAllAvailable()
            batches.append(
                {
                    "state": batch * BATCH_DOCUMENTS,
                    "seconds": time.perf_counter() - clock,
                    "core_seconds": core_seconds() - core,
                }
            )
            if batch % 10 == 0:
                progress(f"state of {batches[-1]['state']}: {batches[-1]['seconds']:.2f} s")
    finally:
        query.stop()
    per_batch = spark.read.parquet(str(folder / "out")).groupBy("batch").count().collect()
    assert [row["count"] for row in per_batch] == [BATCH_DOCUMENTS // 2] * count
    state = join_progress(folder / "state")
    batches[-1] |= {"records": state.records, "bytes": state.bytes, "segments": state.segments}
    return batches


def around(batches: list[dict[str, float]], state: int, column: str) -> float:
    """Return the mean cost of a document in the batches around a state, in microseconds."""
    low, high = (state * share for share in SPREAD)
    chosen = [one[column] for one in batches if low <= one["state"] < high]
    return statistics.mean(chosen) / BATCH_DOCUMENTS * 1e6


def growth(result: dict[str, Any], column: str) -> float:
    """Return how much dearer a document is with the larger state."""
    small, large = result["states"]
    return around(result["batches"], large, column) / around(result["batches"], small, column)


def page(result: dict[str, Any]) -> str:
    """Return the measurements as text."""
    where, batches = result["machine"], result["batches"]
    lines = [
        "# Streaming joins on Spark",
        "",
        f"`{result['command']}` on {where['processor']}, {where['cores']} cores, load"
        f" {where['load']:.1f}, Python {where['python']}, revision {where['revision']}.",
        "",
        f"Batches of {BATCH_DOCUMENTS:,} documents, {BATCH_DOCUMENTS // 2:,} results in each,"
        " and no end of the window; mean over all batches from half the state to one and a half of"
        " it.",
        "",
        "| documents in the state | on cores, per document | by the clock, per document |",
        "| --- | --- | --- |",
    ]
    for state in result["states"]:
        core, clock = (around(batches, state, name) for name in ("core_seconds", "seconds"))
        lines.append(f"| {state:,} | {core:,.0f} us | {clock:,.0f} us |")
    core, clock = (growth(result, name) for name in ("core_seconds", "seconds"))
    last = batches[-1]
    lines += [
        "",
        f"State {GROWTH} times as large: {core:.2f}x on cores, {clock:.2f}x by the clock; at most"
        f" {GROWTH_MAX}x wanted. In the end {last['records']:,} records in {last['segments']}"
        f" segments of {last['bytes'] / 1e6:,.0f} MB.",
    ]
    return "\n".join(lines) + "\n"


def draw(result: dict[str, Any], path: Path) -> None:
    """Draw the cost of each batch against the state."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawing, place = pyplot.subplots(figsize=(9, 5))
    states = [one["state"] for one in result["batches"]]
    for column, label in (("core_seconds", "on cores"), ("seconds", "by the clock")):
        costs = [one[column] / BATCH_DOCUMENTS * 1e6 for one in result["batches"]]
        place.plot(states[1:], costs[1:], ".", label=label)
    place.set_ylim(bottom=0)
    place.set_xlabel("documents in the state")
    place.set_ylabel("us per new document")
    place.legend()
    drawing.tight_layout()
    drawing.savefig(path, dpi=110)
    pyplot.close(drawing)


def main(arguments: list[str]) -> int:
    """Measure, print the page, write the files that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks join-stream", description=__doc__)
    parser.add_argument(
        "--json", type=Path, nargs="?", const=OUT / "join-stream.json", metavar="PATH"
    )
    parser.add_argument("--small", action="store_true", help="a fifth of the documents")
    options = parser.parse_args(arguments)
    smaller = 20_000 if options.small else 100_000
    states = (smaller, smaller * GROWTH)
    result = {
        "command": " ".join(["python -m benchmarks join-stream", *arguments]),
        "machine": machine(),
        "states": states,
        "batches": run(states),
    }
    print(page(result))
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
        options.json.with_suffix(".md").write_text(page(result), "utf-8")
        draw(result, options.json.with_suffix(".png"))
    return 0 if growth(result, "core_seconds") <= GROWTH_MAX else 1
