"""Progressive joins: flush policies and orders of probing, as in figures 4 to 9 of Twig'n Join.

What is joined there are bindings of the operator, without parsing. Results are those of memory,
before clean-up; the complete result is checked against infinite memory. The part ``queries`` runs
whole queries from bytes to rows, beside lxml with DuckDB. Ends with 1 if a bound is missed.
"""

import argparse
import random
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.experiments.progressive_queries import measure_queries, missed_queries
from benchmarks.plots_progressive import draw
from benchmarks.runner import ROOT, machine, print_result, progress
from benchmarks.workloads.progressive import ARRIVALS, SETS, authors
from penstock.joins import Equality, JoinGraph, JoinOptions, ProgressiveJoiner, Side
from penstock.joins.joiner import Flush, Probe

OUT = ROOT / "out" / "bench"
SEEDS = 5
MEMORY = 0.1
FRAGMENT = b"<fragment>" + b"x" * 200 + b"</fragment>"
FLUSHES: tuple[Flush, ...] = ("auto", "rrpj", "rpj", "random")
PROBES: tuple[Probe, ...] = ("rop", "rop-written", "sequential", "apriori")
UNIFORM = "x007"
AIMED = ("xmark", "tpch", "dblp", "swissprot-0.2")
LEAST_MEAN, LEAST_SEED, LEAST_SETS = 1.3, 0.8, 3
UNIFORM_SPREAD_MAX = 0.05
APRIORI_MAX, SEQUENTIAL_MAX = 1.1, 0.6
TIME_MAX = 2.0
POINTS = 20
PARTS = ("queries", "policies", "probing")

Arrivals = Sequence[tuple[int, int]]
Measured = dict[str, Any]


def star(streams: int) -> JoinGraph:
    """Every pair of streams has the same value."""
    pairs = [(left, right) for right in range(streams) for left in range(right)]
    edges = [Equality(Side(left, 0), Side(right, 0)) for left, right in pairs]
    return JoinGraph([1] * streams, edges)


