"""The message broker: the product beside the paper's strategies, many queries over small documents.

Documents and queries are those of the paper on message brokering (Bib and Book, table 1). All
strategies of the paper run natively over the same document in memory, with flat plans, and give the
same messages. Times are taken in the papers' extension, for each document the least of several
passes: up to the lists (for the product: up to rows that name messages), and with messages; parsing
is left out unless a column says so. SaxonC-HE, one query at a time, is measured in core time.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

from benchmarks.broker.copies import Delivery, measure_copies
from benchmarks.broker.figures import Scale, parts
from benchmarks.broker.measuring import DEFAULT, Times, Workload, measure
from benchmarks.broker.record import Run, page, write
from benchmarks.broker.saxon import SaxonTimes, measure_saxon
from benchmarks.runner import ROOT, machine, progress
from papers.yfilter.options import BrokerOptions

OUT = ROOT / "out" / "bench"
SMALL = Scale(part=10, documents=40, warm_up=4, repeat=2)
Row = tuple[Workload, dict[str, Times]]
Ratio = tuple[str, float, float]

# MaxValue; against FWR and against plan sharing: up to the lists, with messages.
LEAST = {100: (30.0, 12.0, 8.0, 4.0), 10: (50.0, 10.0, 8.0, 4.0)}
GROWTH_MIN, SUBSCRIBERS_MIN = 0.7, 5.0
SAXON_MIN, SAXON_SLOPE_MIN = 3_000.0, 500.0
SUBSCRIBERS = 10


def main(arguments: list[str]) -> int:
    """Measure, print the page, write the files that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks broker", description=__doc__)
    parser.add_argument("--json", type=Path, nargs="?", const=OUT / "broker.json", metavar="PATH")
    parser.add_argument("--small", action="store_true", help="a tenth of it, over 40 documents")
    parser.add_argument("--repeat", type=int, metavar="N", help="passes (3, small 2)")
    parser.add_argument(
        "--documents", type=int, metavar="N", help="documents, a tenth of them to warm up (200)"
    )
    parser.add_argument(
        "--only",
        choices=("figures", "ratios", "copies"),
        help="the paper's figures, the ratios, or what copies of messages cost on Spark",
    )
    parser.add_argument(
        "--merge", type=Path, nargs="+", metavar="FILE", help="measure nothing, merge these runs"
    )
    options = parser.parse_args(arguments)
    if options.merge:
        runs = [json.loads(path.read_text("utf-8")) for path in options.merge]
    else:
        runs = [_measured(options, " ".join(["python -m benchmarks broker", *arguments]))]
    print(page(runs))
    if options.json:
        write(runs, options.json)
    return 0


def _measured(options: argparse.Namespace, command: str) -> Run:
    """Return what a run found."""
    scale = SMALL if options.small else Scale()
    if options.repeat:
        scale = replace(scale, repeat=options.repeat)
    if options.documents:
        count = max(2, options.documents)
        scale = replace(scale, documents=count, warm_up=count // 10)
    rows = [*_rows(scale)] if options.only in (None, "ratios") else []
    shared = _shared(scale) if rows else None
    saxon = _saxon(scale) if rows else None
    drawn = parts(scale) if options.only in (None, "figures") else ()
    copies = _copies(scale) if options.only == "copies" else ()
    return run_of(command, rows, [*ratios(rows, shared, saxon)]) | {
        "saxon": saxon and asdict(saxon),
        "figures": [asdict(part) for part in drawn],
        "copies": [asdict(one) for one in copies],
    }


def run_of(command: str, rows: list[Row], shown: list[Ratio]) -> Run:
    """Return a run of workloads and ratios alone."""
    plans = [
        {"workload": asdict(workload), **{name: asdict(one) for name, one in own.items()}}
        for workload, own in rows
    ]
    head = {"command": command, "machine": machine()}
    return {**head, "plans": plans, "ratios": shown, "figures": []}


def _rows(scale: Scale) -> Iterator[Row]:
    """Yield workloads with the times of the strategies that are compared."""
    setups = [
        ("book", 100_000, 100, 2, True),
        ("book", 100_000, 10, 2, True),
        ("bib", 100_000, 100, 3, True),
        ("book", 10_000, 10, 2, False),
        ("book", 10_000, 100, 2, False),
        # As many matches for a document as 10,000 plans have with MaxValue 10.
        ("book", 100_000, 150, 2, False),
    ]
    for name, count, values, returns, is_compared in setups:
        workload = scale.workload(name, count, values=values, returns=returns, is_of_plans=True)
        progress(f"{name}, {workload.count:,} plans, MaxValue {values}, RP {returns}")
        queries = workload.queries()
        own = {"keyed": measure(queries, workload, DEFAULT, repeat=scale.repeat)}
        if is_compared:
            for strategy in ("fwr", "shared"):
                options = BrokerOptions("fwr" if strategy == "fwr" else "shared")
                own[strategy] = measure(queries, workload, options, repeat=scale.repeat)
            assert len({one.digest for one in own.values()}) == 1, "messages differ"
        yield workload, own


def _shared(scale: Scale) -> Times:
    progress(f"{SUBSCRIBERS} subscribers for each plan")
    workload = scale.workload("book", 10_000, values=100, is_of_plans=True)
    return measure(workload.queries(), workload, repeat=scale.repeat, subscribers=SUBSCRIBERS)


def _copies(scale: Scale) -> Iterator[Delivery]:
    workload = scale.workload("book", 10_000, values=100, is_of_plans=True)
    yield from measure_copies(workload, SUBSCRIBERS)


def _saxon(scale: Scale) -> SaxonTimes | None:
    progress("SaxonC-HE")
    return measure_saxon(scale.workload("book", 10_000, is_of_plans=True))


def ratios(rows: list[Row], shared: Times | None, saxon: SaxonTimes | None) -> Iterator[Ratio]:
    """Yield what must be shown: words, the ratio, the least that it should be."""
    for workload, own in rows:
        if "fwr" in own:
            yield from _against(workload, own)
    known = {(w.name, w.count, w.values): own["keyed"] for w, own in rows}
    if not rows or shared is None:
        return
    many, few = rows[0][0].count, rows[3][0].count
    growth = known["book", few, 10].both / known["book", many, 150].both
    yield f"documents/s, {few:,} to {many:,} plans at about equal matches", growth, GROWTH_MIN
    single = known["book", few, 100]
    per_row = (single.both / single.rows) / (shared.both / shared.rows)
    yield f"cost of a row, one to {SUBSCRIBERS} subscribers", per_row, SUBSCRIBERS_MIN
    if saxon is not None:
        each = known["book", few, 10].reading / few / 1e3
        yield "SaxonC-HE through its API, with parsing", saxon.each / each, SAXON_MIN
        yield "SaxonC-HE by slope, messages as strings", saxon.slope / each, SAXON_SLOPE_MIN
        yield "SaxonC-HE by slope, no strings made", saxon.slope_of_nodes / each, 0.0


def _against(workload: Workload, own: dict[str, Times]) -> Iterator[Ratio]:
    least = LEAST[workload.values] if workload.name == "book" else (0.0,) * 4
    keyed = own["keyed"]
    words = f"{workload.name}, {workload.count:,} plans, MaxValue {workload.values}"
    names = {"fwr": "unshared FWR", "shared": "plan sharing"}
    for place, (strategy, name) in enumerate(names.items()):
        one = own[strategy]
        lists, messages = least[2 * place : 2 * place + 2]
        yield f"{words}: {name}, up to the lists", one.asking / keyed.asking, lists
        yield f"{words}: {name}, with messages", one.both / keyed.both, messages
