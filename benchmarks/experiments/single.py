"""One query over one document: time, throughput and peak memory beside the peers.

Systems take turns within each round, so that a slow spell of the machine meets all of them.
Every measurement has its own process (see ``benchmarks.child`` for what is timed).
"""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import peers
from benchmarks.runner import ask, progress
from benchmarks.workloads.queries import QUERIES, Query

REFERENCE = "lxml_tree"
RUNS = 3
CHILD = "benchmarks.child"
MEMORY_QUERIES = ("Q1", "Q8")


def available(modules: tuple[str, ...]) -> tuple[list[str], dict[str, str]]:
    """Split the systems into those that run here and the reasons why others do not."""
    missing = {name: peers.load(name).missing() for name in modules}
    absent = {name: reason for name, reason in missing.items() if reason}
    return [name for name in modules if name not in absent], absent


def request(task: str, peer: str, query: Query | None, path: Path, runs: int) -> dict[str, Any]:
    """Return one request to a measuring process."""
    return {
        "task": task,
        "peer": peer,
        "query": asdict(query) if query else None,
        "path": str(path.resolve()),
        "runs": runs,
    }


def verify(systems: list[str], path: Path, queries: Sequence[Query]) -> dict[str, dict[str, Any]]:
    """Return each system's answer to each query and whether it is the reference's."""
    answers: dict[str, dict[str, Any]] = {}
    for query in queries:
        progress(f"verifying {query.name} on {path.name}")
        replies = {
            name: ask(CHILD, request("verify", name, query, path, 1))
            for name in systems
            if hasattr(peers.load(name), "values")
        }
        for reply in replies.values():
            reply["agrees"] = "error" not in reply and all(
                reply.get(key) == replies[REFERENCE].get(key) for key in ("count", "digest")
            )
        answers[query.name] = replies
    return answers


def time_all(
    systems: list[str],
    parsers: list[str],
    path: Path,
    rounds: Sequence[int],
    queries: Sequence[Query],
) -> list[dict[str, Any]]:
    """Return the seconds of every run, one entry per round, query and system."""
    entries = []
    # Parsers take a turn beside every query: they meet the same spells of the machine.
    tasks: list[tuple[str, Query | None]] = []
    for query in queries:
        tasks += [(name, None) for name in parsers]
        tasks += [(name, query) for name in systems]
    for number in rounds:
        for name, query in tasks:
            slow = getattr(peers.load(name), "IS_SLOW", False)
            if slow and number % 3:
                continue
            label = query.name if query else "parse"
            progress(f"round {number + 1}  {path.name}  {label:5}  {name}")
            reply = ask(CHILD, request("time", name, query, path, 1 if slow else RUNS))
            entries.append({"round": number, "query": label, "system": name, **reply})
    return entries


def memory(systems: list[str], path: Path, queries: Sequence[Query]) -> list[dict[str, Any]]:
    """Return the peak memory of each system that reads the document from its file."""
    entries = []
    for query in queries:
        for name in systems:
            if not hasattr(peers.load(name), "prepare_file"):
                continue
            progress(f"memory  {path.name}  {query.name}  {name}")
            reply = ask(CHILD, request("memory", name, query, path, 1))
            entries.append({"query": query.name, "system": name, **reply})
    return entries


def described(systems: list[str]) -> dict[str, dict[str, str]]:
    """Return the names of systems and what is timed of each."""
    return {
        name: {"name": peers.load(name).NAME, "what": peers.load(name).TIMED} for name in systems
    }


def listed(queries: Sequence[Query]) -> dict[str, dict[str, str]]:
    """Return the texts of queries and how their answers are compared."""
    return {query.name: {"text": query.text, "compare": query.compare} for query in queries}


def run(documents: dict[str, Path], rounds: int) -> dict[str, Any]:
    """Measure all documents and return everything that was seen."""
    systems, absent = available(peers.QUERY_PEERS)
    parsers, absent_parsers = available(peers.PARSE_PEERS)
    remembered = [query for query in QUERIES if query.name in MEMORY_QUERIES]
    result: dict[str, Any] = {
        "rounds": rounds,
        "missing": absent | absent_parsers,
        "timed": described(systems + parsers),
        "queries": listed(QUERIES),
        "documents": {},
    }
    for label, path in documents.items():
        result["documents"][label] = {
            "bytes": path.stat().st_size,
            "answers": verify(systems, path, QUERIES),
            "times": time_all(systems, parsers, path, range(rounds), QUERIES),
            "memory": memory(systems, path, remembered),
        }
    return result
