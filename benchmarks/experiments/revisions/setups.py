"""What is measured, and the files that both revisions read.

A *setup* is what one process of a revision prepares; its *workloads* are the runs that follow.
Files hold plain bytes and texts, so that both revisions get the same input. A run takes one to
three seconds of core time.
"""

import json
import pickle
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.spark_session import prepare_documents
from benchmarks.workloads import joins, messages, sets
from benchmarks.workloads.mixed import item_paths
from benchmarks.workloads.queries import QUERIES
from benchmarks.workloads.xmark import cached

SLOWER_MAX = 1.05
FASTER_MIN = 1.5
SMOKE_SHARE = 100
WINDOW, APART_SECONDS = "10 s", 1_000.0
REVERSE = ("Q4", "Q5")
"""Their axes are rewritten; the others are asked as they are."""

Request = dict[str, Any]


@dataclass(frozen=True)
class Scale:
    """Where files go, and which part of everything is measured."""

    folder: Path
    share: int = 1

    def __call__(self, number: int) -> int:
        return max(8, number // self.share)


@dataclass(frozen=True)
class Workload:
    """Runs of one kind: what the worker is asked, and how long the new revision may take."""

    name: str
    run: Callable[[Scale], Request]
    ratio_max: float = SLOWER_MAX
    """At most so much of the old revision's core time."""


@dataclass(frozen=True)
class Setup:
    """What a worker prepares for some workloads."""

    name: str
    task: str
    prepare: Callable[[Scale], Request]
    """Write the files; return what the worker must know."""
    workloads: tuple[Workload, ...]


def setups() -> list[Setup]:
    """Return everything that can be measured."""
    return [
        single(),
        many(
            "paths",
            sets.Workload("nitf", "path", "unselective"),
            "filter",
            matches=5_000,
            batches=800,
        ),
        many(
            "paths",
            sets.Workload("nitf", "path", "unselective"),
            "query",
            matches=1_500,
            batches=80,
        ),
        many("rare-paths", sets.Workload("nitf", "path", "selective"), "filter", batches=8_000),
        many("twigs", sets.Workload("nitf", "twig", "unselective"), "filter", matches=500),
        many("twigs", sets.Workload("nitf", "twig", "unselective"), "query", matches=500),
        many("templates", sets.Workload("nitf", "template", "selective"), "filter", matches=12_000),
        many("templates", sets.Workload("nitf", "template", "selective"), "query", matches=12_000),
        figure_8(),
        figure_11(),
        figure_16(),
        mixed(),
        spark(),
    ]


def single() -> Setup:
    """One query over 110 MB."""
    queries = {query.name: query.text for query in QUERIES if query.name not in REVERSE}

    def prepare(scale: Scale) -> Request:
        return {"document": str(cached(scale.folder.parent, 1 / scale.share)), "queries": queries}

    def workload(query: str) -> Workload:
        return Workload(f"single-{query}", lambda _scale: {"query": query, "times": 10})

    return Setup("single", "single", prepare, tuple(map(workload, queries)))


def many(name: str, drawn: sets.Workload, mode: str, **documents: int) -> Setup:
    """100,000 subscriptions of a set, in one mode; ``documents`` of each call."""

    def prepare(scale: Scale) -> Request:
        texts = drawn.queries(scale(100_000))
        lines = ({"query": text, "mode": mode} for text in texts)
        return {
            "subscriptions": write_lines(scale, f"{name}-{mode}", lines),
            "documents": write_pickle(scale, name, list(drawn.documents(scale(800)))),
            "calls": list(documents),
        }

    def workload(call: str, count: int) -> Workload:
        is_bundled = call == "batches" and mode == "filter"
        return Workload(
            f"{'many' if call == 'matches' else call}-{name}-{mode}",
            lambda scale: {"call": call, "documents": scale(count)},
            1 / FASTER_MIN if is_bundled else SLOWER_MAX,
        )

    workloads = tuple(workload(call, count) for call, count in documents.items())
    return Setup(f"{name}-{mode}", "many", prepare, workloads)


def figure_8() -> Setup:
    """Pairs of documents of two levels."""

    def prepare(scale: Scale) -> Request:
        texts = joins.two_levels(scale(10_000), 8, 0.8, WINDOW)
        documents = [joins.flat_document(8, number // 2) for number in range(scale(5_000))]
        return stream(scale, "joins-8", xscl(texts), in_pairs(documents), lateness=0)

    return Setup("joins-8", "stream", prepare, (reading("joins-8"),))


def figure_11() -> Setup:
    """Pairs of documents of three levels."""

    def prepare(scale: Scale) -> Request:
        texts = joins.three_levels(scale(10_000), 4, 0.8, WINDOW)
        documents = [joins.nested_document(number // 2) for number in range(scale(6_000))]
        return stream(scale, "joins-11", xscl(texts), in_pairs(documents), lateness=0)

    return Setup("joins-11", "stream", prepare, (reading("joins-11"),))


def figure_16() -> Setup:
    """A stream of items."""

    def prepare(scale: Scale) -> Request:
        texts = joins.item_queries(scale(10_000))
        return stream(scale, "joins-16", xscl(texts), in_turn(joins.items(scale(25_000))))

    return Setup("joins-16", "stream", prepare, (reading("joins-16"),))


def mixed() -> Setup:
    """Subscriptions that join items and subscriptions that select parts of each."""
    ratio_max = 1 / FASTER_MIN

    def prepare(scale: Scale) -> Request:
        items = joins.items(scale(20_000))
        paths = ({"query": text} for text in item_paths(scale(2_000), len(items)))
        lines = [*paths, *xscl(joins.item_queries(scale(1_000)))]
        return stream(scale, "mixed", lines, in_turn(items), ("steps", "batches"))

    workloads = (
        reading("mixed-run", ratio_max=ratio_max),
        reading("mixed-batches", "batches", ratio_max),
    )
    return Setup("mixed", "stream", prepare, workloads)


def spark() -> Setup:
    """10,000 subscriptions on Spark."""

    def prepare(scale: Scale) -> Request:
        lines = ({"query": text} for text in messages.queries(scale(10_000)))
        return {
            "subscriptions": write_lines(scale, "spark", lines),
            "documents": str(prepare_documents(scale(60_000))),
        }

    return Setup("spark", "spark", prepare, (Workload("spark", lambda _scale: {}),))


def reading(name: str, call: str = "steps", ratio_max: float = SLOWER_MAX) -> Workload:
    """Return the workload that reads on in a stream."""
    return Workload(name, lambda _scale: {"call": call}, ratio_max)


def stream(
    scale: Scale,
    name: str,
    subscriptions: Iterable[Request],
    documents: list[tuple[bytes, float]],
    calls: tuple[str, ...] = ("steps",),
    lateness: float | None = None,
) -> Request:
    """Write subscriptions and documents with their times."""
    return {
        "subscriptions": write_lines(scale, name, subscriptions),
        "documents": write_pickle(scale, name, documents),
        "calls": calls,
        "lateness": lateness,
    }


def in_pairs(documents: list[bytes]) -> list[tuple[bytes, float]]:
    """Return documents with times: two within a window, far apart from the next two."""
    return [
        (data, number // 2 * APART_SECONDS + number % 2) for number, data in enumerate(documents)
    ]


def in_turn(documents: list[bytes]) -> list[tuple[bytes, float]]:
    """Return documents with times, one each second."""
    return [(data, float(number)) for number, data in enumerate(documents)]


def xscl(texts: Iterable[str]) -> list[Request]:
    """Return subscriptions in XSCL."""
    return [{"query": text, "language": "xscl"} for text in texts]


def write_lines(scale: Scale, name: str, subscriptions: Iterable[Request]) -> str:
    """Return the path of subscriptions, written as lines of JSON."""
    path = scale.folder / f"{name}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number, subscription in enumerate(subscriptions):
            file.write(json.dumps({"name": f"q{number}", **subscription}) + "\n")
    return str(path)


def write_pickle(scale: Scale, name: str, documents: list[Any]) -> str:
    """Return the path of documents, written as both revisions read them."""
    path = scale.folder / f"{name}.pickle"
    path.write_bytes(pickle.dumps(documents, protocol=4))
    return str(path)
