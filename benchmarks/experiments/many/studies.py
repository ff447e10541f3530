"""The experiments of section 8.4 of the thesis on XPaSS, figures 8.4 to 8.16.

One document of the auction type, queries without values: processing time and memory against the
number of queries, the size of the document, the document type, and the features of queries.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.experiments.many.measure import OUT, Effort, Task, run
from benchmarks.runner import progress
from benchmarks.workloads.documents import DocumentParameters, documents
from benchmarks.workloads.dtd import load_schema
from benchmarks.workloads.sets import VERSION, write_queries
from benchmarks.workloads.subscriptions import QueryParameters, queries
from benchmarks.workloads.xmark import cached

BASE = QueryParameters(length_max=8, wildcard=0.1, descendant=0.2, even=1.0)
MODES = ("filter", "query")
SYSTEMS = ("penstock_many", "yfilter_nfa", "xpass_plain", "xpass_compressed")
MEGABYTE = 10**6


@dataclass(frozen=True)
class Sizes:
    """How large the experiments are."""

    counts: tuple[int, ...] = (10_000, 25_000, 50_000, 100_000)
    factors: tuple[float, ...] = (0.001, 0.0025, 0.005, 0.01)
    count: int = 10_000
    factor: float = 0.005
    typed_count: int = 5_000
    """For the comparison of document types: the flat one has not many more different paths."""
    typed_bytes: int = MEGABYTE


SMALL = Sizes((100, 400), (0.001, 0.002), 400, 0.001, 400, MEGABYTE // 10)


@dataclass(frozen=True)
class Study:
    """One experiment: the numbers of its two figures, and what is varied."""

    figures: str
    title: str
    axis: str
    points: tuple[tuple[str, "Point"], ...]


@dataclass(frozen=True)
class Point:
    """What is measured at one place of the axis."""

    schema: str
    parameters: QueryParameters
    count: int
    document: Path


def studies(sizes: Sizes) -> Iterator[Study]:
    """Yield the experiments."""
    middle = cached(OUT, sizes.factor)

    def asked(parameters: QueryParameters) -> Point:
        return Point("auction", parameters, sizes.count, middle)

    yield Study(
        "8.4, 8.5",
        "number of queries",
        "queries",
        tuple((f"{n}", Point("auction", BASE, n, middle)) for n in sizes.counts),
    )
    by_size = ((f, cached(OUT, f)) for f in sizes.factors)
    yield Study(
        "8.6, 8.7",
        "size of the document",
        "kB",
        tuple(
            (f"{path.stat().st_size / 1000:.0f}", Point("auction", BASE, sizes.count, path))
            for _, path in by_size
        ),
    )
    flat = replace(BASE, length_max=5, wildcard=0.4, descendant=0.4, even=0.0)
    yield Study(
        "8.8",
        "document type",
        "type",
        tuple(
            (schema, Point(schema, flat, sizes.typed_count, path))
            for schema, path in (
                ("dblp", write_flat(sizes.typed_bytes)),
                ("auction", cached(OUT, sizes.typed_bytes / MEGABYTE / 116)),
            )
        ),
    )
    yield Study(
        "8.9, 8.10",
        "wildcards",
        "probability of *",
        tuple((f"{p}", asked(replace(BASE, wildcard=p))) for p in (0.0, 0.1, 0.3, 0.5)),
    )
    yield Study(
        "8.11, 8.12",
        "length of queries",
        "steps",
        tuple((f"{n}", asked(replace(BASE, length_min=n, length_max=n))) for n in (5, 6, 8, 10)),
    )
    yield Study(
        "8.13, 8.14",
        "nested paths",
        "nested paths",
        tuple((f"{n}", asked(replace(BASE, nested_min=n, nested_max=n))) for n in (0, 1, 2, 3)),
    )
    yield Study(
        "8.15, 8.16",
        "descendant axes",
        "probability of //",
        tuple((f"{p}", asked(replace(BASE, descendant=p))) for p in (0.05, 0.2, 0.5, 1.0)),
    )


def write_flat(size_bytes: int) -> Path:
    """Return a bibliography of about this size, written once."""
    path = OUT / f"dblp-v{VERSION}-{size_bytes}.xml"
    if not path.exists():
        OUT.mkdir(parents=True, exist_ok=True)
        entries = size_bytes // 250
        parameters = DocumentParameters(
            depth_max=5, repeats_max=5, elements_max=entries * 10, values_max=1000
        )
        parts, size = [], 0
        # One entry list after the other under one root: no draw is as long as the whole.
        for document in documents(load_schema("dblp"), parameters, entries):
            inner = document[document.index(b"<dblp>") + 6 : document.rindex(b"</dblp>")]
            parts.append(inner)
            size += len(inner)
            if size >= size_bytes:
                break
        path.write_bytes(b"<dblp>" + b"\n".join(parts) + b"</dblp>\n")
    return path


def measure(study: Study, effort: Effort) -> dict[str, Any]:
    """Run one experiment and return what was seen."""
    points = []
    for place, point in study.points:
        progress(f"figures {study.figures}: {study.axis} {place}")
        tasks = [run(task_of_point(point, mode), effort, SYSTEMS) for mode in MODES]
        points.append({"at": place, "tasks": tasks})
    return {"figures": study.figures, "title": study.title, "axis": study.axis, "points": points}


def task_of_point(point: Point, mode: str) -> Task:
    """Return a point's task in one mode."""
    p = point.parameters
    name = (
        f"{point.schema}-L{p.length_min}-{p.length_max}-w{p.wildcard}-d{p.descendant}"
        f"-n{p.nested_min}-e{p.even}"
    )
    texts = queries(load_schema(point.schema), p, point.count)
    path = write_queries(OUT, name, texts, point.count)
    kind = "nested" if p.nested_max else "path"
    return Task(name, kind, mode, point.count, path, {"files": [str(point.document)]})