def run(
    arrivals: Arrivals, options: JoinOptions, seed: int = 0, selectivities: Sequence[float] = ()
) -> Measured:
    """Join everything; tell the results over time, the complete number, counters and core time."""
    streams = 1 + max(stream for stream, _ in arrivals)
    lasts = {stream: at for at, (stream, _) in enumerate(arrivals)}
    points = {len(arrivals) * point // POINTS for point in range(1, POINTS + 1)}
    over_time, count = [], 0
    started = time.process_time()
    with ProgressiveJoiner(
        star(streams), options, selectivities=selectivities, seed=seed
    ) as joiner:
        for at, (stream, value) in enumerate(arrivals):
            count += sum(1 for _ in joiner.push(stream, [[b"%d" % value]], FRAGMENT))
            if lasts[stream] == at:
                joiner.end(stream)
            if at + 1 in points:
                over_time.append(count)
        memory_bytes = joiner.statistics().memory_bytes
        complete = count + sum(1 for _ in joiner.finish())
        probes = joiner.statistics().probes
    return {
        "over_time": over_time,
        "half": over_time[POINTS // 2 - 1],
        "complete": complete,
        "probes": probes,
        "memory_bytes": memory_bytes,
        "seconds": time.process_time() - started,
    }


def measure_policies(name: str, arrival: str, seeds: int) -> Measured:
    """Compare the policies on one set, seed by seed."""
    rows: dict[str, list[Measured]] = {flush: [] for flush in ("infinite", *FLUSHES)}
    for seed in range(seeds):
        arrivals = ARRIVALS[arrival](list(SETS[name](random.Random(seed))))
        infinite = run(arrivals, JoinOptions())
        rows["infinite"].append(infinite)
        budget = int(infinite["memory_bytes"] * MEMORY)
        for flush in FLUSHES:
            measured = run(arrivals, JoinOptions(flush=flush, state_bytes_max=budget), seed)
            assert measured["complete"] == infinite["complete"], "clean-up gives what memory missed"
            rows[flush].append(measured)
        progress(f"{name}, {arrival}, seed {seed}")
    ratios = [
        auto["half"] / max(rpj["half"], chance["half"], 1)
        for auto, rpj, chance in zip(rows["auto"], rows["rpj"], rows["random"], strict=True)
    ]
    half = {flush: fmean(one["half"] for one in runs) for flush, runs in rows.items()}
    return {
        "set": name,
        "arrival": arrival,
        "half": half,
        "share_of_infinite": {flush: half[flush] / max(half["infinite"], 1) for flush in FLUSHES},
        "auto_to_better": {"mean": fmean(ratios), "least": min(ratios)},
        "seconds": {flush: fmean(one["seconds"] for one in runs) for flush, runs in rows.items()},
        "over_time": {flush: runs[0]["over_time"] for flush, runs in rows.items()},
    }


def measure_probing(arrival: str, shares: list[float], seeds: int) -> Measured:
    """Compare the orders of probing."""
    probes: dict[str, list[int]] = {probe: [] for probe in PROBES}
    for seed in range(seeds):
        arrivals = ARRIVALS[arrival](authors(random.Random(seed), shares))
        for probe in PROBES:
            options = JoinOptions(probe=probe)
            measured = run(arrivals, options, seed, selectivities=[1.0, *shares])
            probes[probe].append(measured["probes"])
    mean = {probe: fmean(counts) for probe, counts in probes.items()}
    return {
        "arrival": arrival,
        "shares": shares,
        "probes": mean,
        "rop_to_apriori": mean["rop"] / mean["apriori"],
        "rop_to_sequential": mean["rop"] / mean["sequential"],
    }


def missed(result: Measured) -> list[str]:
    """Return the bounds that were missed."""
    lines = missed_policies(result["policies"]) if "policies" in result else []
    if "probing" in result:
        lines += missed_probes(result["probing"])
    return lines + (missed_queries(result["queries"]) if "queries" in result else [])


def missed_policies(policies: list[Measured]) -> list[str]:
    """Return the bounds of flush policies that were missed."""
    lines = []
    aimed = [one for one in policies if one["arrival"] == "round-robin"]
    good = [
        one["set"]
        for one in aimed
        if one["set"] in AIMED
        and one["auto_to_better"]["mean"] >= LEAST_MEAN
        and one["auto_to_better"]["least"] >= LEAST_SEED
    ]
    if len(good) < LEAST_SETS:
        lines.append(f"auto reaches {LEAST_MEAN} times the better of random and RPJ on {good} only")
    for one in aimed:
        if one["set"] == UNIFORM:
            means = [one["half"][flush] for flush in ("rrpj", "rpj", "random")]
            if max(means) > min(means) * (1 + UNIFORM_SPREAD_MAX):
                lines.append(f"the partition policies differ on the uniform set: {means}")
        ratio = one["seconds"]["auto"] / one["seconds"]["infinite"]
        if ratio > TIME_MAX:
            lines.append(f"{one['set']}: a tenth of the memory takes {ratio:.2f} times as long")
    return lines


def missed_probes(probing: list[Measured]) -> list[str]:
    """Return the bounds of orders of probing that were missed."""
    lines = []
    for one in probing:
        if one["rop_to_apriori"] > APRIORI_MAX:
            lines.append(f"RoP is {one['rop_to_apriori']:.2f} of a priori for {one['shares']}")
        *others, last = one["shares"]
        is_aimed = len(others) >= 2 and last <= 0.1 and min(others) >= 0.9
        if is_aimed and one["rop_to_sequential"] > SEQUENTIAL_MAX:
            least = one["probes"]["apriori"] / one["probes"]["sequential"]
            lines.append(
                f"RoP is {one['rop_to_sequential']:.2f} of sequential for {one['shares']}, "
                f"{one['arrival']}; a priori is {least:.2f}"
            )
    return lines


def main(arguments: list[str]) -> int:
    """Measure, print, and write what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks progressive", description=__doc__)
    path = OUT / "progressive.json"
    parser.add_argument("--json", type=Path, nargs="?", const=path, metavar="PATH")
    parser.add_argument("--small", action="store_true", help="one seed, a tenth of the documents")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    options = parser.parse_args(arguments)
    seeds = 1 if options.small else SEEDS
    result: Measured = {"machine": machine()}
    if "queries" in options.parts:
        result["queries"] = measure_queries(is_small=options.small)
    if "policies" in options.parts:
        policies = [measure_policies(name, "round-robin", seeds) for name in SETS]
        if not options.small:
            policies += [
                measure_policies(name, "proportional", seeds) for name in ("xmark", "tpch")
            ]
        result["policies"] = policies
    if "probing" in options.parts:
        cases = [
            shares
            for streams in (3, 4, 5)
            for shares in (
                [0.5] * (streams - 1),
                [0.9] * (streams - 2) + [0.1],
                [1.0] * (streams - 2) + [0.02],
            )
        ]
        result["probing"] = [
            measure_probing(arrival, shares, seeds) for arrival in ARRIVALS for shares in cases
        ]
    result["missed"] = missed(result)
    print_result(result, options.json)
    if options.json is not None:
        draw(result, options.json.with_suffix(".png"))
    return 1 if result["missed"] else 0
