"""The measurements as pictures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import peers
from benchmarks.report import MEGABYTE
from benchmarks.statistics import best, collect

Drawing = Callable[[Any], None]

COLORS = {
    "penstock_batches": "#0b5c85",
    "penstock_kernel": "#62b0d3",
    "lxml_tree": "#8d8d8d",
    "lxml_iterparse": "#bdbdbd",
    "pugixml_tree": "#c98b2b",
    "simdxml_index": "#a9c27c",
    "simdxml_batch": "#6d8f3c",
    "saxonche_tree": "#a6587a",
}


def draw(result: dict[str, Any], path: Path) -> None:
    """Write a picture of every part that was measured, beside each other in one folder."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pictures: dict[str, list[Drawing]] = {
        "": [
            *_largest(result, "single", "One query, bytes to results"),
            *([lambda axes: draw_latency(axes, result["latency"])] if "latency" in result else []),
        ],
        "-reverse": _largest(result, "reverse", "Reverse axes, bytes to results"),
        "-sweeps": _swept(result.get("sweeps")),
    }
    for suffix, drawings in pictures.items():
        if not drawings:
            continue
        rows = len(drawings)
        figure, axes = pyplot.subplots(rows, 1, figsize=(11, 4.2 * rows), squeeze=False)
        for place, drawing in enumerate(drawings):
            drawing(axes[place][0])
        figure.tight_layout()
        figure.savefig(path.with_name(f"{path.stem}{suffix}{path.suffix}"), dpi=120)
        pyplot.close(figure)


def _largest(result: dict[str, Any], part: str, title: str) -> list[Drawing]:
    """Return the drawing of a part's largest document."""
    if part not in result:
        return []
    label, document = list(result[part]["documents"].items())[-1]
    queries, timed = list(result[part]["queries"]), result[part]["timed"]
    return [lambda axes: draw_throughput(axes, document, queries, timed, f"{title}, {label}")]


def _swept(part: dict[str, Any] | None) -> list[Drawing]:
    """Return a drawing per sweep."""
    if part is None:
        return []

    def drawing(sweep: dict[str, Any]) -> Drawing:
        queries, title = list(sweep["queries"]), sweep["title"]
        return lambda axes: draw_throughput(axes, sweep, queries, part["timed"], title)

    return [drawing(sweep) for sweep in part["sweeps"].values()]


def draw_throughput(
    axes: Any, document: dict[str, Any], queries: list[str], timed: dict[str, Any], title: str
) -> None:
    """Draw bars per query, and the bare parsers as lines."""
    times = collect(document["times"])
    size = document["bytes"] / MEGABYTE
    systems = [name for name in peers.QUERY_PEERS if name in timed]
    width = 0.8 / len(systems)
    for index, system in enumerate(systems):
        places = [x + (index - len(systems) / 2 + 0.5) * width for x in range(len(queries))]
        speeds = [
            size / best(times[system, query]) if (system, query) in times else 0
            for query in queries
        ]
        axes.bar(places, speeds, width, label=timed[system]["name"], color=COLORS[system])
    for system, style in zip(peers.PARSE_PEERS, ("-", "--", ":"), strict=True):
        if (system, "parse") in times:
            speed = size / best(times[system, "parse"])
            name = timed[system]["name"]
            axes.axhline(speed, color="black", linewidth=0.8, linestyle=style, label=name)
    _scale(axes)
    axes.set_xticks(range(len(queries)), queries)
    axes.set_ylabel("MB/s, best run")
    axes.set_title(title)
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1), frameon=False)


def draw_latency(axes: Any, latency: dict[str, Any]) -> None:
    """Draw the average latency of results per query."""
    queries = list(latency["systems"])
    systems = [
        name for name in latency["names"] if any(name in r for r in latency["systems"].values())
    ]
    width = 0.8 / len(systems)
    for index, system in enumerate(systems):
        places = [x + (index - len(systems) / 2 + 0.5) * width for x in range(len(queries))]
        means = [
            latency["systems"][query].get(system, {}).get("mean_seconds", 0) * 1000
            for query in queries
        ]
        name = latency["names"][system]
        axes.bar(places, means, width, label=name, color=COLORS[system])
    _scale(axes)
    axes.set_xticks(range(len(queries)), queries)
    axes.set_ylabel("average latency of a result, ms")
    axes.set_title(f"Output latency, {latency['bytes'] / MEGABYTE:.0f} MB in 64 KiB pieces")
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1), frameon=False)


def _scale(axes: Any) -> None:
    """Scale by powers, unless nobody gave a figure."""
    if any(bar.get_height() > 0 for bar in axes.patches):
        axes.set_yscale("log")
