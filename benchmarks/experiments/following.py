"""Changes of a registry that a stream follows: what each costs the driver, and when it is seen.

Additions and removals are timed one by one until they have returned, that is, until workers can
find them, in registries of several sizes: alone, and while tiers are merged in the background. The
removed ones are old, from the largest tier. Behind every tenth change a worker of the next
micro-batch takes over its version, and its names are compared with the registry's. A stream on
Spark then follows the largest registry (``following_spark``).
"""

import argparse
import json
import statistics
import tempfile
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import penstock
from benchmarks.experiments import following_spark
from benchmarks.report import table
from benchmarks.runner import ROOT, machine, progress
from benchmarks.workloads import messages
from penstock.kernel import Session
from penstock.registry.durable import DurableRegistry
from penstock.registry.plans.pins import Pins
from penstock.registry.storage.table import plan_name
from penstock.spark.tiers import load_version

OUT = ROOT / "out" / "bench"
SIZES = (1_000, 10_000, 100_000)
PROMISED = {"subscriptions": 100_000, "change_ms": 100.0}
CHANGES = 100
SEEN_EVERY = 10
GROWTH = 0.3
"""So much is added at once before the changes that run beside a merge of everything."""

Measured = dict[str, Any]


def line(name: str, query: str) -> str:
    """Return a subscription as a line of a file."""
    return json.dumps({"name": name, "query": query})


class Workers:
    """What the workers of one host do: take over the version of each micro-batch."""

    def __init__(self, registry: DurableRegistry, host: Path) -> None:
        self._registry, self._host = registry, host
        self._session: Session | None = None
        self._names: Any = None
        self._batch = 0
        self.times: list[float] = []

    def see(self) -> None:
        """Begin a micro-batch; it must have what the registry has."""
        start = time.perf_counter()
        pin = Pins(self._registry.path).pin("stream", self._batch)
        names, plan = load_version(self._registry.path, self._host, plan_name(pin))
        if self._session is None:
            self._session = Session(plan)
        self._session.adopt(plan)
        self._session.read([(b"<nothing/>", None, "default")])
        self.times.append(time.perf_counter() - start)
        # The former names keep the tiers that both versions have.
        self._names, self._batch = names, self._batch + 1
        assert pin.version == self._registry.version, "the last change is missing"


def change(
    registry: DurableRegistry, texts: list[str], workers: Workers, held: deque[str], tag: str
) -> Measured:
    """Add and remove in turn; return seconds on the clock, and of this process on cores."""
    found: Measured = {"add": [], "remove": [], "core": [], "merging": 0}
    for number, text in enumerate(texts):
        added, removed = f"{tag}{number}", held.popleft()
        held.append(added)
        acts: list[tuple[str, Callable[[], object]]] = [
            ("add", partial(registry.add, added, text)),
            ("remove", partial(registry.remove, removed)),
        ]
        for kind, act in acts:
            clock, core = time.perf_counter(), time.process_time()
            act()
            found[kind].append(time.perf_counter() - clock)
            found["core"].append(time.process_time() - core)
            found["merging"] += registry._current.is_merging
        if number % SEEN_EVERY == 0:
            workers.see()
    return found


def measure(count: int, folder: Path) -> Measured:
    """Change a registry of a size, alone and while everything is merged."""
    texts = list(islice(messages.queries(2 * count + 2 * CHANGES), 2 * count + 2 * CHANGES))
    registry = penstock.Registry.open(folder / "registry")
    registry.load([line(f"q{n}", text) for n, text in enumerate(texts[:count])], workers=0)
    start = time.perf_counter()
    registry.follow()
    published = time.perf_counter() - start
    host = folder / "host"
    host.mkdir()
    workers = Workers(registry, host)
    workers.see()
    first, workers.times = workers.times[0], []
    names = [f"q{n}" for n in range(count)]
    Random(1).shuffle(names)
    held = deque(names)
    alone = change(registry, texts[-CHANGES:], workers, held, "alone")
    grown = texts[count : count + max(1, int(GROWTH * count))]
    registry.load([line(f"g{n}", text) for n, text in enumerate(grown)], workers=0)
    merging = change(registry, texts[-2 * CHANGES : -CHANGES], workers, held, "merging")
    start = time.perf_counter()
    registry._current.wait()
    rest = time.perf_counter() - start
    workers.see()
    registry.close()
    return {
        "publishing everything": published,
        "first sight": first,
        "next sights": workers.times,
        "alone": alone,
        "merging": merging,
        "merge after the changes": rest,
    }


