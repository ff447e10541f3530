"""A durable registry of many subscriptions: load, reopen, memory, one more, first documents."""

import shutil
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.experiments.many.measure import OUT, Effort, task_of
from benchmarks.patience import ask
from benchmarks.runner import progress
from benchmarks.workloads.sets import Workload

CHILD = "benchmarks.experiments.many.durable_child"
SECONDS_MAX = 7200
TEMPLATES = Workload("nitf", "template", "selective")
MIXED = Workload("nitf", "twig", "unselective")
#: A shape that no query of the set has, so that an addition is never one of something known.
FORM = "/nitf/body/body-content/block[@id = 'more{}']/p"


def run(
    count: int, started: int, additions: int, starts: int, rounds: int, effort: Effort
) -> dict[str, Any]:
    """Measure a registry of templates, and the first documents over mixed queries."""
    return {
        "templates": measure_templates(count, additions, rounds, effort),
        "starts": {
            mode: measure_starts(started, mode, starts, effort) for mode in ("filter", "query")
        },
    }


def measure_templates(count: int, additions: int, rounds: int, effort: Effort) -> dict[str, Any]:
    """Return load and reopening beside the baseline, in turn, then memory and additions."""
    task = task_of(TEMPLATES, "filter", count, effort)
    folder = OUT / "registry"
    request = {
        "queries": str(task.queries),
        "count": count,
        "mode": task.mode,
        "folder": str(folder),
        "additions": additions,
        "seconds_max": 60,
        "form": FORM,
        **task.source,
    }
    found: dict[str, Any] = {"count": count, "compile lines": [], "load": [], "reopen": []}
    for number in range(rounds):
        shutil.rmtree(folder, ignore_errors=True)
        for name in ("compile lines", "load", "reopen"):
            progress(f"{count:,} templates: round {number + 1}/{rounds}, {name}")
            found[name].append(ask(CHILD, {"task": name, **request}, SECONDS_MAX))
    progress(f"{count:,} templates: adding one")
    found["add one"] = ask(CHILD, {"task": "add one", **request}, SECONDS_MAX)
    shutil.rmtree(folder, ignore_errors=True)
    return found


def measure_starts(count: int, mode: str, starts: int, effort: Effort) -> dict[str, Any]:
    """Return the first document's time and a warm one's, each start in a process of its own."""
    task = task_of(MIXED, mode, count, effort)
    folder: Path = OUT / f"registry-{mode}"
    shutil.rmtree(folder, ignore_errors=True)
    request = {
        "queries": str(task.queries),
        "count": count,
        "mode": mode,
        "folder": str(folder),
        **task.source,
    }
    progress(f"{count:,} mixed queries, {mode}: loading")
    found: dict[str, Any] = {"count": count, "starts": []}
    loaded = ask(CHILD, {"task": "load", **request}, SECONDS_MAX)
    if "error" in loaded:
        return found | {"error": loaded["error"]}
    for number in range(starts):
        progress(f"{count:,} mixed queries, {mode}: start {number + 1}/{starts}")
        found["starts"].append(ask(CHILD, {"task": "start", **request}))
    shutil.rmtree(folder, ignore_errors=True)
    return found


def best_seconds(replies: list[dict[str, Any]]) -> float | None:
    """Return the fastest of some replies, or None if none succeeded."""
    return min((reply["seconds"] for reply in replies if "seconds" in reply), default=None)


def addition_seconds(reply: dict[str, Any]) -> float | None:
    """Return what adding one costs, its burden on the next document included."""
    if "add_seconds" not in reply:
        return None
    burden: float = max(0.0, reply["after_seconds"] - reply["alone_seconds"])
    return reply["add_seconds"] + burden


def start_ratio(found: dict[str, Any]) -> float | None:
    """Return the median over starts of the first document's cost in warm ones."""
    ratios = [
        one["first_seconds"] / one["warm_seconds"]
        for one in found["starts"]
        if "first_seconds" in one
    ]
    return median(ratios) if ratios else None
