"""How cost grows: the queries that have to follow their input, at one size and at ten times it.

Work and kept bytes are the kernel's own counts; memory is what a process of its own gains while it
reads. lxml and pugixml read the larger document; a peer that does not answer within its time is
named and left out. Streams without an end are read by every query whose verdict says that it suits
them.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.experiments.single import available, described, request
from benchmarks.patience import ROOT, ask
from benchmarks.report import table
from benchmarks.runner import machine, progress
from benchmarks.workloads.queries import Query
from penstock.languages.xpath import xpath
from penstock.planning.explain import verdict
from penstock_testing.generate.growth import KNOWN, GrowthCase, growth_cases
from penstock_testing.generate.growth_documents import SHAPES

OUT = ROOT / "out" / "bench"
CHILD, PEER_CHILD = "benchmarks.growth_child", "benchmarks.child"
PEERS = ("lxml_tree", "pugixml_tree")
REFERENCE = "lxml_tree"
GROWTH = 10
WORK_MAX, MEMORY_MAX = 12.0, 14.0
REFERENCE_MAX, SECONDS_FREE = 3.0, 1.0
"""At most so many times the reference's time, or below so many seconds."""
WORK_FREE_PER_RECORD = 1
KEPT_BYTES_FREE, PEAK_BYTES_FREE = 16 << 10, 1 << 20
"""Smaller amounts are no growth: arenas and allocators grow in steps."""
FLAT_MAX = 1.1
OURS_SECONDS_MAX, ENDLESS_SECONDS_MAX = 40.0, 300.0


def run_case(case: GrowthCase, n: int, systems: list[str], seconds_max: float) -> dict[str, Any]:
    """Return what a query costs at both sizes, and the peers' seconds at the larger one."""
    ours = [
        ask(CHILD, {"task": "growth", **asdict(case), "n": size}, OURS_SECONDS_MAX)
        for size in (n, n * GROWTH)
    ]
    path = OUT / f"growth-{case.shape}-{n * GROWTH}.xml"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(SHAPES[case.shape](n * GROWTH)))
    is_number = case.query.startswith("count(")
    query = Query("growth", case.query, "number" if is_number else "count")
    peers = {
        name: ask(PEER_CHILD, request("time", name, query, path, 1), seconds_max)
        for name in systems
    }
    return {**asdict(case), "ours": ours, "peers": peers}


def ratio(entry: dict[str, Any], key: str, free: float) -> float:
    """Return by how much a cost grew; a cost below ``free`` counts as that."""
    small, large = entry["ours"]
    return float(large[key] / max(small[key], free))


def ratios(entry: dict[str, Any], n: int) -> dict[str, float]:
    """Return how the costs of a query grew with its document."""
    return {
        "work": ratio(entry, "work", n * WORK_FREE_PER_RECORD),
        "kept": ratio(entry, "kept_bytes", KEPT_BYTES_FREE),
        "memory": ratio(entry, "peak_bytes", PEAK_BYTES_FREE),
    }


def failures(entry: dict[str, Any], n: int) -> list[str]:
    """Return what a query missed, in words."""
    broken = [reply["error"] for reply in entry["ours"] if "error" in reply]
    if broken:
        return [broken[-1]]
    grown = ratios(entry, n)
    missed = [f"work {grown['work']:.1f}×"] if grown["work"] > WORK_MAX else []
    missed += [f"{key} {grown[key]:.1f}×" for key in ("kept", "memory") if grown[key] > MEMORY_MAX]
    seconds = entry["ours"][1]["seconds"]
    theirs = entry["peers"].get(REFERENCE, {}).get("seconds")
    if seconds > SECONDS_FREE and (not theirs or seconds > REFERENCE_MAX * min(theirs)):
        missed.append(f"{seconds:.1f} s")
    return missed


