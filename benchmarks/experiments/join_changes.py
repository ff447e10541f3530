"""Changes among standing joins: what an addition costs, what a removal leaves, diverse shapes.

All queries are in one registry, and one engine reads documents while they change. Times are core
time, since others may use the machine. The baselines are of the same run: the next document alone,
and a fresh engine over the same registry, which is what a change costs who builds anew.
"""

import argparse
import gc
import json
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import penstock
from benchmarks.runner import ROOT, machine, progress
from benchmarks.workloads import joins as workload
from penstock.twigs import Query

OUT = ROOT / "out" / "bench"
QUERIES, ADDITIONS, ROUNDS, SHAPES = 10_000, 200, 10_000, 2_000
SAMPLE = 500
"""Documents that are timed before the rounds and after them."""

Measured = dict[str, Any]


class Feed:
    """Documents of a running engine, given one at a time and timed."""

    def __init__(self, registry: penstock.Registry) -> None:
        self.registry = registry
        self._next: penstock.Document | None = None
        self._steps = penstock.Engine(registry, lateness=0).steps(self._source())
        self._count = 0
        self.results = 0

    def _source(self) -> Iterator[penstock.Document]:
        while self._next is not None:
            yield self._next

    def read(self, data: bytes) -> float:
        """Read a document; return the core seconds that it took."""
        self._count += 1
        self._next = penstock.Document(data, str(self._count), "S", float(self._count * 2))
        start = time.process_time()
        self.results += len(next(self._steps))
        return time.process_time() - start


def timed_add(registry: penstock.Registry, name: str, query: Query) -> float:
    """Add a subscription; return the core seconds that it took."""
    start = time.process_time()
    registry.add(name, query)
    return time.process_time() - start


