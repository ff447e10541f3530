"""The command: `python -m benchmarks revisions --old FOLDER [--new FOLDER] [--only NAME …]`.

Input comes from the generators of the checkout that runs it.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

from benchmarks.experiments.revisions.measure import NEW, OLD, Checkout, judge, measure
from benchmarks.experiments.revisions.page import draw, page
from benchmarks.experiments.revisions.setups import SMOKE_SHARE, Scale, setups
from benchmarks.runner import ROOT, machine, progress

OUT = ROOT / "out" / "bench"


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Return the command's options; ``names`` are the workloads to measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks revisions", description=__doc__)
    parser.add_argument("--old", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--new", type=Path, default=ROOT, metavar="FOLDER", help="(this checkout)")
    parser.add_argument("--pairs", type=int, default=15, metavar="N", help="of runs (15)")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="workloads, or how they begin")
    parser.add_argument("--smoke", action="store_true", help="a hundredth of everything")
    parser.add_argument(
        "--json",
        type=Path,
        nargs="?",
        const=OUT / "revisions.json",
        metavar="PATH",
        help="write all measurements here, and the page and a plot beside it",
    )
    options = parser.parse_args(arguments)
    known = [workload.name for setup in setups() for workload in setup.workloads]
    for name in options.only or ():
        if not any(one.startswith(name) for one in known):
            parser.error(f"there is no workload {name}; use some of {', '.join(known)}")
    options.names = {one for one in known if one.startswith(tuple(options.only or ("",)))}
    options.checkouts = [
        Checkout(label, folder.resolve())
        for label, folder in ((OLD, options.old), (NEW, options.new))
    ]
    for checkout in options.checkouts:
        if not checkout.python.exists():
            parser.error(f"{checkout.folder} has no .venv: run `make setup` there")
    if options.pairs < 1:
        parser.error("--pairs needs at least one pair")
    return options


def main(arguments: list[str]) -> int:
    """Measure, print the page, write the files that were asked for.

    Returns 1 if a ratio is missed, rows differ or a run failed.
    """
    options, start = parse_arguments(arguments), time.monotonic()
    scale = Scale(OUT / "revisions", SMOKE_SHARE if options.smoke else 1)
    scale.folder.mkdir(parents=True, exist_ok=True)
    result: dict[str, Any] = {
        "command": " ".join(["python -m benchmarks revisions", *arguments]),
        "machine": machine(),
        "checkouts": {one.label: one.describe() for one in options.checkouts},
        "pairs": options.pairs,
        "workloads": [],
    }
    for setup in setups():
        if not options.names & {workload.name for workload in setup.workloads}:
            continue
        for entry in measure(setup, options.names, options.checkouts, options.pairs, scale):
            result["workloads"].append(entry)
            result["seconds"] = time.monotonic() - start
            if options.json:  # a run takes long: what was seen is kept if it is broken off
                options.json.parent.mkdir(parents=True, exist_ok=True)
                options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    text = page(result)
    print(text)
    if options.json:
        options.json.with_suffix(".md").write_text(text, "utf-8")
        try:
            draw(result, options.json.with_suffix(".png"))
        except ImportError as missing:
            progress(f"there is no plot: {missing}")
        progress(f"wrote {options.json}, and the page beside it")
    verdicts = [judge(entry) for entry in result["workloads"]]
    return 0 if all(verdict and verdict.is_kept for verdict in verdicts) else 1