def run_endless(queries: Sequence[str], count: int) -> list[dict[str, Any]]:
    """Return the windows of a stream of so many records, for every query that suits it."""
    entries = []
    for query in queries:
        said = verdict(xpath(query))
        entry: dict[str, Any] = {"query": query, "cost": said.cost.name, "endless": said.endless}
        if said.suits_endless:
            progress(f"endless  {query}")
            asked = {"task": "endless", "query": query, "n": count}
            entry |= ask(CHILD, asked, ENDLESS_SECONDS_MAX)
        entries.append(entry)
    return entries


def is_flat(entry: dict[str, Any]) -> bool:
    """Return whether the last records of a stream cost what the early ones did."""
    if "windows" not in entry:
        return False
    first, last = entry["windows"][1], entry["windows"][-1]
    return bool(
        last["work"] <= FLAT_MAX * max(first["work"], WORK_FREE_PER_RECORD)
        and last["kept_bytes"] <= FLAT_MAX * max(first["kept_bytes"], KEPT_BYTES_FREE)
        and last["peak_bytes"] <= FLAT_MAX * first["peak_bytes"] + PEAK_BYTES_FREE
    )


def endless_queries(cases: Sequence[GrowthCase]) -> list[str]:
    """Return the different queries for nodes; a number comes at an end that never comes."""
    texts = [case.query.removeprefix("count(") for case in cases]
    nodes = (
        text[:-1] if case.query != text else text for case, text in zip(cases, texts, strict=True)
    )
    return list(dict.fromkeys(nodes))


def _seconds(reply: dict[str, Any]) -> str:
    if "seconds" not in reply:
        return "–"
    seconds = reply["seconds"]
    return f"{min(seconds) if isinstance(seconds, list) else seconds:.3f}"


def growth_table(result: dict[str, Any]) -> list[str]:
    """Return one line per query: how much each cost grew, and the seconds of all systems."""
    n, systems = result["n"], list(result["timed"])
    head = ["query", "document", "rows", "work", "kept", "memory", "kept kB", "memory kB"]
    rows = []
    for entry in result["cases"]:
        missed = failures(entry, n)
        line = [f"`{entry['query']}`".replace("|", "\\|"), entry["shape"]]
        if any("error" in reply for reply in entry["ours"]):
            line += ["–"] * (len(head) - 1)
        else:
            large, grown = entry["ours"][1], ratios(entry, n)
            line += [str(large["rows"]), *(f"{grown[key]:.1f}" for key in grown)]
            line += [f"{large[key] / 1e3:.0f}" for key in ("kept_bytes", "peak_bytes")]
            line.append(_seconds(large))
        line += [_seconds(entry["peers"][name]) for name in systems]
        rows.append([*line, ", ".join(missed) or "yes"])
    return table(
        [*head, "Penstock s", *(f"{result['timed'][s]['name']} s" for s in systems), "holds"], rows
    )


def endless_table(result: dict[str, Any]) -> list[str]:
    """Return one line per query that suits an endless stream: its second and its last window."""
    rows = []
    for entry in result["endless"]:
        if "error" in entry:
            rows.append([f"`{entry['query']}`", entry["error"], "", "", "", "no"])
        elif "windows" in entry:
            first, last = entry["windows"][1], entry["windows"][-1]
            cells = [f"{first[key]:.1f} → {last[key]:.1f}" for key in ("work", "microseconds")]
            cells += [
                f"{first[key] / 1e3:.0f} → {last[key] / 1e3:.0f}"
                for key in ("kept_bytes", "peak_bytes")
            ]
            text = f"`{entry['query']}`".replace("|", "\\|")
            rows.append([text, *cells, "yes" if is_flat(entry) else "no"])
    head = ["query", "work per record", "µs per record", "kept kB", "process kB", "flat"]
    return table(head, rows)


