"""The XSCL cases beside the checkout, through the engine."""

from __future__ import annotations

import json
from pathlib import Path

import penstock
from penstock_testing.tree import parse
from tests.shared.test_shared_joins import arrivals_of, doubtful, expected_pairs


def test_the_engine_joins_the_expected_pairs(shared: Path) -> None:
    for line in (shared / "cases" / "xscl.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        stream = parse((shared / "cases" / "docs" / case["xscl"]["stream"]).read_bytes())
        arrivals = arrivals_of(stream)
        documents = [
            penstock.Document(one.tree.text(one.tree.root), one.id, "S", one.time)
            for one in arrivals
        ]
        registry = penstock.Registry()
        registry.add("case", penstock.xscl(case["xscl"]["query"]))
        found = {row.documents for row in penstock.Engine(registry).run(documents)}
        assert found - doubtful(arrivals) == expected_pairs(case) - doubtful(arrivals), case["id"]
