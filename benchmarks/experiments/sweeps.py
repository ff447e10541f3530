"""How throughput depends on one property of the query or of the document at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.experiments.single import available, described, listed, time_all, verify
from benchmarks.patience import Patience
from benchmarks.workloads.sweeps import SWEEPS, cached

SYSTEMS = ("penstock_batches", "lxml_tree", "pugixml_tree", "simdxml_index", "saxonche_tree")


def run(auction: Path, folder: Path, rounds: int) -> dict[str, Any]:
    """Measure all sweeps; ``auction`` is the document of those that have none of their own."""
    systems, absent = available(SYSTEMS)
    result: dict[str, Any] = {
        "rounds": rounds,
        "missing": absent,
        "timed": described(systems),
        "sweeps": {},
    }
    patience = Patience()
    for sweep in SWEEPS:
        path = cached(folder, sweep) if sweep.document else auction
        result["sweeps"][sweep.name] = {
            "title": sweep.title,
            "queries": listed(sweep.queries),
            "bytes": path.stat().st_size,
            "answers": verify(systems, path, sweep.queries, patience),
            "times": time_all(systems, [], path, range(rounds), sweep.queries, patience),
        }
    return result