def page(result: dict[str, Any]) -> str:
    """Return the measurements as text."""
    where, n = result["machine"], result["n"]
    failed = [entry for entry in result["cases"] if failures(entry, n)]
    lines = [
        "# Growth",
        "",
        f"`{result['command']}` on {where['processor']}, {where['cores']} cores, load"
        f" {where['load']:.1f}, Python {where['python']}, revision {where['revision']}.",
        "",
        f"{len(result['cases'])} queries at n = {n:,} and {n * GROWTH:,}; ratios are those between"
        f" the sizes: at most {WORK_MAX:g} for counted work, {MEMORY_MAX:g} for kept bytes (the"
        " kernel's account) and memory (what a process gains). Seconds are those of the larger"
        f" document, trees included: at most {REFERENCE_MAX:g} times lxml's or below"
        f" {SECONDS_FREE:g} s; – is no answer within {result['peer_seconds']:g} s.",
    ]
    lines += [f"{name} is missing: {reason}." for name, reason in result["missing"].items()]
    lines += ["", *growth_table(result), "", f"{len(failed)} of {len(result['cases'])} miss it."]
    lines += [
        f"- `{entry['query']}` ({entry['shape']}): {', '.join(failures(entry, n))}"
        for entry in failed
    ]
    measured = [entry for entry in result["endless"] if "windows" in entry or "error" in entry]
    if result["endless"]:
        bent = [entry for entry in measured if not is_flat(entry)]
        lines += [
            "",
            f"Of {len(result['endless'])} different queries, {len(measured)} suit endless streams."
            f" {result['records']:,} records, second tenth → last tenth; {len(bent)} are not flat.",
            "",
            *endless_table(result),
        ]
    return "\n".join(lines) + "\n"


def draw(result: dict[str, Any], path: Path) -> None:
    """Draw the growth of work and memory, one point per query, beside what is allowed."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 5))
    entries = [e for e in result["cases"] if not any("error" in reply for reply in e["ours"])]
    grown = [ratios(entry, result["n"]) for entry in entries]
    for key, bound, color in (("work", WORK_MAX, "#0b5c85"), ("memory", MEMORY_MAX, "#c98b2b")):
        axes.plot(sorted(max(one[key], 0.1) for one in grown), ".", color=color, label=key)
        axes.axhline(bound, color=color, linewidth=0.8, linestyle="--")
    axes.set_yscale("log")
    axes.set_xlabel("queries, by growth")
    axes.set_ylabel(f"times as much for {GROWTH} times the records")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Return the command's options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks growth", description=__doc__)
    parser.add_argument("--json", type=Path, nargs="?", const=OUT / "growth.json", metavar="PATH")
    parser.add_argument("--small", action="store_true", help="a tenth of the records")
    parser.add_argument("--seed", type=int, default=12, help="of the generated queries (12)")
    parser.add_argument("--count", type=int, default=52, help="generated queries (52)")
    parser.add_argument("--peer-seconds", type=float, default=20, help="time of a peer (20)")
    parser.add_argument(
        "--parts", nargs="+", choices=("growth", "endless"), default=("growth", "endless")
    )
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Measure, print the page, write the files that were asked for; 1 if something is missed."""
    options = parse_arguments(arguments)
    n, records = (300, 100_000) if options.small else (3_000, 1_000_000)
    cases = [*KNOWN, *growth_cases(options.seed, options.count)]
    systems, absent = available(PEERS)
    measured = []
    for case in cases if "growth" in options.parts else ():
        progress(str(case))
        measured.append(run_case(case, n, systems, options.peer_seconds))
    asked = endless_queries(cases) if "endless" in options.parts else []
    result = {
        "command": " ".join(["python -m benchmarks growth", *arguments]),
        "machine": machine(),
        "n": n,
        "records": records,
        "peer_seconds": options.peer_seconds,
        "missing": absent,
        "timed": described(systems),
        "cases": measured,
        "endless": run_endless(asked, records),
    }
    print(page(result))
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
        options.json.with_suffix(".md").write_text(page(result), "utf-8")
        draw(result, options.json.with_suffix(".png"))
    tried = [entry for entry in result["endless"] if "windows" in entry or "error" in entry]
    is_kept = not any(failures(entry, n) for entry in measured) and all(map(is_flat, tried))
    return 0 if is_kept else 1
