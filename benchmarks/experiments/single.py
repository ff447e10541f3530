"""One query over one document: time, throughput and peak memory beside the peers.

Systems take turns within each round, so that a slow spell of the machine meets all of them.
Every measurement has its own process (see ``benchmarks.child`` for what is timed). A system that
gives no answer to a query in time is named and not timed with it.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import peers
from benchmarks.patience import Patience
from benchmarks.runner import progress
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


def verify(
    systems: list[str], path: Path, queries: Sequence[Query], patience: Patience
) -> dict[str, dict[str, Any]]:
    """Return each system's answer to each query and whether it is the reference's."""
    answers: dict[str, dict[str, Any]] = {}
    for query in queries:
        progress(f"verifying {query.name} on {path.name}")
        replies = {
            name: patience.ask(
                (name, query.name, path), CHILD, request("verify", name, query, path, 1)
            )
            for name in systems
            if hasattr(peers.load(name), "values")
        }
        expected = expected_answer(replies)
        for reply in replies.values():
            reply["agrees"] = "error" not in reply and _answer(reply) == expected
        answers[query.name] = replies
    return answers


def expected_answer(replies: dict[str, dict[str, Any]]) -> tuple[Any, ...] | None:
    """Return the reference's answer, or that of most others if it has none."""
    given = {name: _answer(reply) for name, reply in replies.items() if "error" not in reply}
    if REFERENCE in given:
        return given[REFERENCE]
    return next((answer for answer, _ in Counter(given.values()).most_common(1)), None)


def _answer(reply: dict[str, Any]) -> tuple[Any, ...]:
    return reply.get("count"), reply.get("digest")


def time_all(
    systems: list[str],
    parsers: list[str],
    path: Path,
    rounds: Sequence[int],
    queries: Sequence[Query],
    patience: Patience,
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
            asked = request("time", name, query, path, 1 if slow else RUNS)
            reply = patience.ask((name, label, path), CHILD, asked)
            entries.append({"round": number, "query": label, "system": name, **reply})
    return entries


def memory(
    systems: list[str], path: Path, queries: Sequence[Query], patience: Patience
) -> list[dict[str, Any]]:
    """Return the peak memory of each system that reads the document from its file."""
    entries = []
    for query in queries:
        for name in systems:
            if not hasattr(peers.load(name), "prepare_file"):
                continue
            progress(f"memory  {path.name}  {query.name}  {name}")
            asked = request("memory", name, query, path, 1)
            reply = patience.ask((name, query.name, path), CHILD, asked)
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
    patience = Patience()
    for label, path in documents.items():
        result["documents"][label] = {
            "bytes": path.stat().st_size,
            "answers": verify(systems, path, QUERIES, patience),
            "times": time_all(systems, parsers, path, range(rounds), QUERIES, patience),
            "memory": memory(systems, path, remembered, patience),
        }
    return result
