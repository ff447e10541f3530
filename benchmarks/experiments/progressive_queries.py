"""Whole queries over two streams, from bytes to rows: speed, memory, sharing, the first result."""

from __future__ import annotations

import gc
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import penstock
from benchmarks.peers import lxml_duckdb
from benchmarks.runner import progress
from benchmarks.workloads.streams import CATEGORIES, MANY, QUERY, SIZES, Streams, streams
from penstock.joins import JoinOptions

DUCKDB_MAX = 1 / 3
"""What lxml with DuckDB takes, this times that is wanted."""
MEMORY_TIME_MAX = 2.0
SHARING_MAX = 3.0
FIRST_MAX = 0.01
BUDGET_SHARE = 0.1
PIECE = 4 << 10

LINE, KEY = re.compile(rb"<.*>\n"), re.compile(rb"[>'](k\d{7})[<']")
"""An element of a stream, and the key of an order in it."""

Measured = dict[str, Any]


def engine_of(texts: list[str], state_bytes_max: int | None = None) -> penstock.Engine:
    """Return an engine with some queries."""
    registry = penstock.Registry()
    for number, text in enumerate(texts):
        registry.add(f"q{number}", penstock.xquery(text))
    joins = None if state_bytes_max is None else JoinOptions(state_bytes_max=state_bytes_max)
    return penstock.Engine(registry, joins=joins)


def documents_of(given: Streams) -> list[penstock.Document]:
    """Return the documents of both streams, one behind the other."""
    return [
        penstock.Document(given.orders, id="o", stream="orders"),
        penstock.Document(given.payments, id="p", stream="payments"),
    ]


def count_batches(engine: penstock.Engine, given: Streams) -> int:
    """Return how many rows there are, as Arrow batches."""
    return sum(batch.num_rows for batch in engine.batches(documents_of(given)))


def count_rows(engine: penstock.Engine, given: Streams) -> int:
    """Return how many rows there are, as objects, with the streams read side by side."""
    sources = {"orders": given.orders, "payments": given.payments}
    return sum(len(rows) for rows in engine.steps(sources))


def timed(rounds: int, *runs: Callable[[], int]) -> list[tuple[float, int]]:
    """Return the least core seconds of each run, in turns, and what it returned."""
    best: list[tuple[float, int]] = [(float("inf"), -1)] * len(runs)
    for _ in range(rounds):
        for place, run in enumerate(runs):
            gc.collect()
            started = time.process_time()
            count = run()
            best[place] = min(best[place], (time.process_time() - started, count))
    return best


def measure_whole(name: str, count: int, rounds: int) -> Measured:
    """Compare a query with lxml and DuckDB, and a tenth of the memory with all of it."""
    given = streams(count, SIZES[name])
    ample = engine_of([QUERY])
    held = state_bytes(given)
    tight = engine_of([QUERY], int(held * BUDGET_SHARE))
    found = timed(
        rounds,
        lambda: len(lxml_duckdb.joined(given)),
        lambda: count_batches(ample, given),
        lambda: count_rows(ample, given),
        lambda: count_batches(tight, given),
    )
    assert {rows for _, rows in found} == {given.pairs}, "all systems have the same rows"
    peer, batches, rows, spilled = [seconds for seconds, _ in found]
    progress(f"{name}: {given.size / 1e6:.1f} MB, {batches / peer:.2f} of lxml + DuckDB")
    return {
        "set": name,
        "bytes": given.size,
        "bindings": 2 * count,
        "rows": given.pairs,
        "seconds": {"lxml + DuckDB": peer, "batches": batches, "rows": rows, "a tenth": spilled},
        "batches_to_duckdb": batches / peer,
        "rows_to_duckdb": rows / peer,
        "tenth_to_all": spilled / batches,
        "wanted": {"batches_to_duckdb": DUCKDB_MAX, "tenth_to_all": MEMORY_TIME_MAX},
    }


