"""Output latency while the document arrives in pieces: first result, average result, end."""

from pathlib import Path
from typing import Any

from benchmarks import feeds, peers
from benchmarks.patience import Patience
from benchmarks.runner import progress
from benchmarks.workloads.positions import queries

FEEDS = "benchmarks.feeds"
SECONDS_MAX = 60
REPEATED_SECONDS_MAX = 2  # What takes longer is measured once.
NAMES = {
    "penstock_batches": "Penstock, feed",
    "lxml_iterparse": "lxml pull parser, hand-written",
    "lxml_tree": "lxml, whole document",
    "pugixml_tree": "pugixml, whole document",
    "simdxml_batch": "simdxml, whole document",
    "saxonche_tree": "saxonche, whole document",
}


def run(path: Path, item_count: int, rounds: int) -> dict[str, Any]:
    """Return, for each query and system, the round with the smallest average latency."""
    systems = [
        name
        for name in feeds.FEEDERS
        if not peers.load("lxml_tree" if name == "lxml_iterparse" else name).missing()
    ]
    best: dict[str, dict[str, Any]] = {}
    patience = Patience(SECONDS_MAX)
    for number in range(rounds):
        for query in queries(item_count):
            replies = best.setdefault(query.name, {})
            for name in systems:
                known = replies.get(name, {})
                if number > 0 and known.get("total_seconds", SECONDS_MAX) > REPEATED_SECONDS_MAX:
                    continue
                progress(f"latency {number + 1}/{rounds}  {query.name:8}  {name}")
                request = {
                    "system": name,
                    "query": query.name,
                    "items": item_count,
                    "path": str(path.resolve()),
                }
                reply = patience.ask((name, query.name), FEEDS, request)
                if "mean_seconds" not in known or (
                    reply.get("mean_seconds", float("inf")) < known["mean_seconds"]
                ):
                    replies[name] = reply
    texts = {query.name: query.text for query in queries(item_count)}
    return {"names": NAMES, "queries": texts, "bytes": path.stat().st_size, "systems": best}
