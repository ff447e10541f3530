"""XMark's twenty queries in XQuery, beside SaxonC-HE and BaseX.

Every query runs in a process of its own, on documents of 11 and 110 MB. Ratios to SaxonC and the
growth of time are those of core time, ratios to BaseX those of the time that it counts. Both build
a tree first; its time is part of theirs, and is given apart as well. A peer that does not answer
within its time is named, and counts as that slow at least. Results have to be equal. Memory is
what a process gains from its start to its peak, in a run of its own.
"""

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import peers
from benchmarks.patience import ROOT, Patience
from benchmarks.report import table
from benchmarks.runner import machine, progress
from benchmarks.statistics import geometric_mean
from benchmarks.workloads.xmark import cached
from benchmarks.workloads.xmark_queries import JOINS, PER_BINDING, QUERIES, XmarkQuery

OUT = ROOT / "out" / "bench"
CHILD = "benchmarks.xquery_child"
OURS = "penstock_xquery"
SAXON, BASEX = "saxonche_xquery", "basex_xquery"
SYSTEMS = (OURS, SAXON, BASEX)
SIZES = {"11 MB": 0.1, "110 MB": 1.0}
SECONDS_MAX = {"11 MB": 120.0, "110 MB": 600.0}
MEMORY_MAX = 64 << 20
PER_BINDING_MIN = 10.0
JOIN_MIN = {"11 MB": 10.0, "110 MB": 20.0}
TIMED_JOINS = (8, 10, 11)
CLOCKS = {SAXON: "core_seconds", BASEX: "seconds"}
"""What ratios compare. Others may use the machine; but Java's start is no part of BaseX's work."""
GROWTH_MAX, GROWING = 14.0, (8, 9, 10)
COLORS = {OURS: "#0b5c85", SAXON: "#a6587a", BASEX: "#c98b2b"}

Measured = dict[str, Any]


def run(
    sizes: Iterable[str], queries: Sequence[XmarkQuery], repeat: int, limits: dict[str, float]
) -> Measured:
    """Measure every system with every query on every document."""
    missing = {name: peers.load(name).missing() for name in SYSTEMS}
    for name, reason in missing.items():
        if reason is not None:
            progress(f"{peers.load(name).NAME} is left out: {reason}")
    systems = [name for name in SYSTEMS if missing[name] is None]
    documents = {}
    for label in sizes:
        progress(f"document of {label}")
        path = cached(OUT, SIZES[label])
        patience = Patience(limits[label])
        entries = {
            query.name: {name: _measure(patience, name, query, path, repeat) for name in systems}
            for query in queries
        }
        documents[label] = {
            "bytes": path.stat().st_size,
            "seconds_max": limits[label],
            "queries": entries,
        }
    return {
        "missing": {name: reason for name, reason in missing.items() if reason is not None},
        "systems": {name: _described(name) for name in systems},
        "queries": {query.name: query.about for query in queries},
        "documents": documents,
    }


def _described(name: str) -> dict[str, str]:
    peer = peers.load(name)
    return {"name": peer.NAME, "timed": peer.TIMED}


def _measure(
    patience: Patience, system: str, query: XmarkQuery, path: Path, repeat: int
) -> Measured:
    progress(f"{query.name}, {path.stat().st_size / 1e6:.0f} MB, {peers.load(system).NAME}")
    question = (system, query.name)
    asked = {"peer": system, "text": query.text, "path": str(path), "runs": repeat}
    reply = patience.ask(question, CHILD, {"task": "time", **asked})
    if "error" in reply:
        return reply
    memory = patience.ask(question, CHILD, {"task": "memory", **asked})
    return {**reply, "memory_bytes": memory.get("memory_bytes")}


def best(entry: Measured, part: str = "seconds") -> float | None:
    """Return the least that a system took, or None if it gave no answer."""
    taken = [one[part] for one in entry.get("runs", ()) if part in one]
    return min(taken) if taken else None


def judge(result: Measured) -> Measured:
    """Return what the measurements say: ratios, equal results, and which promises are kept."""
    judged: Measured = {"ratios": {}, "unequal": [], "unanswered": [], "promises": {}}
    for label, document in result["documents"].items():
        judged["ratios"][label] = {
            peer: _ratios(document, peer) for peer in (SAXON, BASEX) if peer in result["systems"]
        }
        for query, entries in document["queries"].items():
            digests = {entry["digest"] for entry in entries.values() if "digest" in entry}
            if len(digests) > 1:
                judged["unequal"].append([label, query])
            if "digest" not in entries.get(OURS, {}):
                judged["unanswered"].append([label, query])
    if OURS in result["systems"]:
        judged["promises"] = _promises(result, judged["ratios"])
    return judged


