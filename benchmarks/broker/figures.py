"""Figures 7 to 12 and tables 2 to 5 of the paper on message brokering, measured anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import get_args

from benchmarks.broker.measuring import DEFAULT, Times, Workload, measure
from benchmarks.report import table
from benchmarks.runner import progress
from papers.yfilter.options import BrokerOptions, BrokerStrategy, Knowledge

_PATHS: tuple[BrokerStrategy, ...] = ("f", "fw", "fwr")
_NAMES = {"nothing": "NoOpt", "queries": "Opt(q)", "schema": "Opt(q+dtd)"}
_OPERATORS = (
    "path matching",
    "selection",
    "duplicate elimination",
    "join",
    "group-by",
    "outer-join-select",
    "executor",
)


@dataclass(frozen=True)
class Scale:
    """How much is measured: a part of the queries over so many documents."""

    part: int = 1
    documents: int = 200
    warm_up: int = 20
    repeat: int = 3

    def workload(
        self,
        name: str,
        count: int,
        *,
        values: int = 10,
        returns: int = 2,
        predicates: int = 1,
        is_of_plans: bool = False,
    ) -> Workload:
        """Return a workload of this scale."""
        of_scale = (self.documents, self.warm_up)
        count //= self.part
        return Workload(name, count, values, returns, predicates, is_of_plans, *of_scale)


@dataclass(frozen=True)
class Part:
    """A figure or a table: what the paper says, and what was measured."""

    title: str
    claim: str
    head: list[str]
    rows: list[list[str]]

    def page(self) -> str:
        """Return it in Markdown."""
        lines = "\n".join(table(self.head, self.rows))
        return f"## {self.title}\n\nThe paper: {self.claim}\n\n{lines}"


def parts(scale: Scale) -> Iterator[Part]:
    """Yield all figures and tables; times are milliseconds for a document up to the lists."""
    few = f"{5_000 // scale.part:,}"
    yield _levels(
        scale.workload("bib", 5_000),
        scale,
        f"Figure 7: Bib, {few} queries",
        "without optimisation FW is cheapest and FWR dearest; with Opt(q) FWR is cheapest, with "
        "Opt(q+dtd) by a wide margin.",
    )
    yield _sweep(
        {f"PP {n}": scale.workload("bib", 5_000, predicates=n) for n in (1, 2, 3)},
        scale,
        f"Figure 8: more predicates (Bib, {few} queries, Opt(q+dtd))",
        "more predicates bring the three closer; F and FW fall.",
    )
    yield _sweep(
        {f"RP {n}": scale.workload("bib", 5_000, returns=n) for n in (1, 2, 3, 4)},
        scale,
        f"Figure 9: more return paths (Bib, {few} queries, Opt(q+dtd))",
        "F and FW grow with the return paths, FWR much less.",
    )
    yield _levels(
        scale.workload("book", 10_000),
        scale,
        f"Figure 10: Book, {10_000 // scale.part:,} queries",
        "as figure 7, but with Opt(q) FW is cheaper than FWR, and with Opt(q+dtd) FWR gains less.",
    )
    yield _sweep(
        {
            f"{n // scale.part:,}": scale.workload("bib", n, values=100)
            for n in (5_000, 10_000, 20_000, 30_000, 40_000)
        },
        scale,
        "Figure 11: more queries (Bib, MaxValue 100, Opt(q+dtd))",
        "all three grow with the queries, F fastest.",
    )
    yield _plans(scale)
    yield from _tables(scale)


def _measured(workload: Workload, options: list[BrokerOptions], scale: Scale) -> list[Times]:
    queries = workload.queries()
    times = [measure(queries, workload, one, repeat=scale.repeat) for one in options]
    for knowledge in get_args(Knowledge):
        same = [
            one.digest
            for one, own in zip(times, options, strict=True)
            if own.knowledge == knowledge
        ]
        assert len({*same}) <= 1, "the messages of strategies differ"
    return times


def _levels(workload: Workload, scale: Scale, title: str, claim: str) -> Part:
    progress(title)
    levels = get_args(Knowledge)
    options = [BrokerOptions(one, level) for level in levels for one in _PATHS]
    times = iter(_measured(workload, [DEFAULT, *options], scale))
    own = next(times)
    rows = [
        [_NAMES[level], *(f"{next(times).asking:.3f}" for _ in _PATHS), f"{own.asking:.3f}"]
        for level in levels
    ]
    return Part(title, claim, ["", "F", "FW", "FWR", "the default"], rows)


def _sweep(workloads: dict[str, Workload], scale: Scale, title: str, claim: str) -> Part:
    rows = []
    for name, workload in workloads.items():
        progress(f"{title}: {name}")
        times = _measured(workload, [*(BrokerOptions(one) for one in _PATHS), DEFAULT], scale)
        rows.append([name, *(f"{one.asking:.3f}" for one in times)])
    return Part(title, claim, ["", "F", "FW", "FWR", "the default"], rows)


def _plans(scale: Scale) -> Part:
    title = "Figure 12: unique plans (Book, MaxValue 100, Opt(q+dtd))"
    rows = []
    for count in (10_000, 25_000, 50_000, 75_000, 100_000):
        progress(f"{title}: {count // scale.part:,}")
        workload = scale.workload("book", count, values=100, is_of_plans=True)
        options = [BrokerOptions("fwr"), BrokerOptions("shared"), DEFAULT]
        fwr, shared, own = _measured(workload, options, scale)
        rows.append(
            [
                f"{workload.count:,}",
                f"{fwr.asking:.3f}",
                f"{shared.asking:.3f}",
                f"{fwr.asking / shared.asking:.1f}",
                f"{own.asking:.3f}",
            ]
        )
    claim = "2,985 ms without sharing and 317 ms with it at 50,000 queries (9.4 times), 472 ms at "
    claim += "100,000 unique plans."
    return Part(title, claim, ["plans", "FWR", "plan sharing", "ratio", "the default"], rows)


def _tables(scale: Scale) -> Iterator[Part]:
    progress("tables 2 and 3")
    workload = scale.workload("bib", 5_000)
    queries = workload.queries()
    levels = get_args(Knowledge)
    times = {level: _profiled(queries, workload, "fwr", level, scale) for level in levels}
    yield Part(
        f"Table 2: cost of operators (Bib, {workload.count:,} queries, FWR)",
        "path matching 28, 27, 9 ms; selection 61, 51, 42; duplicate elimination 451, 15, 0; "
        "semijoin 140, 67, 18; outer join 235, 112, 22.",
        ["", *_OPERATORS],
        [[_NAMES[level], *_costs(one)] for level, one in times.items()],
    )
    kinds = [
        "semijoin (hash)",
        "semijoin (merge)",
        "outer-join-select (hash)",
        "outer-join-select (merge)",
    ]
    rows = []
    for level, one in times.items():
        counts = one.operators
        removals = [n for kind, n in counts.items() if kind.startswith("duplicate")]
        counted = [counts.get(kind, 0) for kind in kinds]
        rows.append([_NAMES[level], *(f"{n:,}" for n in (*counted, sum(removals)))])
    yield Part(
        f"Table 3: operators of the plans (Bib, {workload.count:,} queries, FWR)",
        "semijoins and outer joins that hash 5,000, 1,966, 0; duplicate eliminations 15,000, 429, "
        "0.",
        ["", *kinds, "duplicate elimination"],
        rows,
    )
    claims = (
        "at 10,000 and 50,000 queries: selection 93, 498 ms; duplicate elimination 30, 183; "
        "semijoin 137, 847; outer join 163, 1,025; executor 73, 384.",
        "at 10,000 and 50,000 queries: selection 18, 21 ms; group-by 4, 5; join 18, 17; outer join "
        "29, 138; executor 7, 37.",
    )
    options: tuple[tuple[BrokerStrategy, str, str], ...] = (
        ("fwr", "Table 4: FWR", claims[0]),
        ("shared", "Table 5: plan sharing", claims[1]),
    )
    for strategy, title, claim in options:
        rows = []
        for count in (10_000, 20_000, 30_000, 40_000, 50_000):
            progress(f"{title}: {count:,}")
            workload = scale.workload("book", count, values=100)
            one = _profiled(workload.queries(), workload, strategy, "schema", scale)
            rows.append([f"{workload.count:,}", f"{one.operators['plan']:,}", *_costs(one)])
        head = ["queries", "unique plans", *_OPERATORS]
        yield Part(f"{title} (Book, MaxValue 100, Opt(q+dtd))", claim, head, rows)


def _profiled(
    queries: list, workload: Workload, strategy: BrokerStrategy, level: Knowledge, scale: Scale
) -> Times:
    options = replace(BrokerOptions(strategy, level), is_profiled=True)
    return measure(queries, workload, options, repeat=scale.repeat)


def _costs(times: Times) -> list[str]:
    return [f"{times.costs[name]:.3f}" for name in _OPERATORS]
