"""Queries with reverse axes, after figures 7.12 to 7.18 of the XSQ thesis.

Every round visits all documents, so that the ratio between sizes comes from one interleaved run
as the ratios between systems do.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.experiments.single import available, described, listed, memory, time_all, verify
from benchmarks.patience import Patience
from benchmarks.statistics import best, collect, geometric_mean, speed_ratio, typical
from benchmarks.workloads.queries import QUERIES, REVERSE

OURS = "penstock_batches"
SYSTEMS = (
    OURS,
    "penstock_kernel",
    "lxml_tree",
    "pugixml_tree",
    "simdxml_index",
    "saxonche_tree",
)
ASKED = (*(query for query in QUERIES if query.name in ("Q4", "Q5")), *REVERSE)
NONE, FOUR = "R13", "R16"
"""The queries with no reverse axis and with four of them, for the same result."""
REVERSED = [query.name for query in ASKED if query.name != NONE]
MEMORY_QUERIES = ("Q4", "R13", "R16")
PROMISED = {"simdxml_index": 10.0, "lxml_tree": 5.0, "saxonche_tree": 10.0, "pugixml_tree": None}
MEASURES = {"best": best, "median": typical}
FOUR_OF_NONE, LARGE_OF_SMALL = 0.8, 0.9


def run(documents: dict[str, Path], rounds: int) -> dict[str, Any]:
    """Measure all documents and return everything that was seen."""
    systems, absent = available(SYSTEMS)
    patience = Patience()
    remembered = [query for query in ASKED if query.name in MEMORY_QUERIES]
    result: dict[str, Any] = {
        "rounds": rounds,
        "missing": absent,
        "timed": described(systems),
        "queries": listed(ASKED),
        "documents": {
            label: {
                "bytes": path.stat().st_size,
                "answers": verify(systems, path, ASKED, patience),
                "times": [],
                "memory": memory(systems, path, remembered, patience),
            }
            for label, path in documents.items()
        },
    }
    for number in range(rounds):
        for label, path in documents.items():
            times = time_all(systems, [], path, range(number, number + 1), ASKED, patience)
            result["documents"][label]["times"] += times
    return result


def kept_promises(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return each ratio with what is promised of it, for the largest document."""
    documents = list(result["documents"].values())
    times = collect(documents[-1]["times"])
    rows: list[dict[str, Any]] = []
    for system, promise in PROMISED.items():
        # A peer may fail on a query; the ratio is over those that it answered.
        answered = [query for query in REVERSED if (system, query) in times]
        if answered and (ratio := speed_ratio(times, OURS, system, answered)):
            name = result["timed"][system]["name"]
            what = f"reverse axes / {name} ({len(answered)} of {len(REVERSED)} queries)"
            rows.append({"what": what, **ratio, "promise": promise})
    if all((OURS, query) in times for query in (NONE, FOUR)):
        four = {
            kind: of(times[OURS, NONE]) / of(times[OURS, FOUR]) for kind, of in MEASURES.items()
        }
        rows.append(
            {"what": f"four axes ({FOUR}) / none ({NONE})", **four, "promise": FOUR_OF_NONE}
        )
    ends = [documents[0], documents[-1]]
    if len(documents) > 1 and all(_is_whole(document) for document in ends):
        speeds = [_speeds(document) for document in ends]
        size = {kind: speeds[1][kind] / speeds[0][kind] for kind in MEASURES}
        rows.append({"what": "large / small document, MB/s", **size, "promise": LARGE_OF_SMALL})
    return rows


def _is_whole(document: dict[str, Any]) -> bool:
    """Return whether we were timed on all queries with reverse axes."""
    times = collect(document["times"])
    return all((OURS, query) in times for query in REVERSED)


def _speeds(document: dict[str, Any]) -> dict[str, float]:
    """Our bytes per second on the queries with reverse axes, by kind of measure."""
    times = collect(document["times"])
    return {
        kind: document["bytes"] / geometric_mean([of(times[OURS, query]) for query in REVERSED])
        for kind, of in MEASURES.items()
    }
