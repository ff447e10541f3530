"""Runs of two revisions in pairs, and what their core times say."""

import statistics
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.experiments.many.workers import WorkerProcess
from benchmarks.experiments.revisions.setups import Scale, Setup, Workload
from benchmarks.runner import progress, revision

MODULE = "benchmarks.experiments.revisions.worker"
OLD, NEW = "old", "new"

Entry = dict[str, Any]


@dataclass(frozen=True)
class Checkout:
    """A folder with a revision that `make setup` has built."""

    label: str
    folder: Path

    @property
    def python(self) -> Path:
        """The interpreter whose `penstock` is this revision."""
        return self.folder / ".venv" / "bin" / "python"

    def describe(self) -> Entry:
        """Return which revision it is, and whether the build is as new as the sources."""
        made = subprocess.run(["make", "--question", "setup"], cwd=self.folder, capture_output=True)
        return {
            "folder": str(self.folder),
            "revision": revision(self.folder),
            "is_built": made.returncode == 0,
        }


def measure(
    setup: Setup, names: set[str], checkouts: list[Checkout], pairs: int, scale: Scale
) -> Iterator[Entry]:
    """Yield an entry for each of the named workloads of a setup; the other ones are left out."""
    progress(f"{setup.name}: preparing")
    request = {"task": setup.task, **setup.prepare(scale)}
    with ExitStack() as stack:
        workers = [
            stack.enter_context(WorkerProcess(checkout.label, MODULE, str(checkout.python)))
            for checkout in checkouts
        ]
        with ThreadPoolExecutor() as pool:
            replies = list(pool.map(lambda worker: worker.ask("prepare", **request), workers))
        prepared = dict(zip((worker.peer for worker in workers), replies, strict=True))
        errors = list(filter(None, map(preparation_error, checkouts, replies)))
        for workload in setup.workloads:
            if workload.name in names:
                entry = {
                    "name": workload.name,
                    "ratio_max": workload.ratio_max,
                    "prepared": prepared,
                }
                if errors:
                    yield entry | {"pairs": [], "error": errors[0]}
                else:
                    yield entry | run_pairs(workload, workers, pairs, scale)


def preparation_error(checkout: Checkout, reply: Entry) -> str | None:
    """Return why a worker cannot be measured."""
    if "error" in reply:
        return f"{checkout.label}: {reply['error']}"
    if not Path(reply["package"]).is_relative_to(checkout.folder):
        return f"{checkout.label}: its package is {reply['package']}"
    return None


def run_pairs(workload: Workload, workers: list[WorkerProcess], pairs: int, scale: Scale) -> Entry:
    """Return the pairs of runs, and the error that ended them if there was one."""
    found: list[Entry] = []
    for number in range(pairs):
        progress(f"{workload.name}: pair {number + 1}/{pairs}")
        # The second run of a pair may find another machine, so that place changes hands.
        turns = workers if number % 2 == 0 else workers[::-1]
        pair = {worker.peer: worker.ask("run", run=workload.run(scale)) for worker in turns}
        for label, reply in pair.items():
            if "error" in reply:
                return {"pairs": found, "error": f"{label}: {reply['error']}"}
        found.append(pair)
    return {"pairs": found}


@dataclass(frozen=True)
class Verdict:
    """What the pairs of a workload say: core time of the new revision to that of the old one."""

    ratio: float
    low: float
    high: float
    """The middle half of the pairs lies between these."""
    rows_differ: bool
    is_kept: bool


def judge(entry: Entry) -> Verdict | None:
    """Return what was found, or None if nothing was measured."""
    ratios = [pair[NEW]["core_seconds"] / pair[OLD]["core_seconds"] for pair in entry["pairs"]]
    if not ratios:
        return None
    cut = statistics.quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else ratios * 3
    low, ratio, high = cut
    rows_differ = any(
        one[OLD]["rows"] != one[NEW]["rows"] for one in (*entry["pairs"], entry["prepared"])
    )
    is_kept = ratio <= entry["ratio_max"] and not rows_differ and "error" not in entry
    return Verdict(ratio, low, high, rows_differ, is_kept)
