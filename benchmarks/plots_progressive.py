"""The measurements of progressive joins as pictures, beside what the paper says of each figure."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import Any

CLAIMS = {
    "4": "all methods perform similarly: the values are uniform",
    "5a": "RRPJ is far ahead of RPJ and random, for all factors",
    "5b": "RRPJ is far ahead of RPJ",
    "6": "RRPJ is ahead of RPJ once a quarter has arrived",
    "8": "RRPJ is always ahead of RPJ, which is behind random at 0.8",
    "9": "RoP needs fewer probes and less time than sequential, nearly as few as a priori",
}
"""What the paper says of each figure."""
COLORS = {
    "infinite": "#8d8d8d",
    "auto": "#0b5c85",
    "rrpj": "#62b0d3",
    "rpj": "#c98b2b",
    "random": "#a6587a",
}
SHOWN = ("x007-9", "xmark-0.6", "tpch", "dblp", "swissprot-0.2", "swissprot-0.8")
_COLUMNS = 3


def draw(result: dict[str, Any], path: Path) -> None:
    """Write a picture: results over time by policy, and probes by order."""
    policies = [
        one
        for one in result.get("policies", [])
        if one["set"] in SHOWN and one["arrival"] == "round-robin"
    ]
    probing = result.get("probing", [])
    readings = list(dict.fromkeys(one["reading"] for one in probing))
    count = len(policies) + len(readings)
    if count == 0:
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = -(-count // _COLUMNS)
    figure, axes = pyplot.subplots(rows, _COLUMNS, figsize=(15, 4.5 * rows), squeeze=False)
    places = [one for row in axes for one in row]
    for place, one in zip(places, policies, strict=False):
        draw_results(place, one)
    for place, reading in zip(places[len(policies) :], readings, strict=False):
        draw_probes(place, reading, [one for one in probing if one["reading"] == reading])
    for place in places[count:]:
        place.set_visible(False)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)
    pyplot.close(figure)


def draw_results(axes: Any, measured: dict[str, Any]) -> None:
    """Draw results in memory over the share of the input, first seed."""
    for flush, counts in measured["over_time"].items():
        shares = [(place + 1) / len(counts) for place in range(len(counts))]
        axes.plot(shares, counts, label=flush, color=COLORS[flush])
    figure = measured["figure"]
    title = f"Figure {figure}: {measured['set']}, {measured['arrival']}"
    axes.set_title(f"{title}\n{_claim(figure)}", fontsize=9)
    axes.set_xlabel("share of the input")
    axes.set_ylabel("results in memory")
    axes.legend(fontsize=8, frameon=False)


def _claim(figure: str) -> str:
    return fill(f"the paper: {CLAIMS[figure]}", 60)


def draw_probes(axes: Any, reading: str, probing: list[dict[str, Any]]) -> None:
    """Draw probes relative to sequential ones."""
    orders = ("rop", "rop-written", "apriori")
    width = 0.8 / len(orders)
    for index, order in enumerate(orders):
        heights = [one["probes"][order] / one["probes"]["sequential"] for one in probing]
        places = [at + (index - 1) * width for at in range(len(probing))]
        axes.bar(places, heights, width, label=order)
    names = [
        f"{one['arrival'][0]} {' '.join(f'{share:g}' for share in one['shares'])}"
        for one in probing
    ]
    axes.set_xticks(range(len(probing)), names, rotation=90, fontsize=5)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_title(f"Figure 9: {reading}\n{_claim('9')}", fontsize=9)
    axes.set_ylabel("probes / sequential")
    axes.legend(fontsize=8, loc="lower left")
