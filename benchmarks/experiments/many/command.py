"""The command: `python -m benchmarks many [--n N …] [--json PATH] [--small]`."""

import argparse
import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks import peers
from benchmarks.experiments.many import durable, plots, studies
from benchmarks.experiments.many.measure import OUT, Effort, run, task_of
from benchmarks.experiments.many.page import page
from benchmarks.experiments.many.promises import check
from benchmarks.runner import machine, progress
from benchmarks.workloads.sets import Workload

COUNTS = (1, 100, 10_000, 100_000, 1_000_000)
SMALL_COUNTS = (1, 100, 1_000)
PARTS = ("sets", "durable", "figures")
MODES = ("filter", "query")
SETS = (
    Workload("nitf", "path", "unselective"),
    Workload("nitf", "path", "selective"),
    Workload("nitf", "twig", "unselective"),
    Workload("nitf", "twig", "selective"),
    Workload("nitf", "template", "selective"),
)


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Return the command's options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks many", description=__doc__)
    parser.add_argument("--n", type=int, nargs="+", metavar="N", help="numbers of subscriptions")
    parser.add_argument("--small", action="store_true", help="up to 1,000 queries, a minute or so")
    parser.add_argument("--repeat", type=int, metavar="N", help="rounds (2)")
    parser.add_argument("--seconds", type=float, metavar="S", help="of one pass of one system (3)")
    parser.add_argument("--sets", nargs="+", metavar="SET", help="for example nitf-path-selective")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument(
        "--json",
        type=Path,
        nargs="?",
        const=OUT.parent / "many.json",
        metavar="PATH",
        help="write all measurements here, and the page and the plots beside it",
    )
    options = parser.parse_args(arguments)
    known = {workload.name: workload for workload in SETS}
    if unknown := set(options.sets or ()) - set(known):
        parser.error(f"there is no set {min(unknown)}; use some of {', '.join(known)}")
    if any(count < 1 for count in options.n or ()):
        parser.error("--n needs numbers of at least one subscription")
    options.sets = [known[name] for name in options.sets or known]
    options.counts = sorted(options.n or (SMALL_COUNTS if options.small else COUNTS))
    return options


def effort_of(options: argparse.Namespace) -> Effort:
    """Return how much is measured."""
    return Effort(
        rounds=options.repeat or (1 if options.small else 2),
        seconds_max=options.seconds or (0.25 if options.small else 3.0),
        documents=40 if options.small else 300,
        checked=3 if options.small else 5,
    )


def measure(options: argparse.Namespace, result: dict[str, Any]) -> Iterator[None]:
    """Measure what was asked for, and pause whenever there is something more in the result."""
    effort = effort_of(options)
    # Starting Spark takes longer than everything else that is small.
    systems = tuple(n for n in peers.MANY_PEERS if not (options.small and n == "spark_xpath"))
    result |= {"machine": machine(), "effort": asdict(effort), "tasks": []}
    if "sets" in options.parts:
        for count, workload, mode in product(options.counts, options.sets, options.modes):
            task = task_of(workload, mode, count, effort)
            result["tasks"].append(run(task, effort, systems))
            yield
    if "durable" in options.parts:
        most = max(options.counts)
        starts, additions = (3, 20) if options.small else (20, 1000)
        result["durable"] = durable.run(
            most, min(most, 100_000), additions, starts, effort.rounds, effort
        )
        yield
    if "figures" in options.parts:
        sizes = studies.SMALL if options.small else studies.Sizes()
        result["studies"] = []
        for study in studies.studies(sizes):
            result["studies"].append(studies.measure(study, effort))
            yield


def main(arguments: list[str]) -> int:
    """Measure, print the page, write the files that were asked for.

    Returns 1 if systems disagree or a promise that was measured at its size is not kept.
    """
    options = parse_arguments(arguments)
    result: dict[str, Any] = {"command": " ".join(["python -m benchmarks many", *arguments])}
    for _ in measure(options, result):
        if options.json:  # a run takes long: what was seen is kept if it is broken off
            options.json.parent.mkdir(parents=True, exist_ok=True)
            options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    text = page(result)
    print(text)
    if options.json:
        options.json.with_suffix(".md").write_text(text, "utf-8")
        written = plots.draw(result, options.json)
        progress(f"wrote {options.json}, the page and {len(written)} plots beside it")
    agree = all(task["agrees"] for task in result["tasks"])
    missed = [one for one in check(result) if one.count == one.promised_count and not one.is_kept]
    return os.EX_OK if agree and not missed else 1
