"""What was measured, as a page and as a picture."""

from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.experiments.revisions.measure import NEW, OLD, judge
from benchmarks.report import table

HEAD = ["workload", "documents", "old, ms", "new, ms", "new / old", "middle half", "wanted", ""]


def page(result: dict[str, Any]) -> str:
    """Return the measurements as a table, and what they took."""
    machine = result["machine"]
    lines = [
        "# Two revisions side by side",
        "",
        f"`{result['command']}` on {machine['processor']}, {machine['cores']} cores, load"
        f" {machine['load']:.1f}, Python {machine['python']}.",
        "",
    ]
    for label, checkout in result["checkouts"].items():
        stale = "" if checkout["is_built"] else "; STALE: run `make setup` there"
        lines.append(f"- {label}: revision {checkout['revision']} in {checkout['folder']}{stale}")
    lines += [
        "",
        f"{result['pairs']} pairs of runs, each run in a process of its own (on Spark in one"
        " session), the revisions taking turns. Times are medians of core time; the ratio is the"
        " median over pairs.",
        "",
        *table(HEAD, map(_row, result["workloads"])),
        "",
        totals(result),
    ]
    failed = (entry for entry in result["workloads"] if "error" in entry)
    lines += [f"- {entry['name']}: {entry['error']}" for entry in failed]
    return "\n".join(lines) + "\n"


def _row(entry: dict[str, Any]) -> list[str]:
    verdict = judge(entry)
    wanted = f"≤ {entry['ratio_max']:.2f}"
    if verdict is None:
        return [entry["name"], *["–"] * 5, wanted, "FAILED"]
    documents = entry["pairs"][0][NEW]["documents"]
    times = [
        f"{1000 * median(pair[label]['core_seconds'] for pair in entry['pairs']):,.0f}"
        for label in (OLD, NEW)
    ]
    word = "kept" if verdict.is_kept else "MISSED"
    if verdict.rows_differ:
        word = "DIFFERENT ROWS"
    spread = f"{verdict.low:.3f} to {verdict.high:.3f}"
    return [entry["name"], f"{documents:,}", *times, f"{verdict.ratio:.3f}", spread, wanted, word]


def totals(result: dict[str, Any]) -> str:
    """Return what all runs took."""
    pairs = [pair for entry in result["workloads"] for pair in entry["pairs"]]
    core = {label: sum(pair[label]["core_seconds"] for pair in pairs) for label in (OLD, NEW)}
    return (
        f"{len(result['workloads'])} workloads, {2 * len(pairs)} runs: {core[OLD]:.1f} s of core"
        f" time for the old revision, {core[NEW]:.1f} s for the new one;"
        f" {result['seconds'] / 60:.1f} minutes by the clock, set-up included."
    )


def draw(result: dict[str, Any], path: Path) -> None:
    """Draw the ratios and their spread beside what is wanted."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    judged = [(entry, verdict) for entry in result["workloads"] if (verdict := judge(entry))]
    figure, axes = pyplot.subplots(figsize=(9, 1 + 0.32 * len(judged)))
    for place, (entry, verdict) in enumerate(judged):
        color = "#0b5c85" if verdict.is_kept else "#a6587a"
        axes.plot([verdict.low, verdict.high], [place, place], color=color, linewidth=4)
        axes.plot(verdict.ratio, place, "o", color=color)
        axes.plot(entry["ratio_max"], place, "|", color="#c98b2b", markersize=14)
    axes.axvline(1, color="#8d8d8d", linewidth=0.8)
    axes.set_yticks(range(len(judged)), [entry["name"] for entry, _ in judged])
    axes.set_xlabel("core time, new / old: median, middle half of the pairs; wanted: left of |")
    axes.invert_yaxis()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
