"""The paper's figures as pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.broker.figures import Part

_SYSTEMS = ("F", "FW", "FWR", "plan sharing", "the default")
_COLOURS = dict(zip(_SYSTEMS, ("#9aa4b1", "#5f6b7a", "#c47f17", "#2f8f5b", "#1f6feb"), strict=True))


def draw(parts: list[Part], path: Path) -> None:
    """Write a picture with a panel for each figure: milliseconds for a document without parsing."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figures = [part for part in parts if part.title.startswith("Figure")]
    drawing, axes = pyplot.subplots(2, 3, figsize=(16, 9))
    for place, part in zip(axes.flat, figures, strict=True):
        _panel(place, part)
    drawing.tight_layout()
    drawing.savefig(path, dpi=100)
    pyplot.close(drawing)


def _panel(axes: Any, part: Part) -> None:
    systems = [name for name in part.head if name in _COLOURS]
    width = 0.8 / len(systems)
    for index, name in enumerate(systems):
        column = part.head.index(name)
        places = [row + (index - len(systems) / 2 + 0.5) * width for row in range(len(part.rows))]
        heights = [float(row[column]) for row in part.rows]
        axes.bar(places, heights, width, label=name, color=_COLOURS[name])
    axes.set_xticks(range(len(part.rows)), [row[0] for row in part.rows])
    axes.set_yscale("log")
    axes.set_ylabel("ms for a document, up to the lists")
    axes.set_title(part.title, fontsize=10)
    axes.legend(fontsize=8)