def _ratios(document: Measured, peer: str) -> dict[str, dict[str, Any]]:
    """Return by query how many times as long a peer took; ``at_least`` if it did not end."""
    clock = CLOCKS[peer]
    found = {}
    for query, entries in document["queries"].items():
        ours, theirs = best(entries.get(OURS, {}), clock), best(entries[peer], clock)
        if ours is None:
            continue
        seconds = document["seconds_max"] if theirs is None else theirs
        found[query] = {"ratio": seconds / ours, "at_least": theirs is None}
    return found


def _promises(result: Measured, ratios: Measured) -> Measured:
    """Return each promise with its figure and whether it is kept; those that were measured."""
    promises: Measured = {}
    large = list(SIZES)[-1]
    per_binding = [f"Q{number}" for number in PER_BINDING]
    if large in result["documents"] and SAXON in ratios[large]:
        measured = [
            ratios[large][SAXON][query]["ratio"]
            for query in per_binding
            if query in ratios[large][SAXON]
        ]
        if measured:
            mean = geometric_mean(measured)
            promises[f"per binding, {large}, times Saxon"] = [mean, mean >= PER_BINDING_MIN]
        gained = [
            result["documents"][large]["queries"][query][OURS].get("memory_bytes")
            for query in per_binding
            if query in result["documents"][large]["queries"]
        ]
        if gained and None not in gained:
            promises["per binding, memory in MiB"] = [max(gained) / 2**20, max(gained) < MEMORY_MAX]
    for label, least in JOIN_MIN.items():
        for number in TIMED_JOINS:
            ratio = ratios.get(label, {}).get(SAXON, {}).get(f"Q{number}")
            if ratio is not None:
                kept = ratio["ratio"] >= least
                promises[f"Q{number}, {label}, times Saxon"] = [ratio["ratio"], kept]
    promises |= _growth(result["documents"])
    return promises


def _growth(documents: Measured) -> Measured:
    """Return how the time of joins grows from the small document to the large one."""
    small, large = (documents.get(label, {}).get("queries", {}) for label in SIZES)
    found = {}
    for number in GROWING:
        name = f"Q{number}"
        ours = [best(part.get(name, {}).get(OURS, {}), "core_seconds") for part in (small, large)]
        if ours[0] and ours[1]:
            found[f"{name}, growth"] = [ours[1] / ours[0], ours[1] / ours[0] <= GROWTH_MAX]
    return found


def merged(records: Sequence[Measured]) -> Measured:
    """Return one record of runs with different queries or documents; the last one counts.

    Each document keeps the shortest time that a reply was waited for: a peer that does not answer
    is at least that slow.
    """
    together = {**records[0], "command": "; ".join(one["command"] for one in records)}
    about: dict[str, str] = {}
    entries: dict[str, Measured] = {label: {} for label in SIZES}
    described: dict[str, Measured] = {}
    for record in records:
        about |= record["queries"]
        for label, document in record["documents"].items():
            entries[label] |= document["queries"]
            before = described.get(label, document)
            seconds = min(before["seconds_max"], document["seconds_max"])
            described[label] = {**document, "seconds_max": seconds}
    names = [query.name for query in QUERIES]
    together["queries"] = {name: about[name] for name in names if name in about}
    together["documents"] = {
        label: {**document, "queries": _in_order(entries[label], names)}
        for label, document in described.items()
    }
    return together


def _in_order(entries: Measured, names: list[str]) -> Measured:
    return {name: entries[name] for name in names if name in entries}


def page(result: Measured) -> str:
    """Return the measurements as text."""
    where = result["machine"]
    place = f"{where['processor']}, {where['cores']} cores, load {where['load']:.1f}"
    lines = ["# XMark in XQuery", ""]
    lines += [f"`python -m benchmarks xquery` on {place}, revision {where['revision']}.", ""]
    for name, reason in result["missing"].items():
        lines.append(f"{peers.load(name).NAME} was left out: {reason}.")
    systems = result["systems"]
    lines += [f"{one['name']}: {one['timed']}." for one in systems.values()]
    for label, document in result["documents"].items():
        lines += ["", f"## {label}", "", *_rows(document, result, label)]
    judged = result["judged"]
    lines += ["", "## Ratios", ""]
    for label, by_peer in judged["ratios"].items():
        for peer, ratios in by_peer.items():
            if ratios:
                mean = geometric_mean([one["ratio"] for one in ratios.values()])
                told = f"{mean:.1f} times as fast as {systems[peer]['name']}"
                lines.append(f"{label}: {told} (geometric mean of {len(ratios)} queries)")
    for label, query in judged["unequal"]:
        lines.append(f"{label}: the results of {query} differ")
    for label, query in judged["unanswered"]:
        lines.append(f"{label}: Penstock does not answer {query}")
    for what, (figure, is_kept) in judged["promises"].items():
        lines.append(f"{what}: {figure:.1f} ({'kept' if is_kept else 'not kept'})")
    return "\n".join(lines) + "\n"