def state_bytes(given: Streams) -> int:
    """Return what the tables hold when all is read."""
    engine = engine_of([QUERY])
    for stream, data in (("orders", given.orders), ("payments", given.payments)):
        with engine.open(stream=stream) as opened:
            opened.feed(data)
    (tables,) = engine._pushed_joins.stages[0]._tables
    return tables._joiner.statistics().memory_bytes


def measure_sharing(name: str, count: int, rounds: int) -> Measured:
    """Compare a set of queries and one query that has the results of all of them."""
    given = streams(count)
    one, many = engine_of([QUERY]), engine_of(MANY[name]())
    found = timed(
        rounds,
        lambda: count_batches(one, given),
        lambda: count_batches(many, given),
        lambda: count_rows(one, given),
        lambda: count_rows(many, given),
    )
    assert {rows for _, rows in found} == {given.pairs}, "the results are equal in all"
    seconds = [seconds for seconds, _ in found]
    ratios = {"batches": seconds[1] / seconds[0], "rows": seconds[3] / seconds[2]}
    progress(f"{CATEGORIES} queries, {name}: {ratios['batches']:.2f} times one")
    return {
        "set": name,
        "queries": CATEGORIES,
        "bytes": given.size,
        "rows": given.pairs,
        "seconds": dict(zip(("one", "many", "one, rows", "many, rows"), seconds, strict=True)),
        "many_to_one": ratios,
        "wanted": SHARING_MAX,
    }


def measure_first(count: int) -> Measured:
    """Tell how much of the input has been read when the first row is there."""
    given = streams(count)
    read = 0

    def pieces(data: bytes) -> Iterator[bytes]:
        nonlocal read
        for start in range(0, len(data), PIECE):
            read += len(data[start : start + PIECE])
            yield data[start : start + PIECE]

    engine = engine_of([QUERY])
    orders, payments = engine.open(stream="orders"), engine.open(stream="payments")
    feeds = zip(pieces(given.orders), pieces(given.payments), strict=False)
    for order, payment in feeds:
        if orders.feed(order) or payments.feed(payment):
            break
    share, needed = read / given.size, first_pair(given) / given.size
    progress(f"first row after {share:.2%} of the input, and none can come before {needed:.2%}")
    # Where no pair is there before, the row comes with the pieces that complete the first one.
    wanted = max(FIRST_MAX, needed + 2 * PIECE / given.size)
    return {"bytes": given.size, "share_read": share, "share_needed": needed, "wanted": wanted}


def first_pair(given: Streams) -> int:
    """Return how many bytes of both streams have to be read, in turns, until a pair is complete."""
    ends = [
        {key.group(1): line.end() for line in LINE.finditer(data) if (key := KEY.search(line[0]))}
        for data in (given.orders, given.payments)
    ]
    return 2 * min(max(ends[0][key], ends[1][key]) for key in ends[0].keys() & ends[1].keys())


def measure_queries(*, is_small: bool) -> Measured:
    """Return all measurements of whole queries."""
    count, rounds = (6_000, 2) if is_small else (60_000, 4)
    counts = {"small": count, "like TPC-H": count // 2, "like XMark": count // 6}
    return {
        "whole": [measure_whole(name, counts[name], rounds) for name in SIZES],
        "sharing": [measure_sharing(name, count, rounds) for name in MANY],
        "first": measure_first(count),
    }


def missed_queries(result: Measured) -> list[str]:
    """Return the bounds that were missed."""
    lines = []
    for one in result["whole"]:
        for name, most in one["wanted"].items():
            if one[name] > most:
                lines.append(f"{one['set']}: {name} is {one[name]:.2f}, wanted {most:.2f}")
    for one in result["sharing"]:
        for form, ratio in one["many_to_one"].items():
            if ratio > SHARING_MAX:
                lines.append(f"{one['set']}: {ratio:.2f} times as long as one query ({form})")
    if result["first"]["share_read"] > result["first"]["wanted"]:
        lines.append(f"the first row comes after {result['first']['share_read']:.2%}")
    return lines