def resident_bytes() -> int:
    """Return the memory that this process has now, after a collection."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def own_leaves(number: int) -> Query:
    return penstock.xscl(workload.own_leaves(number))


def additions(registry: penstock.Registry, feed: Feed, count: int) -> Measured:
    """Add queries one by one, each with the next document; beside that document alone."""
    live, alone = [], []
    document = workload.leaf_pair(1)[0]
    first = len(registry)
    for number in range(first, first + count):
        added = timed_add(registry, str(number), own_leaves(number))
        live.append(added + feed.read(document))
        alone.append(feed.read(document))
    fresh = Feed(registry).read(document)
    return {
        "live": statistics.median(live),
        "largest": max(live),
        "alone": statistics.median(alone),
        "fresh": fresh,
    }


def rounds(registry: penstock.Registry, feed: Feed, count: int) -> Measured:
    """Add and remove queries, with documents that they join; compare before and after.

    Documents take turns with those of an engine in which one query stands and nothing changes:
    how much dearer they are does not depend on what else the machine does.
    """

    still = penstock.Registry()
    still.add("1", own_leaves(1))
    control = Feed(still)

    def sample() -> Measured:
        left, right = workload.leaf_pair(1)
        changed, unchanged = [], []
        for _ in range(SAMPLE):
            changed.append(feed.read(left) + feed.read(right))
            unchanged.append(control.read(left) + control.read(right))
        document, beside = (statistics.median(times) / 2 for times in (changed, unchanged))
        return {"document": document, "beside": document / beside, "bytes": resident_bytes()}

    sample()
    points = [sample()]
    for number in range(count):
        new = QUERIES * 10 + number
        registry.add("new", own_leaves(new))
        for document in workload.leaf_pair(1, new):
            feed.read(document)
        registry.remove("new")
        if (number + 1) % (count // 4) == 0:
            points.append(sample())
            progress(f"{number + 1} rounds: {points[-1]['document'] * 1e6:.0f} us per document")
    return {"count": count, "points": points}


def shapes(count: int) -> Measured:
    """Add queries of diverse shapes; what each costs to read, to add, at the first document."""
    random = Random(5)
    texts = [workload.diverse(random) for _ in range(count + SAMPLE)]
    registry = penstock.Registry()
    for number, text in enumerate(texts[:SAMPLE]):
        registry.add(str(number), penstock.xscl(text))
    feed = Feed(registry)
    feed.read(b"<r/>")
    feed.read(b"<r/>")
    before, reading, adding = resident_bytes(), 0.0, 0.0
    for number, text in enumerate(texts[SAMPLE:], start=SAMPLE):
        start = time.process_time()
        query = penstock.xscl(text)
        reading += time.process_time() - start
        adding += timed_add(registry, str(number), query)
    del query
    first = feed.read(b"<r/>")
    return {
        "count": count,
        "read": reading / count,
        "add": adding / count,
        "first": first / count,
        "bytes": (resident_bytes() - before) / count,
    }


def run(small: bool) -> Measured:
    """Measure everything."""
    share = 10 if small else 1
    progress(f"{SHAPES // share} diverse shapes")
    found: Measured = {"shapes": shapes(SHAPES // share)}
    progress(f"{QUERIES // share} queries with leaves of their own")
    registry = penstock.Registry()
    for number in range(QUERIES // share):
        registry.add(str(number), own_leaves(number))
    feed = Feed(registry)
    feed.read(workload.leaf_pair(1)[0])
    progress("additions")
    found["additions"] = additions(registry, feed, ADDITIONS)
    progress("rounds")
    found["rounds"] = rounds(registry, feed, ROUNDS // share)
    return {"queries": QUERIES // share, **found}


def bounds(result: Measured) -> list[tuple[str, float, float, str]]:
    """Return what is bounded: what, what was found, the bound, the unit."""
    one, kept, made = result["additions"], result["rounds"]["points"], result["shapes"]
    grown = {name: max(p[name] for p in kept[1:]) / kept[0][name] for name in ("beside", "bytes")}
    return [
        ("a live addition with the next document, median", one["live"] * 1e3, 2, "ms"),
        ("time per document after the rounds, to before", grown["beside"], 1.1, "x"),
        ("memory after the rounds, to before", grown["bytes"], 1.1, "x"),
        ("diverse shapes: add and first document", (made["add"] + made["first"]) * 1e3, 2, "ms"),
        ("diverse shapes: memory per query", made["bytes"] / 1e3, 20, "kB"),
    ]


def bound_lines(result: Measured) -> Iterator[str]:
    """Yield the rows of the table of what is bounded."""
    for what, got, most, unit in bounds(result):
        yield f"| {what} | {got:.2f} {unit} | {most:g} {unit} |"


def page(result: Measured) -> str:
    """Return the measurements as text."""
    where, one, made = result["machine"], result["additions"], result["shapes"]
    lines = [
        "# Changes among standing joins",
        "",
        f"`{result['command']}` on {where['processor']}, {where['cores']} cores, load"
        f" {where['load']:.1f}, Python {where['python']}, revision {where['revision']}.",
        "",
        "| what | found | at most |",
        "| --- | --- | --- |",
        *bound_lines(result),
        "",
        f"One addition among {result['queries']:,} queries with leaves of their own, core time:",
        "",
        "| | ms |",
        "| --- | --- |",
        f"| addition and next document, median | {one['live'] * 1e3:.3f} |",
        f"| the slowest of {ADDITIONS} | {one['largest'] * 1e3:.3f} |",
        f"| the next document alone | {one['alone'] * 1e3:.3f} |",
        f"| a fresh engine and its first document | {one['fresh'] * 1e3:,.1f} |",
        "",
        "| rounds of adding and removing | us per document | beside one query that stands | MB |",
        "| --- | --- | --- | --- |",
    ]
    points = result["rounds"]["points"]
    for number, point in enumerate(points):
        done = result["rounds"]["count"] * number // (len(points) - 1)
        cells = f"{point['document'] * 1e6:.1f} | {point['beside']:.2f}x"
        lines.append(f"| {done:,} | {cells} | {point['bytes'] / 1e6:.1f} |")
    parts = ", ".join(f"{made[name] * 1e3:.2f} ms {name}" for name in ("read", "add", "first"))
    lines += ["", f"{made['count']:,} diverse shapes, five value joins each, per query: {parts}."]
    return "\n".join(lines) + "\n"


def draw(result: Measured, path: Path) -> None:
    """Draw what documents cost while subscriptions come and go."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawing, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4))
    one, points = result["additions"], result["rounds"]["points"]
    bars = {"document alone": "alone", "addition +\ndocument": "live", "fresh engine": "fresh"}
    left.bar(list(bars), [one[name] * 1e3 for name in bars.values()])
    left.set_yscale("log")
    left.set_ylabel("ms")
    left.set_title(f"one addition among {result['queries']:,} queries", fontsize=9)
    done = [result["rounds"]["count"] * n / (len(points) - 1) for n in range(len(points))]
    for name, label in (("beside", "time per document"), ("bytes", "memory")):
        right.plot(done, [point[name] / points[0][name] for point in points], "o-", label=label)
    right.set_ylim(0, 1.5)
    right.axhline(1.1, color="gray", linestyle=":")
    right.set_title("rounds of adding and removing, relative to the start", fontsize=9)
    right.legend(fontsize=8)
    drawing.tight_layout()
    drawing.savefig(path, dpi=110)
    pyplot.close(drawing)


def main(arguments: list[str]) -> int:
    """Measure, print the page, write the files that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks join-changes", description=__doc__)
    parser.add_argument(
        "--json", type=Path, nargs="?", const=OUT / "join-changes.json", metavar="PATH"
    )
    parser.add_argument("--small", action="store_true", help="a tenth of everything")
    options = parser.parse_args(arguments)
    result = {
        "command": " ".join(["python -m benchmarks join-changes", *arguments]),
        "machine": machine(),
        **run(options.small),
    }
    print(page(result))
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
        options.json.with_suffix(".md").write_text(page(result), "utf-8")
        try:
            draw(result, options.json.with_suffix(".png"))
        except ImportError as missing:
            progress(f"there is no picture: {missing}")
    return 0 if all(got <= most for _, got, most, _ in bounds(result)) else 1
