"""The measurements of progressive joins as pictures, beside what the paper says of each figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

CLAIMS = {
    "x007": "figure 4: all methods perform similarly",
    "xmark": "figure 5(a): far ahead of RPJ and random",
    "tpch": "figure 5(b): far ahead of RPJ",
    "dblp": "figure 6: ahead of RPJ once a quarter has arrived",
    "swissprot-0.2": "figure 8: consistently ahead of RPJ",
    "swissprot-0.8": "figure 8: ahead of RPJ, which is behind random",
}
COLORS = {
    "infinite": "#8d8d8d",
    "auto": "#0b5c85",
    "rrpj": "#62b0d3",
    "rpj": "#c98b2b",
    "random": "#a6587a",
}
_COLUMNS = 3


def draw(result: dict[str, Any], path: Path) -> None:
    """Write a picture: results over time by policy, and probes by order."""
    policies, probing = result.get("policies", []), result.get("probing", [])
    count = len(policies) + bool(probing)
    if count == 0:
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = -(-count // _COLUMNS)
    figure, axes = pyplot.subplots(rows, _COLUMNS, figsize=(15, 4 * rows), squeeze=False)
    places = [one for row in axes for one in row]
    for place, one in zip(places, policies, strict=False):
        draw_results(place, one)
    if probing:
        draw_probes(places[len(policies)], probing)
    for place in places[count:]:
        place.set_visible(False)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def draw_results(axes: Any, measured: dict[str, Any]) -> None:
    """Draw results in memory over the share of the input, first seed."""
    for flush, counts in measured["over_time"].items():
        shares = [(place + 1) / len(counts) for place in range(len(counts))]
        axes.plot(shares, counts, label=flush, color=COLORS[flush])
    axes.set_title(
        f"{measured['set']}, {measured['arrival']}\n{CLAIMS[measured['set']]}", fontsize=9
    )
    axes.set_xlabel("share of the input")
    axes.set_ylabel("results in memory")
    axes.legend(fontsize=8, frameon=False)


def draw_probes(axes: Any, probing: list[dict[str, Any]]) -> None:
    """Draw probes relative to sequential ones."""
    orders = ("rop", "rop-written", "apriori")
    width = 0.8 / len(orders)
    for index, order in enumerate(orders):
        heights = [one["probes"][order] / one["probes"]["sequential"] for one in probing]
        places = [at + (index - 1) * width for at in range(len(probing))]
        axes.bar(places, heights, width, label=order)
    names = [f"{one['arrival'][0]} {one['shares']}" for one in probing]
    axes.set_xticks(range(len(probing)), names, rotation=90, fontsize=6)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_title("figure 9: RoP nearly as good as a priori, ahead of sequential", fontsize=9)
    axes.set_ylabel("probes / sequential")
    axes.legend(fontsize=8, frameon=False)
