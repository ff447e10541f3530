"""What the metrics of a stream cost: one stream with them and one without, by turns.

Small documents in files are matched by many subscriptions in micro-batches of two files. A round
is one stream of each kind, from its start to its end, on cores of all of Spark's processes; which
comes first changes from round to round. Streams before the first round warm Spark up.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import penstock
from benchmarks.cores import core_seconds
from benchmarks.runner import machine, print_result, progress
from benchmarks.spark_session import OUT, prepare_documents, start_session
from benchmarks.workloads import messages
from penstock.spark import match
from penstock.spark.metrics import MetricsListener
from penstock.spark.metrics import match as measured_match

DOCUMENTS, SUBSCRIPTIONS, ROUNDS = 100_000, 1_000, 7
WARMING = 4
"""So many streams of each kind go before; Java compiles for a long time."""
RATIO_MAX = 1.02


def stream(spark: Any, registry: penstock.Registry, folder: Path, is_measured: bool) -> float:
    """Return the core time of a stream."""
    started = core_seconds()
    documents = spark.readStream.schema("id long, xml binary").option("maxFilesPerTrigger", 2)
    read = documents.parquet(str(folder))
    rows = (measured_match if is_measured else match)(read, registry)
    with tempfile.TemporaryDirectory() as checkpoint:
        writer = rows.writeStream.format("noop").option("checkpointLocation", checkpoint)
        writer.trigger(availableNow=True).start().awaitTermination()
        return core_seconds() - started


def measure(count: int, subscriptions: int, rounds: int) -> dict[str, Any]:
    """Run streams of both kinds by turns."""
    folder = prepare_documents(count)
    registry = penstock.Registry()
    for number, query in zip(range(subscriptions), messages.queries(subscriptions), strict=False):
        registry.add(f"q{number}", query)
    spark = start_session()
    listener = MetricsListener()
    spark.streams.addListener(listener)
    try:
        for is_measured in (True, False) * WARMING:
            stream(spark, registry, folder, is_measured)
        seconds: dict[bool, list[float]] = {True: [], False: []}
        for number in range(rounds):
            for is_measured in (True, False) if number % 2 else (False, True):
                seconds[is_measured].append(stream(spark, registry, folder, is_measured))
            progress(
                f"{number}: {seconds[False][-1]:.2f} s, {seconds[True][-1]:.2f} s with metrics"
            )
        while listener.measures().documents < count * (rounds + WARMING):
            time.sleep(0.1)
        told = listener.measures()
    finally:
        spark.stop()
    pairs = zip(seconds[True], seconds[False], strict=True)
    return {
        "documents": count,
        "subscriptions": subscriptions,
        "seconds_without": seconds[False],
        "seconds_with": seconds[True],
        "ratios": (ratios := [ours / theirs for ours, theirs in pairs]),
        "ratio": statistics.median(ratios),
        "ratio_of_sums": sum(seconds[True]) / sum(seconds[False]),
        "documents_told": told.documents,
        "results_told": told.results,
    }


def main(arguments: list[str]) -> int:
    """Measure and print; the exit code is 1 if metrics cost more than they may."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks metrics", description=__doc__)
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    parser.add_argument("--subscriptions", type=int, default=SUBSCRIPTIONS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", type=Path, nargs="?", const=OUT / "metrics.json")
    options = parser.parse_args(arguments)
    measured = measure(options.documents, options.subscriptions, options.rounds)
    command = " ".join(["python -m benchmarks metrics", *arguments])
    print_result({"command": command, "machine": machine(), **measured}, options.json)
    return 0 if measured["ratio"] <= RATIO_MAX else 1
