"""Every case of the corpus, by every engine."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any
from xml.parsers.expat import ExpatError

import pytest

from penstock.errors import DocumentError, QueryError
from tests.engines import BESIDE, ENGINES

Case = dict[str, Any]
CORPUS = Path(__file__).resolve().parents[2] / "corpus"
EXPECTATIONS = {"spans", "values", "value", "bindings", "error"}
OPTIONS = {"context", "variables"}
FIELDS = {"name", "language", "query", "document", "namespaces", "select", "why"}
CASES: list[Case] = [
    case
    for path in sorted(CORPUS.glob("*.toml"))
    for case in tomllib.loads(path.read_text("utf-8"))["case"]
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
@pytest.mark.parametrize("engine", list(ENGINES))
def test_case(engine: str, case: Case) -> None:
    ask = ENGINES[engine]
    document = case["document"].encode()
    namespaces = case.get("namespaces", {})
    if "error" in case:
        raised = (DocumentError, ExpatError) if case["error"] == "document" else QueryError
        with pytest.raises(raised) as error:
            ask(case["query"], document, namespaces)
        if raised is QueryError:
            assert error.value.code == case["error"]
        return
    options = {name: case[name] for name in OPTIONS & set(case)}
    answer = ask(case["query"], document, namespaces, **options)
    if "value" in case:
        assert type(answer) is type(case["value"])
        assert answer == case["value"] or repr(answer) == repr(case["value"]) == "nan"
        return
    assert isinstance(answer, list)
    if "spans" in case:
        assert [[start, end] for _, start, end, _ in answer] == case["spans"]
    if "values" in case:
        assert [value for *_, value in answer] == case["values"]
    if "bindings" in case:
        select = case["select"]
        # What is missing is null, and has no key in the case.
        expected = [dict.fromkeys(select) | bound for bound in case["bindings"]]
        assert BESIDE[engine](case["query"], document, select) == expected


def test_names_of_cases_are_unique() -> None:
    names = [case["name"] for case in CASES]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case_is_complete(case: Case) -> None:
    assert set(case) <= FIELDS | OPTIONS | EXPECTATIONS
    assert EXPECTATIONS & set(case)
    assert case["why"]
