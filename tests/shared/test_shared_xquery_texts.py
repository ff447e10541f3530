"""The XQuery cases beside the checkout: few are rejected, static errors have the right code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from penstock.errors import QueryError
from penstock.languages.xquery import xquery
from penstock.planning.sequences.variables import check_bound
from penstock.twigs.printing import print_query

Case = dict[str, Any]
FILES = ("qt3.jsonl", "flwr.jsonl", "joins.jsonl")
REJECTED_MAX = 0.06
CASES_MIN = 700


def cases(folder: Path) -> Iterator[Case]:
    for file in FILES:
        for line in (folder / file).read_text("utf-8").splitlines():
            case = json.loads(line)
            if case["level"] == "xquery1":
                yield case


def options(case: Case) -> dict[str, Any]:
    documents = {name[1:]: {"stream": path} for name, path in case["bindings"].items()}
    return {"namespaces": case["namespaces"], "variables": documents}


def codes_of(case: Case) -> list[str]:
    expected = case["expected"]
    return expected["value"] if expected["kind"] == "error" else []


def test_at_most_a_few_cases_are_rejected_and_each_names_its_construct(shared: Path) -> None:
    total, rejections = 0, []
    for case in cases(shared / "cases"):
        total += 1
        try:
            xquery(case["expression"], **options(case))
        except QueryError as error:
            if error.xquery_code not in codes_of(case):
                rejections.append((case["id"], error.code))
    assert total >= CASES_MIN
    assert len(rejections) <= total * REJECTED_MAX, rejections
    assert {code for _, code in rejections} <= {"PQ0501"}


def test_static_errors_are_found_with_the_right_code(shared: Path) -> None:
    missed, found = [], 0
    for case in cases(shared / "cases"):
        static = [code for code in codes_of(case) if code.startswith(("XPST", "XQST"))]
        if not static:
            continue
        try:
            check_bound(xquery(case["expression"], **options(case)))
            missed.append((case["id"], static))
        except QueryError as error:
            found += error.xquery_code in codes_of(case)
    assert missed == []
    assert found >= 50


def test_printed_queries_are_queries_that_ask_the_same(shared: Path) -> None:
    compared = 0
    for case in cases(shared / "cases"):
        try:
            query = xquery(case["expression"], **options(case))
        except QueryError:
            continue
        if "namespace" not in query.text and "xmlns" not in query.text:
            assert xquery(print_query(query)) == query, case["id"]
            compared += 1
    assert compared >= 600
