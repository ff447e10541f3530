"""The joins of the cases beside the checkout, each document as a stream of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lxml import etree

import penstock
from penstock.errors import QueryError

JOINED = {"join/061", "join/067", "join/075"}
"""Those that are loops over several streams; the others count, sort or look for absence."""
ONE_STREAM = {"join/078"}


def test_cases_that_are_loops_over_streams_are_joined(shared: Path) -> None:
    folder = shared / "cases"
    lines = (folder / "joins.jsonl").read_text("utf-8").splitlines()
    cases = {case["id"]: case for case in map(json.loads, lines)}
    assert len(cases) == 10
    for name in JOINED:
        case = cases[name]
        streams = {name[1:]: path for name, path in case["bindings"].items()}
        variables = {name: {"stream": name} for name in streams}
        registry = penstock.Registry()
        registry.add("q", penstock.xquery(case["expression"], variables=variables))
        sources = {name: folder / "docs" / path for name, path in streams.items()}
        rows = [row.value or "" for row in penstock.Engine(registry).run(sources)]
        assert parts("".join(rows)) == parts(case["expected"]["value"])


def test_the_other_cases_are_rejected_with_a_way_out(shared: Path) -> None:
    lines = (shared / "cases" / "joins.jsonl").read_text("utf-8").splitlines()
    for case in map(json.loads, lines):
        if case["id"] in JOINED | ONE_STREAM:
            continue
        variables = {name[1:]: {"stream": name[1:]} for name in case["bindings"]}
        query = penstock.xquery(case["expression"], variables=variables)
        with pytest.raises(QueryError) as caught:
            penstock.Registry().add("q", query)
        assert caught.value.help


def parts(xml: str) -> list[str]:
    """Return the elements in canonical form; their order is that of arrival."""
    root = etree.fromstring(f"<all>{xml}</all>")
    return sorted(etree.tostring(one, method="c14n").decode() for one in root)
