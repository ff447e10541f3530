"""One set of queries and one mode: the systems are loaded, compared and then timed in turn."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import peers
from benchmarks.experiments.many.workers import WorkerProcess
from benchmarks.runner import ROOT, progress
from benchmarks.workloads.sets import Workload, write_queries

OUT = ROOT / "out" / "bench" / "many"


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    rounds: int = 2
    seconds_max: float = 3.0
    """A system reads documents for so long in one pass."""
    documents: int = 300
    checked: int = 5
    """So many documents' matches are compared; fewer where the reference is slow."""


@dataclass(frozen=True)
class Task:
    """Queries in a file, documents, and the mode in which they meet."""

    label: str
    kind: str
    mode: str
    count: int
    queries: Path
    source: dict[str, Any]
    """``files``, or ``workload`` and ``documents``."""


def task_of(workload: Workload, mode: str, count: int, effort: Effort) -> Task:
    """Return the task of a workload's first queries."""
    path = write_queries(OUT, workload.name, workload.queries(count), count)
    words = (workload.schema, workload.kind, workload.selectivity)
    source = {"workload": words, "documents": effort.documents}
    return Task(workload.name, workload.kind, mode, count, path, source)


def systems_for(task: Task, wanted: tuple[str, ...]) -> tuple[list[str], dict[str, str]]:
    """Split the systems into those that take part and the reasons why others do not."""
    fitting, missing = [], {}
    for name in wanted:
        peer = peers.load(name)
        if task.kind not in peer.KINDS or task.mode not in peer.MODES:
            continue
        if task.count not in peer.SUBSCRIPTIONS:
            sizes = peer.SUBSCRIPTIONS
            missing[name] = f"measured from {sizes.start:,} to {sizes.stop - 1:,} subscriptions"
        elif reason := peer.missing():
            missing[name] = reason
        else:
            fitting.append(name)
    return fitting, missing


def run(task: Task, effort: Effort, wanted: tuple[str, ...] = peers.MANY_PEERS) -> dict[str, Any]:
    """Measure a task with all systems and return everything that was seen."""
    names, missing = systems_for(task, wanted)
    entries: dict[str, dict[str, Any]] = {}
    with ExitStack() as stack:
        workers = []
        for name in names:
            _tell(task, name, "loading")
            worker = stack.enter_context(WorkerProcess(name))
            entries[name] = worker.ask(
                "subscribe",
                peer=name,
                mode=task.mode,
                count=task.count,
                queries=str(task.queries),
                **task.source,
            )
            if "error" not in entries[name]:
                entries[name]["rounds"] = []
                workers.append(worker)
        agreement = _compare(task, workers, entries, effort)
        workers = [one for one in workers if "error" not in entries[one.peer]["answers"]]
        for number in range(effort.rounds):
            for worker in workers:
                _tell(task, worker.peer, f"round {number + 1}/{effort.rounds}")
                reply = worker.ask("round", seconds_max=effort.seconds_max)
                entries[worker.peer]["rounds"].append(reply)
            workers = [one for one in workers if "error" not in entries[one.peer]["rounds"][-1]]
    return {
        "label": task.label,
        "kind": task.kind,
        "mode": task.mode,
        "count": task.count,
        "systems": entries,
        "missing": missing,
        **agreement,
    }


def _compare(
    task: Task, workers: list[WorkerProcess], entries: dict[str, Any], effort: Effort
) -> dict[str, Any]:
    """Return how much matches, and whether the systems agree on what."""
    checked = max(1, effort.checked if task.count <= 10_000 else effort.checked // 2)
    found = {}
    for worker in workers:
        _tell(task, worker.peer, "comparing matches")
        reply = worker.ask("answers", count=checked)
        entries[worker.peer]["answers"] = reply
        if "error" not in reply:
            found[worker.peer] = reply
    first = next(iter(found.values()), {"digests": [], "matches": 0, "results": 0})
    return {
        "compared": len(first["digests"]),
        "agrees": all(reply["digests"] == first["digests"] for reply in found.values()),
        "matches": first["matches"] / max(1, len(first["digests"])),
        "results": first["results"] / max(1, len(first["digests"])),
    }


def _tell(task: Task, system: str, what: str) -> None:
    progress(f"{task.label} {task.mode} {task.count:,}: {system}: {what}")


def speed(entry: dict[str, Any], when: str = "cold") -> float | None:
    """Return documents/s in the best round, or None if there is none."""
    rounds = [one for one in entry.get("rounds", ()) if one.get("documents")]
    if not rounds:
        return None
    return max(one["documents"] / one[f"{when}_seconds"] for one in rounds)


def grown_bytes(entry: dict[str, Any]) -> int | None:
    """Return how much the process grew by the queries and the documents, in steady state."""
    sizes = [one["resident_bytes"] for one in entry.get("rounds", ()) if one.get("resident_bytes")]
    return sizes[-1] - entry["before_bytes"] if sizes else None
