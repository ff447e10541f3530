"""What ran with which version of Spark, as JSON and as the table of the documentation."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.spark.versions.matrix import CAPABILITIES, LACKING, asked_of

Record = dict[str, Any]
"""By version: the release, its packages, and by capability how many tests passed and failed."""


def cells(version: str, outcomes: Path) -> dict[str, dict[str, int]]:
    """Return how the tests of a version ended, by what they show, from a file of JUnit's form."""
    ended = [_ended(case) for case in ET.parse(outcomes).iter("testcase")]
    found = {}
    for name, tests in asked_of(version).items():
        chosen = [how for test, how in ended if any(_is_of(test, given) for given in tests)]
        found[name] = dict(sorted(Counter(chosen).items()))
    return found


def is_green(cell: Mapping[str, int]) -> bool:
    """Return whether something passed, and nothing failed or was skipped."""
    return set(cell) == {"passed"}


def table(record: Record) -> str:
    """Return the table of the documentation."""
    if not record:
        return "No run is recorded yet."
    lines = [
        "| Spark | " + " | ".join(f"`{name}`" if "-" in name else name for name in CAPABILITIES),
        "| --- " * (len(CAPABILITIES) + 1),
    ]
    notes: list[str] = []
    for version, entry in record.items():
        row = [f"{entry['release']}"]
        for name, cell in entry["cells"].items():
            lacking = LACKING.get(version, {}).get(name)
            if lacking is None:
                row.append(_cell(cell, "yes"))
                continue
            _, word, note = lacking
            notes.append(note)
            row.append(f"{_cell(cell, word)} [{len(notes)}]")
        lines.append("| " + " | ".join(row))
    told = [f"[{number}] {note}." for number, note in enumerate(notes, start=1)]
    return "\n".join([*(f"{line} |" for line in lines), "", "  \n".join(told)])


def _cell(cell: Mapping[str, int], word: str) -> str:
    if is_green(cell):
        return f"{word} ({cell['passed']})"
    return ", ".join(f"{count} {how}" for how, count in cell.items()) or "not run"


def _ended(case: ET.Element) -> tuple[str, str]:
    test = f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}"
    for how in ("failure", "error", "skipped"):
        if case.find(how) is not None:
            return test, "skipped" if how == "skipped" else "failed"
    return test, "passed"


def _is_of(test: str, given: str) -> bool:
    return test.partition("[")[0] == given or test.startswith(f"{given}::")
