"""What runs of the broker's benchmark found, as a page, a file and pictures."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.broker.copies import Delivery
from benchmarks.broker.copies import page as copies_page
from benchmarks.broker.figures import Part
from benchmarks.broker.plots import draw
from benchmarks.report import table

Run = dict[str, Any]
"""A run as JSON: command, machine, plans with their times, ratios, figures and copies."""


def write(runs: Sequence[Run], path: Path) -> None:
    """Write runs, their page and their figures beside each other."""
    result = runs[0] if len(runs) == 1 else {"runs": list(runs)}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    path.with_suffix(".md").write_text(page(runs), "utf-8")
    figures = [part for run in runs for part in _figures(run)]
    if figures:
        draw(figures, path.with_suffix(".png"))


def page(runs: Sequence[Run]) -> str:
    """Return the measurements of runs as a page."""
    sections = ["# The message broker"]
    for run in runs:
        sections.append(f"`{run['command']}`, {run['machine']}")
        if run["plans"]:
            head = ["", "plans", "MaxValue", "strategy", "rows", "messages", "MB"]
            head += ["ms up to the lists", "with messages", "with parsing"]
            lines = [line for plan in run["plans"] for line in _lines(plan)]
            sections.append("\n".join(table(head, lines)))
        if run["ratios"]:
            ratios = [
                [words, f"{ratio:,.2f}", f"{least:,.1f}" if least else "–"]
                for words, ratio, least in run["ratios"]
            ]
            sections.append("\n".join(table(["ratio", "measured", "at least"], ratios)))
        sections += [part.page() for part in _figures(run)]
        if copies := run.get("copies"):
            sections.append(copies_page([Delivery(**one) for one in copies]))
    return "\n\n".join(sections) + "\n"


def _figures(run: Run) -> list[Part]:
    return [Part(**part) for part in run["figures"]]


def _lines(plan: dict[str, Any]) -> Iterator[list[str]]:
    workload = plan["workload"]
    for name, one in plan.items():
        if name == "workload":
            continue
        yield [
            f"{workload['name']}, RP {workload['returns']}",
            f"{workload['count']:,}",
            f"{workload['values']}",
            name,
            f"{one['rows']:,.0f}",
            f"{one['distinct']:,.0f}",
            f"{one['megabytes']:.2f}",
            f"{one['asking']:.3f}",
            f"{one['asking'] + one['messages']:.3f}",
            f"{one['reading']:.3f}",
        ]
