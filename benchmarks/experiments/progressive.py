"""Progressive joins: flush policies and orders of probing, as in figures 4 to 9 of Twig'n Join.

What is joined there are bindings of the operator, without parsing. Results are those of memory,
before clean-up; the complete result is checked against infinite memory. The part ``queries`` runs
whole queries from bytes to rows, beside lxml with DuckDB; ``memory`` compares the core time of the
operator with a tenth of the memory and with all of it. Ends with 1 if a bound is missed.
"""

import argparse
import gc
import json
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.experiments.progressive_queries import measure_queries, missed_queries
from benchmarks.page_progressive import page
from benchmarks.plots_progressive import draw
from benchmarks.runner import ROOT, machine, print_result, progress
from benchmarks.workloads.progressive import (
    ARRIVALS,
    FIGURES,
    SETS,
    Pair,
    authors,
    real_sets,
    sigmod_names,
)
from papers.twignjoin.joining import FLUSHES, PROBES, Policies, PolicyJoiner
from penstock.joins import Equality, JoinGraph, JoinOptions, ProgressiveJoiner, Side

OUT = ROOT / "out" / "bench"
DATA = ROOT.parent / "shared" / "data"
SEEDS, FURTHER_SEEDS = 5, 2
"""For the sets that the paper shows, and for the others."""
ROUNDS = 8
MEMORY = 0.1
FRAGMENT = b"<fragment>" + b"x" * 200 + b"</fragment>"
UNIFORM = "x007-9"
AIMED = ("xmark-0.6", "tpch", "dblp", "swissprot-0.2")
TIMED = (*AIMED, "swissprot-0.8", UNIFORM)
READINGS = ("all entries", "all entries, real SIGMOD Record", "each once")
"""What a stream has of an author that it includes; the bound is for the first."""
LEAST_MEAN, LEAST_SEED, LEAST_SETS = 1.3, 0.8, 3
UNIFORM_SPREAD_MAX = 0.05
APRIORI_MAX, SEQUENTIAL_MAX = 1.1, 0.6
TIME_MAX = 2.0
POINTS = 20
PARTS = ("queries", "policies", "memory", "probing")

Arrivals = Sequence[tuple[int, int]]
Measured = dict[str, Any]
Make = Callable[[random.Random], Pair]


def star(streams: int) -> JoinGraph:
    """Every pair of streams has the same value."""
    pairs = [(left, right) for right in range(streams) for left in range(right)]
    edges = [Equality(Side(left, 0), Side(right, 0)) for left, right in pairs]
    return JoinGraph([1] * streams, edges)


