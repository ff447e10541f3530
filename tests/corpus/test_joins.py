"""Every case of joined documents, by every engine that joins."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from penstock.results import Document
from penstock_testing.reference import Outcome
from tests.join_engines import JOIN_ENGINES

Case = dict[str, Any]
CORPUS = Path(__file__).resolve().parents[2] / "corpus" / "joins"
FIELDS = {"name", "query", "queries", "documents", "results", "values", "why"}
CASES: list[Case] = [
    case
    for path in sorted(CORPUS.glob("*.toml"))
    for case in tomllib.loads(path.read_text("utf-8"))["case"]
]
ONLY = ""
"""The name of a subscription that is the only one."""


def documents_of(case: Case) -> list[Document]:
    """Return the documents, written as `id stream seconds xml`."""
    made = []
    for line in case["documents"]:
        name, stream, seconds, xml = line.split(" ", 3)
        made.append(Document(xml.encode(), name, stream, float(seconds)))
    return made


def queries_of(case: Case) -> Mapping[str, str]:
    return case["queries"] if "queries" in case else {ONLY: case["query"]}


def results_of(outcomes: list[Outcome], case: Case) -> list[list[str]]:
    """Return outcomes as cases list them; a published event is written `*`."""
    known = {document.id for document in documents_of(case)}
    return sorted(
        [*filter(None, [one.subscription]), *(d if d in known else "*" for d in one.documents)]
        for one in outcomes
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
@pytest.mark.parametrize("engine", list(JOIN_ENGINES))
def test_case(engine: str, case: Case) -> None:
    outcomes = JOIN_ENGINES[engine](queries_of(case), documents_of(case))
    assert results_of(outcomes, case) == sorted(case["results"])
    if "values" in case:
        assert sorted(one.value for one in outcomes) == sorted(case["values"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
@pytest.mark.parametrize("engine", list(JOIN_ENGINES))
def test_case_in_another_order_of_arrival(engine: str, case: Case) -> None:
    documents = documents_of(case)
    Random(case["name"]).shuffle(documents)
    outcomes = JOIN_ENGINES[engine](queries_of(case), documents)
    assert results_of(outcomes, case) == sorted(case["results"])


def test_names_of_cases_are_unique() -> None:
    names = [case["name"] for case in CASES]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case_is_complete(case: Case) -> None:
    assert set(case) <= FIELDS
    assert ("query" in case) != ("queries" in case)
    assert case["why"]