def _rows(document: Measured, result: Measured, label: str) -> list[str]:
    header = ["query", "about", "result"]
    for one in result["systems"].values():
        header += [f"{one['name']}, s", "tree, s", "on cores, s", "MB/s", "memory, MiB"]
    rows = []
    for query, entries in document["queries"].items():
        sizes = [entry["bytes"] for entry in entries.values() if "bytes" in entry]
        row = [query, result["queries"][query], f"{sizes[0]:,} B" if sizes else ""]
        for entry in entries.values():
            row += _cells(entry, document["bytes"])
        rows.append(row)
    return table(header, rows)


def _cells(entry: Measured, size: int) -> list[str]:
    seconds = best(entry)
    if seconds is None:
        return [str(entry["error"]), "", "", "", ""]
    tree, cores = best(entry, "build_seconds"), best(entry, "core_seconds")
    memory = entry["memory_bytes"]
    return [
        f"{seconds:.2f}",
        "" if tree is None else f"{tree:.2f}",
        "" if cores is None else f"{cores:.2f}",
        f"{size / 1e6 / seconds:.1f}",
        "" if memory is None else f"{memory / 2**20:.0f}",
    ]


def draw(result: Measured, path: Path) -> None:
    """Write a picture: the seconds of every query, one part per document."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    documents = result["documents"]
    figure, axes = pyplot.subplots(
        len(documents), 1, figsize=(11, 4.2 * len(documents)), squeeze=False
    )
    for place, (label, document) in enumerate(documents.items()):
        part = axes[place][0]
        names = list(document["queries"])
        width = 0.8 / len(result["systems"])
        for index, (system, about) in enumerate(result["systems"].items()):
            offset = (index - len(result["systems"]) / 2 + 0.5) * width
            heights = [best(document["queries"][name][system]) or 0 for name in names]
            places = [number + offset for number in range(len(names))]
            part.bar(places, heights, width, label=about["name"], color=COLORS[system])
        part.set_yscale("log")
        part.set_xticks(range(len(names)), names)
        part.set_ylabel("seconds, best run")
        part.set_title(f"XMark in XQuery, {label}; no bar: no answer in time")
        part.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def main(arguments: list[str]) -> int:
    """Measure and print; 1 if results differ or are missing, or a promise is not kept."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks xquery", description=__doc__)
    parser.add_argument("--json", type=Path, nargs="?", const=OUT / "xquery.json")
    parser.add_argument("--small", action="store_true", help="the 11 MB document alone")
    parser.add_argument("--large", action="store_true", help="the 110 MB document alone")
    parser.add_argument("--repeat", type=int, default=2, metavar="N", help="runs of each (2)")
    parser.add_argument("--seconds", type=float, metavar="S", help="wait so long for one reply")
    parser.add_argument("--queries", type=int, nargs="+", metavar="Q", help="numbers (all)")
    parser.add_argument(
        "--merge",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="measure nothing: put records together",
    )
    options = parser.parse_args(arguments)
    chosen = [query for query in QUERIES if not options.queries or query.number in options.queries]
    limits = SECONDS_MAX if options.seconds is None else dict.fromkeys(SIZES, options.seconds)
    sizes = [
        label
        for label, is_left_out in zip(SIZES, (options.large, options.small), strict=True)
        if not is_left_out
    ]
    if options.merge:
        result = merged([json.loads(path.read_text("utf-8")) for path in options.merge])
    else:
        result = {
            "command": " ".join(["python -m benchmarks xquery", *arguments]),
            "machine": machine(),
            "joins": list(JOINS),
            **run(sizes, chosen, options.repeat, limits),
        }
    result["judged"] = judge(result)
    text = page(result)
    print(text)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
        options.json.with_suffix(".md").write_text(text, "utf-8")
        draw(result, options.json.with_suffix(".png"))
        progress(f"wrote {options.json}, and .md and .png beside it")
    judged = result["judged"]
    is_kept = all(kept for _, kept in judged["promises"].values())
    return 0 if is_kept and not judged["unequal"] and not judged["unanswered"] else 1
