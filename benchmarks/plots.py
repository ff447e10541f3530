"""The measurements as one picture."""

from pathlib import Path
from typing import Any

from benchmarks import peers
from benchmarks.report import MEGABYTE
from benchmarks.statistics import best, collect

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
    """Write throughput per query on the largest document, and latency where it was measured."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    has_latency = "latency" in result
    figure, axes = pyplot.subplots(
        1 + has_latency, 1, figsize=(11, 4.2 * (1 + has_latency)), squeeze=False
    )
    draw_throughput(axes[0][0], result["single"])
    if has_latency:
        draw_latency(axes[1][0], result["latency"])
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def draw_throughput(axes: Any, single: dict[str, Any]) -> None:
    """Draw bars per query, and the bare parsers as lines."""
    label, document = list(single["documents"].items())[-1]
    times = collect(document["times"])
    size = document["bytes"] / MEGABYTE
    queries = list(single["queries"])
    systems = [name for name in peers.QUERY_PEERS if name in single["timed"]]
    width = 0.8 / len(systems)
    for index, system in enumerate(systems):
        places = [x + (index - len(systems) / 2 + 0.5) * width for x in range(len(queries))]
        speeds = [
            size / best(times[system, query]) if (system, query) in times else 0
            for query in queries
        ]
        name = single["timed"][system]["name"]
        axes.bar(places, speeds, width, label=name, color=COLORS[system])
    for system, style in zip(peers.PARSE_PEERS, ("-", "--", ":"), strict=True):
        if (system, "parse") in times:
            speed = size / best(times[system, "parse"])
            name = single["timed"][system]["name"]
            axes.axhline(speed, color="black", linewidth=0.8, linestyle=style, label=name)
    axes.set_yscale("log")
    axes.set_xticks(range(len(queries)), queries)
    axes.set_ylabel("MB/s, best run")
    axes.set_title(f"One query, bytes to results, {label}")
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
    axes.set_yscale("log")
    axes.set_xticks(range(len(queries)), queries)
    axes.set_ylabel("average latency of a result, ms")
    axes.set_title(f"Output latency, {latency['bytes'] / MEGABYTE:.0f} MB in 64 KiB pieces")
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
