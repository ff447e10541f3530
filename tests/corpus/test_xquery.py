"""Every case of XQuery, by every engine."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import QueryError
from penstock_testing.sequences import DynamicError
from penstock_testing.sequences.describing import WHOLE, Described, canonical, shorten
from tests.xquery_engines import ENGINES, ROWS, comparable

Case = dict[str, Any]
CORPUS = Path(__file__).resolve().parents[2] / "corpus" / "xquery"
EXPECTATIONS = {"items", "rows", "error"}
OPTIONS = {"untyped", "empty", "namespaces", "variables"}
FIELDS = {"name", "query", "document", "why"}
NODES = {*WHOLE, "attribute", "text", "comment", "processing-instruction"}
WITHOUT_COUNTERPART = {
    "untypedAtomic": "string",
    "anyURI": "string",
    "QName": "string",
    "time": "string",
    "yearMonthDuration": "string",
    "float": "double",
}
"""Types whose values come back as values of another type."""
CASES: list[Case] = [
    case
    for path in sorted(CORPUS.glob("*.toml"))
    for case in tomllib.loads(path.read_text("utf-8"))["case"]
]
EMPTY = "<r/>"


def described(items: list[list[str]]) -> list[Described]:
    """Return the items that a case expects, as engines describe theirs; names do not count."""
    return [
        (kind, "", canonical(value) if kind in WHOLE else value)
        if kind in NODES
        else ("", WITHOUT_COUNTERPART.get(kind, kind), shorten(value))
        for kind, value in items
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
@pytest.mark.parametrize("engine", list(ENGINES))
def test_case(engine: str, case: Case) -> None:
    document = case.get("document", EMPTY).encode()
    options = {name: case[name] for name in OPTIONS & set(case)}
    if "error" in case:
        with pytest.raises((DynamicError, QueryError)) as error:
            ENGINES[engine](case["query"], document, {}, **options)
        found: Any = error.value
        code = found.code if isinstance(found, DynamicError) else found.xquery_code
        assert code == case["error"]
    if "items" in case:
        answer = ENGINES[engine](case["query"], document, {}, **options)
        nameless = [(kind, "" if kind else name, value) for kind, name, value in answer.items]
        assert nameless == described(case["items"])
    if "rows" in case:
        rows = ROWS[engine](case["query"], document, **options)
        assert rows == [(kind, comparable(kind, value)) for kind, value in case["rows"]]


def test_names_of_cases_are_unique() -> None:
    names = [case["name"] for case in CASES]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case_is_complete(case: Case) -> None:
    assert set(case) <= FIELDS | OPTIONS | EXPECTATIONS
    assert EXPECTATIONS & set(case)
    assert case["why"]
