"""The measurements as pictures."""

from pathlib import Path
from typing import Any

from benchmarks import peers
from benchmarks.experiments.many.measure import grown_bytes, speed
from benchmarks.experiments.many.page import MEGABYTE, point_entries

COLORS = {
    "Penstock": "#0b5c85",
    "YFilter": "#c98b2b",
    "XPaSS": "#6d8f3c",
    "XPaSS-c": "#a9c27c",
    "lxml loop": "#8d8d8d",
    "Spark xpath_boolean": "#a6587a",
}


def color_of(name: str) -> str:
    """Return a system's colour, whatever its mode."""
    return COLORS[name.split(",")[0]]


def draw(result: dict[str, Any], path: Path) -> list[Path]:
    """Write what was measured beside a path; return the files."""
    import matplotlib

    matplotlib.use("Agg")
    written = []
    if result["tasks"]:
        written.append(draw_series(result["tasks"], path.with_suffix(".png")))
    if result.get("studies"):
        written.append(draw_studies(result["studies"], path.with_suffix(".figures.png")))
    return written


def draw_series(tasks: list[dict[str, Any]], path: Path) -> Path:
    """Draw documents/s and memory against the number of queries, a row for each set and mode."""
    from matplotlib import pyplot

    sets = list(dict.fromkeys((task["label"], task["mode"]) for task in tasks))
    figure, axes = pyplot.subplots(len(sets), 2, figsize=(12, 3 * len(sets)), squeeze=False)
    for row, (label, mode) in enumerate(sets):
        same = [task for task in tasks if (task["label"], task["mode"]) == (label, mode)]
        for name in dict.fromkeys(name for task in same for name in task["systems"]):
            shown = peers.load(name).NAME
            entries = [(task["count"], task["systems"].get(name, {})) for task in same]
            for when, style in (("cold", "-"), ("warm", "--")):
                line(
                    axes[row][0],
                    [(count, speed(entry, when)) for count, entry in entries],
                    f"{shown}, {when}",
                    style,
                )
            grown = [(count, grown_bytes(entry)) for count, entry in entries]
            sizes = [(count, size / MEGABYTE if size else None) for count, size in grown]
            line(axes[row][1], sizes, shown, "-")
        for column, unit in ((0, "documents/s"), (1, "MB")):
            axes[row][column].set(xscale="log", yscale="log", ylabel=unit)
            axes[row][column].set_title(f"{label}, {mode}", fontsize=9)
        axes[row][0].legend(fontsize=6, frameon=False)
    return save(figure, path)


def line(axes: Any, points: list[tuple[Any, float | None]], label: str, style: str) -> None:
    """Draw the points that there are."""
    known = [(x, y) for x, y in points if y]
    if known:
        xs, ys = zip(*known, strict=True)
        axes.plot(xs, ys, style, color=color_of(label), marker=".", label=label)


def draw_studies(studies: list[dict[str, Any]], path: Path) -> Path:
    """Draw figures 8.4 to 8.16: time on the left, memory on the right."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(studies), 2, figsize=(12, 3 * len(studies)), squeeze=False)
    for row, study in enumerate(studies):
        places = [point["at"] for point in study["points"]]
        seen: dict[str, dict[str, dict[str, Any]]] = {}
        for point in study["points"]:
            for name, entry in point_entries(point):
                seen.setdefault(name, {})[point["at"]] = entry
        for name, entries in seen.items():
            style = "--" if name.endswith("filter") else "-"
            speeds = [(place, speed(entries.get(place, {}))) for place in places]
            times = [(place, 1000 / found if found else None) for place, found in speeds]
            grown = [(place, grown_bytes(entries.get(place, {}))) for place in places]
            sizes = [(place, size / MEGABYTE if size else None) for place, size in grown]
            line(axes[row][0], times, name, style)
            line(axes[row][1], sizes, name, style)
        for column, unit in ((0, "ms for the document"), (1, "MB")):
            axes[row][column].set(yscale="log", ylabel=unit, xlabel=study["axis"])
            title = f"figure {study['figures']}: {study['title']}"
            axes[row][column].set_title(title, fontsize=9)
        axes[row][0].legend(fontsize=6, frameon=False)
    return save(figure, path)


def save(figure: Any, path: Path) -> Path:
    """Write a picture."""
    from matplotlib import pyplot

    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return path