def page(result: Measured) -> str:
    """Return the measurements as Markdown."""
    where, rows = result["machine"], []
    for count, one in result["sizes"].items():
        for what in ("alone", "merging"):
            times = one[what]
            both = times["add"] + times["remove"]
            figures = [
                statistics.median(times["add"]),
                statistics.median(times["remove"]),
                max(both),
                statistics.mean(times["core"]),
                statistics.median(one["next sights"]),
                one["publishing everything"],
            ]
            rows.append(
                [
                    f"{int(count):,}",
                    f"{what} ({times['merging']} of {len(both)})" if what == "merging" else what,
                    *(f"{figure * 1e3:.1f}" for figure in figures),
                ]
            )
    head = [
        "subscriptions",
        "changes",
        "add, median",
        "remove, median",
        "worst",
        "core time, mean",
        "seen by a worker",
        "publishing everything",
    ]
    lines = [
        "# Changes of a registry that a stream follows",
        "",
        f"`{result['command']}` on {where['processor']}, {where['cores']} cores, load"
        f" {where['load']:.1f}, Python {where['python']}, revision {where['revision']}.",
        "",
        f"Milliseconds for each of {CHANGES} additions and as many removals until it has returned;"
        " core time is that of the whole process, merging included. Wanted at"
        f" {PROMISED['subscriptions']:,} subscriptions: less than {PROMISED['change_ms']:g} ms."
        " `merging` says how many of the changes ended while everything was merged.",
        "",
        *table(head, rows),
        "",
        on_spark_sentence(result),
        "",
        *(f"MISSED: {what}" for what in missed(result)),
    ]
    return "\n".join(lines) + "\n"


def on_spark_sentence(result: Measured) -> str:
    """Return what a stream on Spark saw of the changes, and what these took."""
    one = result["on Spark"]
    changes, batches = one["changes"], one["micro-batches"]
    return (
        f"A stream on Spark that follows {max(map(int, result['sizes'])):,} subscriptions: of"
        f" {len(changes)} changes before {len(batches)} micro-batches, each took"
        f" {statistics.median(changes) * 1e3:.1f} ms (median), {max(changes) * 1e3:.1f} ms at most;"
        f" {len(batches) - one['missed']} micro-batches had exactly the subscriptions of the moment"
        f" at which their file arrived. A micro-batch took {statistics.median(batches):.2f} s."
    )


def missed(result: Measured) -> list[str]:
    """Return which changes cost more than is promised."""
    found = []
    for count, one in result["sizes"].items():
        for what in ("alone", "merging"):
            worst = max(one[what]["add"] + one[what]["remove"]) * 1e3
            if worst >= PROMISED["change_ms"]:
                found.append(f"a change of {count} subscriptions, {what}, took {worst:.0f} ms")
    one = result["on Spark"]
    if (worst := max(one["changes"]) * 1e3) >= PROMISED["change_ms"]:
        found.append(f"a change before a micro-batch on Spark took {worst:.0f} ms")
    if one["missed"]:
        found.append(f"{one['missed']} micro-batches on Spark did not see the last changes")
    return found


def main(arguments: list[str]) -> int:
    """Measure, print the page, write the files that were asked for; 1 if a bound is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks following", description=__doc__)
    parser.add_argument("--json", type=Path, nargs="?", const=OUT / "following.json")
    parser.add_argument("--small", action="store_true", help="a tenth of the subscriptions")
    options = parser.parse_args(arguments)
    result: Measured = {
        "command": " ".join(["python -m benchmarks following", *arguments]),
        "machine": machine(),
        "sizes": {},
    }
    OUT.mkdir(parents=True, exist_ok=True)
    for size in SIZES:
        count = size // 10 if options.small else size
        progress(f"{count:,} subscriptions")
        with tempfile.TemporaryDirectory(dir=OUT) as folder:
            result["sizes"][str(count)] = measure(count, Path(folder))
            if size == SIZES[-1]:
                result["on Spark"] = following_spark.measure(count, Path(folder))
    text = page(result)
    print(text)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
        options.json.with_suffix(".md").write_text(text, "utf-8")
    return 1 if missed(result) else 0
