"""Best, median and ratio of measured times."""

from math import exp, log
from statistics import median
from typing import Any

Times = dict[tuple[str, str], list[list[float]]]


def collect(entries: list[dict[str, Any]]) -> Times:
    """Return the runs of each (system, query), one list per round; failed ones are left out."""
    times: Times = {}
    for entry in entries:
        if "seconds" in entry:
            times.setdefault((entry["system"], entry["query"]), []).append(entry["seconds"])
    return times


def best(rounds: list[list[float]]) -> float:
    """Return the fastest run of all rounds."""
    return min(min(runs) for runs in rounds)


def typical(rounds: list[list[float]]) -> float:
    """Return the median over rounds of each round's fastest run."""
    return median(min(runs) for runs in rounds)


def geometric_mean(values: list[float]) -> float:
    """Return the geometric mean of positive numbers."""
    return exp(sum(map(log, values)) / len(values))


def speed_ratio(times: Times, ours: str, theirs: str, queries: list[str]) -> dict[str, Any] | None:
    """Return how many times faster ours is: geometric mean over queries, best and median.

    A parser has no queries: its one time stands against ours for each of them.
    """
    ratios: dict[str, list[float]] = {"best": [], "median": []}
    for query in queries:
        one = times.get((ours, query)) or times.get((ours, "parse"))
        other = times.get((theirs, query)) or times.get((theirs, "parse"))
        if not one or not other:
            return None
        ratios["best"].append(best(other) / best(one))
        ratios["median"].append(typical(other) / typical(one))
    return {name: geometric_mean(values) for name, values in ratios.items()}