def run(
    arrivals: Arrivals,
    options: JoinOptions,
    seed: int = 0,
    policies: Policies | None = None,
    fragment: bytes = FRAGMENT,
) -> Measured:
    """Join everything, by the product's policies or by others.

    Returns the results over time, the complete number, counters and core time.
    """
    known = () if policies is None else policies.selectivities
    streams = max(len(known), *(1 + stream for stream, _ in arrivals))
    lasts = {stream: at for at, (stream, _) in enumerate(arrivals)}
    points = {len(arrivals) * point // POINTS for point in range(1, POINTS + 1)}
    over_time, count = [], 0
    started = time.process_time()
    graph = star(streams)
    join = (
        ProgressiveJoiner(graph, options, seed=seed)
        if policies is None
        else PolicyJoiner(graph, policies, options, seed=seed)
    )
    with join as joiner:
        for at, (stream, value) in enumerate(arrivals):
            count += sum(1 for _ in joiner.push(stream, [[b"%d" % value]], fragment))
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


def measure_policies(name: str, make: Make, figure: str, arrival: str, seeds: int) -> Measured:
    """Compare the policies on one set, seed by seed."""
    rows: dict[str, list[Measured]] = {flush: [] for flush in ("infinite", *FLUSHES)}
    sizes: list[int] = []
    for seed in range(seeds):
        values = make(random.Random(seed))
        sizes = [len(one) for one in values]
        arrivals = ARRIVALS[arrival](list(values))
        infinite = run(arrivals, JoinOptions())
        rows["infinite"].append(infinite)
        budget = int(infinite["memory_bytes"] * MEMORY)
        for flush in FLUSHES:
            measured = run(arrivals, JoinOptions(state_bytes_max=budget), seed, Policies(flush))
            assert measured["complete"] == infinite["complete"], "clean-up gives what memory missed"
            rows[flush].append(measured)
        progress(f"{name}, {arrival}, seed {seed}")
    ratios = [
        auto["half"] / max(rpj["half"], chance["half"], 1)
        for auto, rpj, chance in zip(rows["auto"], rows["rpj"], rows["random"], strict=True)
    ]
    half = {flush: fmean(one["half"] for one in runs) for flush, runs in rows.items()}
    return {
        "figure": figure,
        "set": name,
        "sizes": sizes,
        "arrival": arrival,
        "seeds": seeds,
        "half": half,
        "share_of_infinite": {flush: half[flush] / max(half["infinite"], 1) for flush in FLUSHES},
        "auto_to_better": {"mean": fmean(ratios), "least": min(ratios)},
        "over_time": {flush: runs[0]["over_time"] for flush, runs in rows.items()},
    }


def measure_all_policies(data: Path, *, is_small: bool) -> list[Measured]:
    """Measure each figure's sets with round-robin arrival, and the first of each with the others.

    Sets of real files come behind those that are generated.
    """
    seeds, further = (1, 1) if is_small else (SEEDS, FURTHER_SEEDS)
    results = []
    for figure, names in FIGURES.items():
        for name in names:
            count = seeds if name in TIMED else further
            results.append(measure_policies(name, SETS[name], figure, "round-robin", count))
        if not is_small:
            results += [
                measure_policies(names[0], SETS[names[0]], figure, arrival, further)
                for arrival in ("proportional", "shuffled")
            ]
    for name, make in real_sets(data).items():
        results.append(measure_policies(name, make, "6", "round-robin", further))
    return results


def measure_memory(name: str, rounds: int) -> Measured:
    """Compare the core time of all memory and of a tenth, in turns; the least of each counts."""
    arrivals = ARRIVALS["round-robin"](list(SETS[name](random.Random(0))))
    budget = int(run(arrivals, JoinOptions())["memory_bytes"] * MEMORY)
    seconds: dict[str, float] = {}
    for _ in range(rounds):
        for label, options in (
            ("all", JoinOptions()),
            ("a tenth", JoinOptions(state_bytes_max=budget)),
        ):
            gc.collect()
            measured = run(arrivals, options)["seconds"]
            seconds[label] = min(measured, seconds.get(label, measured))
    ratio = seconds["a tenth"] / seconds["all"]
    progress(f"{name}: a tenth of the memory takes {ratio:.2f} times as long")
    return {"set": name, "seconds": seconds, "tenth_to_all": ratio}


def measure_probing(
    arrival: str,
    shares: list[float],
    seeds: int,
    reading: str = READINGS[0],
    names: list[int] | None = None,
) -> Measured:
    """Compare the orders of probing."""
    runs: dict[str, list[Measured]] = {probe: [] for probe in PROBES}
    for seed in range(seeds):
        is_once = reading == "each once"
        streams = authors(random.Random(seed), shares, is_once=is_once, names=names)
        arrivals = ARRIVALS[arrival](streams)
        for probe in PROBES:
            policies = Policies(probe=probe, selectivities=[1.0, *shares])
            measured = run(arrivals, JoinOptions(), seed, policies, b"<entry/>")
            runs[probe].append(measured)
        counts = {runs[probe][-1]["complete"] for probe in PROBES}
        assert len(counts) == 1, "all orders give the same result"
    mean = {probe: fmean(one["probes"] for one in runs[probe]) for probe in PROBES}
    progress(f"{reading}, {arrival}, {shares}: RoP {mean['rop'] / mean['sequential']:.2f}")
    return {
        "reading": reading,
        "arrival": arrival,
        "shares": shares,
        "results": fmean(one["complete"] for one in runs["rop"]),
        "probes": mean,
        "seconds": {probe: min(one["seconds"] for one in runs[probe]) for probe in PROBES},
        "rop_to_apriori": mean["rop"] / mean["apriori"],
        "rop_to_sequential": mean["rop"] / mean["sequential"],
        "apriori_to_sequential": mean["apriori"] / mean["sequential"],
    }


def shares_of(streams: int) -> list[list[float]]:
    """The selectivities of figure 9 for so many streams; the paper does not tell its own."""
    others = streams - 1
    steps = [round(0.2 + 0.6 * at / (others - 1), 2) for at in range(others)]
    return [
        *([share] * others for share in (0.0, 0.25, 0.5, 0.75, 1.0)),
        steps,
        steps[::-1],
        [0.9] * (others - 1) + [0.1],
        [1.0] * (others - 1) + [0.02],
    ]


def measure_all_probing(data: Path, *, is_small: bool) -> list[Measured]:
    """Measure three to five streams under both arrivals; some selectivities for each reading."""
    names = sigmod_names(data)
    results = []
    for reading in READINGS:
        if "real" in reading and not names:
            continue
        for arrival in ("round-robin", "proportional"):
            for streams in (3, 4, 5):
                cases = shares_of(streams)
                if is_small or reading != READINGS[0]:
                    cases = [cases[2], *cases[-3:]]
                for shares in cases:
                    real = names if "real" in reading else None
                    seeds = 1 if is_small else SEEDS
                    results.append(measure_probing(arrival, shares, seeds, reading, real))
    return results


def missed(result: Measured) -> list[str]:
    """Return the bounds that were missed."""
    lines = missed_policies(result["policies"]) if "policies" in result else []
    lines += [
        f"{one['set']}: a tenth of the memory takes {one['tenth_to_all']:.2f} times as long"
        for one in result.get("memory", [])
        if one["tenth_to_all"] > TIME_MAX
    ]
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
    return lines


def missed_probes(probing: list[Measured]) -> list[str]:
    """Return the bounds of orders of probing that were missed."""
    lines = []
    for one in probing:
        case = f"{one['shares']}, {one['arrival']}, {one['reading']}"
        if one["rop_to_apriori"] > APRIORI_MAX:
            lines.append(f"RoP is {one['rop_to_apriori']:.2f} of a priori for {case}")
        *others, last = one["shares"]
        is_aimed = len(others) >= 2 and last <= 0.1 and min(others) >= 0.9
        is_main = one["reading"] == READINGS[0]
        if is_main and is_aimed and one["rop_to_sequential"] > SEQUENTIAL_MAX:
            lines.append(
                f"RoP is {one['rop_to_sequential']:.2f} of sequential for {case}; "
                f"a priori is {one['apriori_to_sequential']:.2f}"
            )
    return lines


def main(arguments: list[str]) -> int:
    """Measure, print, and write what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks progressive", description=__doc__)
    path = OUT / "progressive.json"
    parser.add_argument("--json", type=Path, nargs="?", const=path, metavar="PATH")
    parser.add_argument("--small", action="store_true", help="one seed, a tenth of the documents")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of real files")
    parser.add_argument(
        "--merge", type=Path, nargs="+", metavar="PATH", help="parts to put together"
    )
    options = parser.parse_args(arguments)
    command = " ".join(["python -m benchmarks progressive", *arguments])
    result: Measured = {"command": command, "machine": machine()}
    if options.merge:
        for part in options.merge:
            result |= json.loads(part.read_text("utf-8"))
        result["command"] = "python -m benchmarks progressive"
    else:
        measure(result, options.parts, options.data, is_small=options.small)
    result["missed"] = missed(result)
    print_result(result, options.json)
    if options.json is not None:
        options.json.with_suffix(".md").write_text(page(result), "utf-8")
        draw(result, options.json.with_suffix(".png"))
    return 1 if result["missed"] else 0


def measure(result: Measured, parts: Sequence[str], data: Path, *, is_small: bool) -> None:
    """Measure some parts and put them into a result."""
    if "queries" in parts:
        result["queries"] = measure_queries(is_small=is_small)
    if "policies" in parts:
        result["policies"] = measure_all_policies(data, is_small=is_small)
    if "memory" in parts:
        rounds = 1 if is_small else ROUNDS
        result["memory"] = [measure_memory(name, rounds) for name in TIMED]
    if "probing" in parts:
        result["probing"] = measure_all_probing(data, is_small=is_small)
