"""Poison: one subscription among many that every document makes expensive.

Small documents are read with and without it. Others have to get the same rows. Once it is
suspended, the rest of the documents has to take as long as without it: core time, the two engines
by turns.
"""

import argparse
import json
import statistics
import time
import zlib
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import penstock
from benchmarks.runner import ROOT, machine, print_result, progress
from benchmarks.workloads.sets import Workload

OUT = ROOT / "out" / "bench"
POISON = "poison"
QUERY = "//*[preceding::* = following::*/preceding::*[count(following::*) > count(preceding::*)]]"
SUBSCRIPTIONS, DOCUMENTS = 10_000, 2_000
LIMITS = penstock.Limits(steps_max=200_000, pairs_max=20_000)
"""For messages of some kilobytes, as docs/limits.md advises."""
SETS = ("nitf-path-selective", "nitf-twig-selective", "auction-twig-selective")
ROUND_DOCUMENTS = 100
RATIO_MAX = 1.1

Measured = dict[str, Any]


def engine_of(queries: list[str], is_poisoned: bool) -> penstock.Engine:
    """Return an engine of all queries, with or without the poisoned one."""
    registry = penstock.Registry()
    lines = [json.dumps({"name": str(n), "query": query}) for n, query in enumerate(queries)]
    report = registry.load(lines, workers=0)
    assert not report.failed, report.errors[0]
    if is_poisoned:
        registry.add(POISON, QUERY)
    return penstock.Engine(registry, LIMITS)


def read(engine: penstock.Engine, documents: Iterable[bytes]) -> tuple[float, int, list[str]]:
    """Return core time, a checksum of the rows of all but the poisoned one, and its errors."""
    started = time.process_time()
    rows = list(engine.run(documents))
    seconds = time.process_time() - started
    errors = [row.error.code for row in rows if row.error is not None]
    kept = sorted(
        (row.subscription, row.ordinal, row.start, row.value)
        for row in rows
        if row.error is None and row.subscription != POISON
    )
    return seconds, zlib.crc32(repr(kept).encode()), errors


def measure(name: str, subscriptions: int, count: int) -> Measured:
    """Read documents with both engines by turns."""
    workload = Workload(*name.split("-"))
    queries = list(islice(workload.queries(subscriptions), subscriptions))
    documents = list(workload.documents(count))
    poisoned, clean = engine_of(queries, True), engine_of(queries, False)
    errors: list[str] = []
    ratios, are_equal = [], True
    for first in range(0, count, ROUND_DOCUMENTS):
        part = documents[first : first + ROUND_DOCUMENTS]
        was_suspended = bool(poisoned.suspended())
        theirs, expected, _ = read(clean, part)
        ours, checksum, failed = read(poisoned, part)
        errors += failed
        are_equal = are_equal and checksum == expected
        if was_suspended:
            ratios.append(ours / theirs)
    return {
        "subscriptions": subscriptions,
        "documents": count,
        "bytes": sum(map(len, documents)),
        "rows_are_equal": are_equal,
        "errors": errors,
        "is_suspended": POISON in poisoned.suspended(),
        "ratio": statistics.median(ratios) if ratios else None,
        "ratios": ratios,
    }


def missed(sets: dict[str, Measured]) -> list[str]:
    """Return which bounds are missed."""
    found = []
    for name, one in sets.items():
        if not one["rows_are_equal"]:
            found.append(f"{name}: others get other rows")
        if not one["is_suspended"]:
            found.append(f"{name}: the poisoned subscription is not suspended")
        elif one["ratio"] is None or one["ratio"] > RATIO_MAX:
            found.append(f"{name}: it takes {one['ratio']} times the time without it")
    return found


def main(arguments: list[str]) -> int:
    """Measure and print JSON; 1 if a bound is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks poison", description=__doc__)
    parser.add_argument("--json", type=Path, nargs="?", const=OUT / "poison.json", metavar="PATH")
    parser.add_argument("--small", action="store_true", help="a tenth of everything")
    options = parser.parse_args(arguments)
    part = 10 if options.small else 1
    sets = {}
    for name in SETS:
        progress(name)
        sets[name] = measure(name, SUBSCRIPTIONS // part, max(400, DOCUMENTS // part))
    result = {
        "command": " ".join(["python -m benchmarks poison", *arguments]),
        "machine": machine(),
        "query": QUERY,
        "sets": sets,
        "missed": missed(sets),
    }
    print_result(result, options.json)
    return 1 if result["missed"] else 0
