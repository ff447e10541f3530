"""The chart of the README, drawn from benchmark records: one query, and many, against the peers.

`python -m benchmarks.chart` writes it again. A test compares it with the records.
"""

from __future__ import annotations

import json
from html import escape
from operator import itemgetter
from pathlib import Path
from typing import Any

from benchmarks.statistics import best, collect, geometric_mean

RECORDS = Path(__file__).parent / "records"
SINGLE = RECORDS / "2026-11-15-single.json"
MANY = RECORDS / "2026-11-16-many-three-sets.json"
CHART = Path(__file__).parents[1] / "docs" / "speed.svg"

_ONE = ("penstock_batches", "simdxml_batch", "pugixml_tree", "lxml_tree", "saxonche_tree")
_MANY = ("penstock_many", "yfilter_nfa", "lxml_loop")
_MANY_NAMES = {"penstock_many": "Penstock", "yfilter_nfa": "YFilter", "lxml_loop": "lxml loop"}
_DOCUMENT = "110 MB"
_SET = ("nitf-path-unselective", "filter")

_WIDTH, _LABEL, _BAR, _GAP = 760, 130, 22, 10

Bars = list[tuple[str, float]]


def single_bars() -> Bars:
    """Return MB/s of one query over one document: the geometric mean over the queries."""
    record = json.loads(SINGLE.read_text())["single"]
    document = record["documents"][_DOCUMENT]
    times = collect(document["times"])
    bars = []
    for system in _ONE:
        runs = [times[system, query] for query in record["queries"]]
        speeds = [document["bytes"] / 1e6 / best(one) for one in runs]
        bars.append((record["timed"][system]["name"], geometric_mean(speeds)))
    return sorted(bars, key=itemgetter(1), reverse=True)


def many_bars() -> Bars:
    """Return documents per second of core time with 100,000 queries."""
    tasks: list[dict[str, Any]] = json.loads(MANY.read_text())["tasks"]
    (task,) = [task for task in tasks if (task["label"], task["mode"]) == _SET]
    bars = []
    for system in _MANY:
        rounds = task["systems"][system]["rounds"]
        speed = max(one["documents"] / one["cold_seconds"] for one in rounds)
        bars.append((_MANY_NAMES[system], speed))
    return sorted(bars, key=itemgetter(1), reverse=True)


def draw() -> str:
    """Return the chart as SVG."""
    lines: list[str] = []
    y = _panel(lines, 0, "One query, one document of 118 MB in memory: MB/s", single_bars())
    title = "100,000 path queries, small documents: documents per second of core time"
    height = _panel(lines, y + 20, title, many_bars())
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" font-size="13">'
    )
    ground = f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>'
    return "\n".join([head, ground, *lines, "</svg>"]) + "\n"


def _panel(lines: list[str], y: int, title: str, bars: Bars) -> int:
    """Add a title and bars; return where they end."""
    lines.append(f'<text x="8" y="{y + 22}" font-weight="bold">{escape(title)}</text>')
    y += 36
    longest = max(value for _, value in bars)
    for name, value in bars:
        width = max(1, round((_WIDTH - _LABEL - 90) * value / longest))
        colour = "#1f6feb" if name == "Penstock" else "#9aa4b1"
        middle = y + _BAR - 6
        lines += [
            f'<text x="{_LABEL - 8}" y="{middle}" text-anchor="end">{escape(name)}</text>',
            f'<rect x="{_LABEL}" y="{y}" width="{width}" height="{_BAR}" fill="{colour}"/>',
            f'<text x="{_LABEL + width + 6}" y="{middle}">{_number(value)}</text>',
        ]
        y += _BAR + _GAP
    return y


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


if __name__ == "__main__":
    CHART.write_text(draw())
