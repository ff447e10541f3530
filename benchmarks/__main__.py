"""The command: `python -m benchmarks PART [--json PATH] [--small]`.

Parts are single, spark, splitting, many, loading, following, joins, join-stream, join-changes,
growth, revisions, interruption, poison, xquery, broker, views, tables, progressive, metrics and
structure.
"""

import argparse
import json
import sys
from importlib import import_module
from pathlib import Path

from benchmarks import plots, report
from benchmarks.experiments import latency, reverse, single, sweeps
from benchmarks.runner import ROOT, machine, progress
from benchmarks.workloads.xmark import Auction, cached

OUT = ROOT / "out" / "bench"
SMALL, LARGE = 0.1, 1.0
# Each has options of its own, and imports what nobody else needs.
EXPERIMENTS = {
    "spark": "experiments.spark",
    "splitting": "experiments.splitting",
    "many": "experiments.many.command",
    "loading": "experiments.loading",
    "following": "experiments.following",
    "joins": "experiments.joins",
    "join-stream": "experiments.join_stream",
    "join-changes": "experiments.join_changes",
    "growth": "experiments.growth",
    "revisions": "experiments.revisions.command",
    "interruption": "experiments.interruption",
    "poison": "experiments.poison",
    "xquery": "experiments.xquery",
    "broker": "experiments.broker",
    "views": "experiments.views",
    "tables": "experiments.tables",
    "progressive": "experiments.progressive",
    "metrics": "experiments.metrics",
    "structure": "structure",
}
PARTS = ("single", "reverse", "sweeps", "latency")


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Return the command's options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("single", help="one query over one document, beside the peers")
    command.add_argument(
        "--json",
        type=Path,
        nargs="?",
        const=OUT / "single.json",
        metavar="PATH",
        help="write all measurements here, and the page beside it",
    )
    command.add_argument("--small", action="store_true", help="the 11 MB document alone")
    command.add_argument("--repeat", type=int, default=3, metavar="N", help="rounds (3)")
    command.add_argument(
        "--parts",
        nargs="+",
        choices=PARTS,
        default=PARTS,
        metavar="PART",
        help=f"what to measure, of {', '.join(PARTS)} (all)",
    )
    options = parser.parse_args(arguments)
    if options.repeat < 1:
        parser.error("--repeat needs at least one round")
    return options


def main(arguments: list[str]) -> int:
    """Measure, print the page, write the files that were asked for."""
    if (name := arguments[0] if arguments else "") in EXPERIMENTS:
        return int(import_module(f"benchmarks.{EXPERIMENTS[name]}").main(arguments[1:]))
    options = parse_arguments(arguments)
    factors = {"11 MB": SMALL} if options.small else {"11 MB": SMALL, "110 MB": LARGE}
    documents = {}
    for label, factor in factors.items():
        progress(f"document of {label}")
        documents[label] = cached(OUT, factor)
    result = {
        "command": " ".join(["python -m benchmarks", *arguments]),
        "machine": machine(),
        **measure_parts(options, documents, list(factors.values())[-1]),
    }
    text = report.page(result)
    print(text)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
        options.json.with_suffix(".md").write_text(text, "utf-8")
        plots.draw(result, options.json.with_suffix(".png"))
        progress(f"wrote {options.json}, and .md and pictures beside it")
    return 0


def measure_parts(
    options: argparse.Namespace, documents: dict[str, Path], factor: float
) -> dict[str, object]:
    """Measure the parts that were asked for; ``factor`` is that of the last document."""
    paths = list(documents.values())
    parts = {
        "single": lambda: single.run(documents, options.repeat),
        "reverse": lambda: reverse.run(documents, options.repeat),
        "sweeps": lambda: sweeps.run(paths[0], OUT, options.repeat),
        "latency": lambda: latency.run(paths[-1], Auction(factor).item_count, options.repeat),
    }
    return {part: measure() for part, measure in parts.items() if part in options.parts}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
