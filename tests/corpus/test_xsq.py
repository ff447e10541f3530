"""The queries of the thesis on XSQ mean in its dialect what their plain forms mean."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

import penstock
from penstock.languages.xpath import xpath
from penstock_testing.reference import evaluate
from penstock_testing.tree import parse
from tests.engines import describe

Case = dict[str, Any]
FIELDS = {"figure", "query", "plain", "document"}
CORPUS = Path(__file__).resolve().parents[2] / "corpus" / "xsq" / "queries.toml"
TABLES = tomllib.loads(CORPUS.read_text("utf-8"))
DOCUMENTS: dict[str, str] = TABLES["documents"]
CASES: list[Case] = TABLES["case"]
EACH = pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case['figure']}-{case['query']}-{case['document']}"
)


def expected(case: Case) -> object:
    """Return the values of the nodes, or the number of an output function."""
    return case["values"] if "values" in case else case["value"]


@EACH
def test_one_query_gives_its_answer(case: Case) -> None:
    query = penstock.xpath(case["query"], dialect="xsq")
    found = penstock.evaluate(query, DOCUMENTS[case["document"]])
    assert ([row.value for row in found] if isinstance(found, list) else found) == expected(case)


@EACH
def test_the_reference_gives_its_answer(case: Case) -> None:
    tree = parse(DOCUMENTS[case["document"]].encode())
    found = evaluate(xpath(case["query"], dialect="xsq"), tree)
    if isinstance(found, list):
        found = [describe(node, tree)[3] for node in found]
    assert found == expected(case)


@EACH
def test_libxml2_gives_its_answer_to_the_plain_query(case: Case) -> None:
    root = etree.fromstring(DOCUMENTS[case["document"]])
    found: Any = root.getroottree().xpath(case["plain"])
    if isinstance(found, list):
        found = [one if isinstance(one, str) else etree.tostring(one).decode() for one in found]
    assert found == expected(case)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_all_standing_queries_give_their_answers_in_one_pass(name: str) -> None:
    registry = penstock.Registry()
    wanted = {}
    for case in CASES:
        if case["document"] == name:
            registry.add(case["query"], penstock.xpath(case["query"], dialect="xsq"))
            found = expected(case)
            wanted[case["query"]] = found if isinstance(found, list) else [f"{found:g}"]
    assert wanted, "each document has a query"
    results: dict[str, list[str]] = {query: [] for query in wanted}
    for row in penstock.Engine(registry).run(DOCUMENTS[name], order="document"):
        results[row.subscription].append(row.value)
    assert results == wanted


@EACH
def test_case_is_complete(case: Case) -> None:
    assert set(case) - {"values", "value"} == FIELDS
