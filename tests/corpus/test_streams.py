"""Every case of arrivals in their order, by everybody who joins documents as they come."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.joins import JoinOptions
from penstock.results import Document, Heartbeat

Case = dict[str, Any]
CORPUS = Path(__file__).resolve().parents[2] / "corpus" / "streams"
FIELDS = set("name query queries lateness depth_max arrivals results errors why".split())
CASES: list[Case] = [
    case
    for path in sorted(CORPUS.glob("*.toml"))
    for case in tomllib.loads(path.read_text("utf-8"))["case"]
]
ONLY = "only"
END = "end"

Row = dict[str, Any]
Told = Iterator[tuple[str, Row]]
"""Rows, each with the arrival that completed it."""


def arrivals_of(case: Case) -> list[tuple[str, Document | Heartbeat]]:
    """Return what arrives, by name."""
    made: list[tuple[str, Document | Heartbeat]] = []
    for line in case["arrivals"]:
        name, stream, seconds, *xml = line.split(" ", 3)
        if xml:
            made.append((name, Document(xml[0].encode(), name, stream, float(seconds))))
        else:
            made.append((name, Heartbeat(stream, float(seconds))))
    return made


def registry_of(case: Case) -> penstock.Registry:
    registry = penstock.Registry()
    for name, text in case.get("queries", {ONLY: case.get("query")}).items():
        registry.add(name, penstock.xscl(text))
    return registry


def run_engine(options: JoinOptions) -> Callable[[Case, Path], Told]:
    """Return what runs a case in this process."""

    def run(case: Case, folder: Path) -> Told:
        arrived = ""

        def source() -> Iterator[Document | Heartbeat]:
            nonlocal arrived
            for name, item in arrivals_of(case):
                arrived = name
                yield item
            arrived = END

        limits = penstock.Limits(**{key: case[key] for key in case if key.endswith("_max")})
        engine = penstock.Engine(registry_of(case), limits, case.get("lateness"), joins=options)
        for row in engine.run(source()):
            yield arrived, {name: getattr(row, name) for name in penstock.results.COLUMNS}

    return run


ENGINES = {
    "engine": run_engine(JoinOptions()),
    "engine, spilling": run_engine(JoinOptions(state_bytes_max=1)),
}


def told(case: Case, rows: Told) -> tuple[list[str], list[str]]:
    """Return results and errors as cases list them; a published event is written `*`."""
    results, errors = [], []
    known = {name for name, _ in arrivals_of(case)}
    for arrived, row in rows:
        subscription = [] if row["subscription"] in (None, ONLY) else [row["subscription"]]
        if row["kind"] == "error":
            assert (row["source"] is None) == (row["subscription"] is not None)
            error = row["error"]
            code = error["code"] if isinstance(error, dict) else error.code
            errors.append(" ".join([*subscription, row["document"], code]))
        else:
            documents = [one if one in known else "*" for one in row["documents"]]
            results.append(f"{arrived}: {' '.join([*subscription, *documents])}")
    return sorted(results), sorted(errors)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
@pytest.mark.parametrize("engine", list(ENGINES))
def test_case(engine: str, case: Case, tmp_path: Path) -> None:
    results, errors = told(case, ENGINES[engine](case, tmp_path))
    assert results == sorted(case["results"])
    assert errors == sorted(case["errors"])


def test_names_of_cases_are_unique() -> None:
    names = [case["name"] for case in CASES]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case_is_complete(case: Case) -> None:
    assert set(case) <= FIELDS
    assert ("query" in case) != ("queries" in case)
    assert case["why"]
