"""Loading distinct queries: what compiling and listing each costs beside compiling it in lxml.

The sets differ in what their queries share: paths and twigs of a document type, the same with
constants, and random paths that share nothing but their names. Times are core time of one
process, and the two systems take turns. One addition is timed in a registry that an engine reads.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import penstock
from benchmarks.runner import ROOT, machine, progress
from benchmarks.workloads.sets import Workload

OUT = ROOT / "out" / "bench"
RATIO_MAX, ADD_SECONDS_MAX = 8.0, 0.001
ADDITIONS, PAIRS = 500, 3
NAMES = [f"{stem}{number}" for stem in ("order", "item", "party", "line") for number in range(50)]

Measured = dict[str, Any]


def random_paths(count: int) -> Iterator[str]:
    """Yield distinct paths of 3 to 7 steps, half of them wildcards, half of them ``//``."""
    random, drawn = Random(7), set[str]()
    while len(drawn) < count:
        steps = range(random.randint(3, 7))
        names = (random.choice(NAMES) if random.random() < 0.5 else "*" for _ in steps)
        text = "".join(random.choice(("/", "//")) + name for name in names)
        if text not in drawn:
            drawn.add(text)
            yield text


SETS: dict[str, tuple[Callable[[int], Iterator[str]], int]] = {
    "paths of a schema": (Workload("nitf", "path", "unselective").queries, 100_000),
    "rare paths of a schema": (Workload("nitf", "path", "selective").queries, 100_000),
    "twigs of a schema": (Workload("nitf", "twig", "unselective").queries, 100_000),
    "templates": (Workload("nitf", "template", "selective").queries, 100_000),
    "random paths": (random_paths, 20_000),
}


def core_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def compile_in_lxml(texts: list[str]) -> list[Any]:
    """Return the compiled queries: they stand, so all of them are kept."""
    from lxml import etree

    return [etree.XPath(text) for text in texts]


def load(lines: list[str]) -> penstock.Registry:
    """Return a registry with the queries of lines; its plan is complete."""
    registry = penstock.Registry()
    report = registry.load(lines, workers=0)
    assert not report.failed, report.errors[0]
    registry.snapshot()
    return registry


def measure(texts: list[str]) -> Measured:
    """Load queries and compile them in lxml by turns; then add some one by one."""
    known, new = texts[:-ADDITIONS], texts[-ADDITIONS:]
    lines = [json.dumps({"name": str(n), "query": text}) for n, text in enumerate(known)]
    pairs = []
    for _ in range(PAIRS):
        ours = core_seconds(lambda: load(lines))
        pairs.append((ours, core_seconds(lambda: compile_in_lxml(known))))
    registry = load(lines)
    adds = [
        core_seconds(lambda number=number, text=text: registry.add(f"new {number}", text))
        for number, text in enumerate(new)
    ]
    ours, theirs = (statistics.median(times) / len(known) for times in zip(*pairs, strict=True))
    return {
        "queries": len(known),
        "load": ours,
        "lxml": theirs,
        "ratio": statistics.median(mine / other for mine, other in pairs),
        "add": statistics.median(adds),
    }


def page(result: Measured) -> str:
    """Return the measurements as a table."""
    where = result["machine"]
    lines = [
        "# Loading distinct queries",
        "",
        f"`{result['command']}` on {where['processor']}, {where['cores']} cores, load"
        f" {where['load']:.1f}, Python {where['python']}, revision {where['revision']}.",
        "",
        "| set | queries | load, us each | lxml, us each | ratio | one more, us |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, one in result["sets"].items():
        figures = (one["load"] * 1e6, one["lxml"] * 1e6, one["ratio"], one["add"] * 1e6)
        listed = " | ".join(f"{figure:.1f}" for figure in figures)
        lines.append(f"| {name} | {one['queries']:,} | {listed} |")
    lines += ["", f"Bounds: a ratio of {RATIO_MAX:g}, {ADD_SECONDS_MAX * 1e3:g} ms for one more."]
    lines += [f"MISSED: {what}" for what in missed(result)]
    return "\n".join(lines) + "\n"


def missed(result: Measured) -> list[str]:
    """Return which bounds are missed."""
    found = []
    for name, one in result["sets"].items():
        if one["ratio"] > RATIO_MAX:
            found.append(f"{name} take {one['ratio']:.1f} times the time of lxml")
        if one["add"] > ADD_SECONDS_MAX:
            found.append(f"one more of {name} takes {one['add'] * 1e3:.2f} ms")
    return found


def draw(result: Measured, path: Path) -> None:
    """Write the ratios as a picture."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 3.6))
    names = list(result["sets"])
    axes.barh(names, [result["sets"][name]["ratio"] for name in names], color="#0b5c85")
    axes.axvline(RATIO_MAX, color="#c98b2b", label="bound")
    axes.set_xlabel("time to load, in times of compiling in lxml")
    axes.invert_yaxis()
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def main(arguments: list[str]) -> int:
    """Measure, print the page, write the files that were asked for; 1 if a bound is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks loading", description=__doc__)
    parser.add_argument("--json", type=Path, nargs="?", const=OUT / "loading.json", metavar="PATH")
    parser.add_argument("--small", action="store_true", help="a tenth of the queries")
    options = parser.parse_args(arguments)
    result: Measured = {
        "command": " ".join(["python -m benchmarks loading", *arguments]),
        "machine": machine(),
        "sets": {},
    }
    for name, (draw_texts, count) in SETS.items():
        count = count // 10 if options.small else count
        progress(f"{count:,} {name}")
        texts = list(islice(draw_texts(count + ADDITIONS), count + ADDITIONS))
        result["sets"][name] = measure(texts)
    text = page(result)
    print(text)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
        options.json.with_suffix(".md").write_text(text, "utf-8")
        draw(result, options.json.with_suffix(".png"))
        progress(f"wrote {options.json}, and .md and a picture beside it")
    return 1 if missed(result) else 0
