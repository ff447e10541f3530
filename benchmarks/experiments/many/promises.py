"""What is promised of many subscriptions, and what was measured of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.experiments.many import durable
from benchmarks.experiments.many.measure import speed

OURS = "penstock_many"
GIGABYTE = 1e9
FEW, MANY = 100, 1_000_000


@dataclass(frozen=True)
class Promise:
    """A figure beside its bound. ``count`` is how many subscriptions were measured."""

    what: str
    count: int
    promised_count: int
    value: float
    bound: float
    is_minimum: bool
    unit: str = "×"

    @property
    def is_kept(self) -> bool:
        """Whether the figure is within its bound."""
        return self.value >= self.bound if self.is_minimum else self.value <= self.bound


def check(result: dict[str, Any]) -> list[Promise]:
    """Return every promise that the measurements speak of, at the size nearest to the promised."""
    found = list(_ratios(result["tasks"]))
    found += _falls(result["tasks"])
    if "durable" in result:
        found += _durable(result["durable"])
    return found


#: (what, workload, mode, ours, theirs, bound)
_RATIOS = (
    ("mixed, unselective / lxml loop", "nitf-twig-unselective", "filter", OURS, "lxml_loop", 200),
    ("mixed, selective / lxml loop", "nitf-twig-selective", "filter", OURS, "lxml_loop", 2000),
    ("paths, filter / YFilter", "nitf-path-unselective", "filter", OURS, "yfilter_nfa", 25),
    ("paths, query / YFilter", "nitf-path-unselective", "query", OURS, "yfilter_nfa", 8),
    ("YFilter / lxml loop", "nitf-path-unselective", "filter", "yfilter_nfa", "lxml_loop", 50),
)
_RATIO_COUNT = 100_000


def _ratios(tasks: list[dict[str, Any]]) -> Iterator[Promise]:
    for what, label, mode, ours, theirs, bound in _RATIOS:
        best = None
        for task in tasks:
            if (task["label"], task["mode"]) != (label, mode):
                continue
            ratio = speed_ratio(task, ours, theirs)
            if ratio is not None and task["count"] <= _RATIO_COUNT:
                best = Promise(f"{what}, cold", task["count"], _RATIO_COUNT, ratio, bound, True)
        if best:
            yield best


def speed_ratio(task: dict[str, Any], ours: str, theirs: str, when: str = "cold") -> float | None:
    """Return how many times as fast one system is as another, both in their best rounds."""
    one = speed(task["systems"].get(ours, {}), when)
    other = speed(task["systems"].get(theirs, {}), when)
    return one / other if one and other else None


def _falls(tasks: list[dict[str, Any]]) -> Iterator[Promise]:
    """Yield how much slower the most subscriptions are than the few, for each set of rare ones."""
    sets = dict.fromkeys((task["label"], task["mode"]) for task in tasks)
    for label, mode in sets:
        if not label.endswith("-selective"):
            continue
        speeds = {
            task["count"]: found
            for task in tasks
            if (task["label"], task["mode"]) == (label, mode)
            and (found := speed(task["systems"].get(OURS, {})))
        }
        most = max(speeds, default=0)
        if FEW in speeds and most > FEW:
            what = f"fall from {FEW} subscriptions, {label} {mode}"
            yield Promise(what, most, MANY, speeds[FEW] / speeds[most], 4, False)


def _durable(found: dict[str, Any]) -> Iterator[Promise]:
    templates = found["templates"]
    count = templates["count"]
    baseline, load, reopen = (
        durable.best_seconds(templates[name]) for name in ("compile lines", "load", "reopen")
    )
    if baseline and load:
        yield Promise("load / json.loads + XPath", count, MANY, load / baseline, 14, False)
    if load and reopen:
        what = "reopening, share of the load"
        yield Promise(what, count, MANY, 100 * reopen / load, 1, False, "%")
    sizes = [one["resident_bytes"] for one in templates["reopen"] if one.get("resident_bytes")]
    if sizes:
        what = "resident in steady state"
        yield Promise(what, count, MANY, max(sizes) / GIGABYTE, 1, False, " GB")
    addition = durable.addition_seconds(templates["add one"])
    if addition is not None:
        what = f"adding one, median of {templates['add one']['additions']:,}"
        yield Promise(what, count, MANY, addition * 1000, 1, False, " ms")
    for mode, starts in found["starts"].items():
        ratio = durable.start_ratio(starts)
        if ratio is not None:
            what = f"first document / warm, {mode}, median of {len(starts['starts'])} starts"
            yield Promise(what, starts["count"], _RATIO_COUNT, ratio, 5, False)
