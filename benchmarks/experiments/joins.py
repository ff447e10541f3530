"""Joins between documents: MMQJP's figures 8 to 16, beside one SQL query each.

Figures 8 to 15 join two documents: a pair has equal leaves, so a query holds exactly if it compares
equal leaves. Time is that of the second document of a pair, its witnesses given; pairs follow each
other, far apart in time, and the strategies take turns pair by pair. Figure 16 reads a stream of
items, extraction included; sets of queries take turns. Results are counted per distinct query, and
must be equal. All times are core time, since others may use the machine; DuckDB runs on one core
like everything else here. The part `spark` joins items on Spark (``join_batch``), `streams`
bindings of two streams (``join_bindings``). A peer that is missing, too slow or wrong is named on
the page, and the rest is measured.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.experiments import join_batch, join_bindings
from benchmarks.joiners import STRATEGIES, Compiled, ItemRun, Loaded
from benchmarks.patience import attempt
from benchmarks.peers import duckdb_joins
from benchmarks.runner import ROOT, machine, progress
from benchmarks.workloads import joins as workload

OUT = ROOT / "out" / "bench"
WINDOW, APART_US = "10 s", 1_000_000_000
LEAVES, ZIPF, JOINS_MAX = 8, 0.8, 4
SQL_SAMPLE = 200
TURN_ITEMS = 5_000
BASELINE_SECONDS = 15.0
PARTS = ("figures", "stream", "spark", "streams")
BESIDE_ITEMS, BESIDE_QUERIES = 20_000, 1_000
STREAM_DOCUMENTS, STREAM_ELEMENTS = 4_000, 10
PEER_SECONDS_MAX, SPARK_SECONDS_MAX = 600.0, 1800.0
Make = Callable[[int], bytes]


def pairs(compiled: Compiled, make: Make, rounds: int, names: tuple[str, ...]) -> dict[str, Any]:
    """Return seconds per pair of documents and results per pair, by strategy."""
    loads = {name: compiled.load(strategy=name, is_counting=True, lateness=0) for name in names}
    seconds: dict[str, list[float]] = {name: [] for name in names}
    results: dict[str, set[int]] = {name: set() for name in names}
    for turn in range(rounds + 1):
        for name, loaded in loads.items():
            joins = loaded.joins
            times = [turn * APART_US + part * 1_000_000 for part in range(2)]
            first, second = (
                loaded.record(make(turn), 2 * turn + part, times[part]) for part in range(2)
            )
            joins.admit(times[0])
            joins.push(first)
            joins.take()
            start = time.process_time()
            joins.admit(times[1])
            joins.push(second)
            elapsed = time.process_time() - start
            if turn:  # the first pair builds the indexes
                seconds[name].append(elapsed)
                results[name].add(joins.take()[4])
    assert len(set.union(*results.values())) == 1, f"strategies differ: {results}"
    return {
        "seconds": {name: statistics.median(times) for name, times in seconds.items()},
        "results": results[names[0]].pop(),
        "shapes": loads[names[0]].joins.statistics()["shapes"],
    }


def figure(
    points: dict[Any, tuple[list[str], Make]], rounds: int, names: tuple[str, ...] = STRATEGIES
) -> list[dict[str, Any]]:
    """Measure one figure: the queries and the documents at each of its points."""
    found = []
    for point, (queries, make) in points.items():
        compiled = Compiled(queries)
        measured = pairs(compiled, make, rounds, names)
        text = ", ".join(f"{n} {s * 1e6:.0f} us" for n, s in measured["seconds"].items())
        progress(f"{point}: {len(queries)} queries compiled in {compiled.seconds:.0f} s; {text}")
        found.append({"point": point, "queries": len(queries), **measured})
    return found


def flat(leaves: int) -> Make:
    return lambda salt: workload.flat_document(leaves, salt)


def sql_per_query(count: int) -> dict[str, float]:
    """Return the seconds of one SQL query on DuckDB over one pair, from a sample of so many."""
    queries = workload.two_levels(count, LEAVES, ZIPF, WINDOW)
    names = [f"l{n}" for n in range(LEAVES)]
    rows = duckdb_joins.extract([workload.flat_document(LEAVES, 0)] * 2, names)
    database = duckdb_joins.connect(names, rows)
    sample = queries[:: max(1, len(queries) // SQL_SAMPLE)][:SQL_SAMPLE]
    duckdb_joins.count(database, sample[:10])
    seconds, _ = duckdb_joins.count(database, sample)
    return {"sample": len(sample), "seconds per query": seconds / len(sample)}


def stream(small: bool) -> dict[str, Any]:
    """Measure figure 16, and the comparison with lxml and DuckDB."""
    count = 20_000 if small else 225_000
    items = workload.items(count)
    sizes = (1_000, 10_000) if small else (100, 1_000, 10_000, 100_000)
    compiled = {size: Compiled(workload.item_queries(size)) for size in sizes}
    runs = {size: ItemRun(one.load(is_counting=True)) for size, one in compiled.items()}
    for start in range(0, count, TURN_ITEMS):
        for run_ in runs.values():
            run_.read(items[start : start + TURN_ITEMS])
    points = []
    for size, one in compiled.items():
        strategies = {"shared": runs[size].measured()}
        progress(f"{size} queries, shared: {_rate(strategies['shared']):.0f} items/s")
        for name in STRATEGIES[1:]:
            strategies[name] = _read_for(one.load(strategy=name, is_counting=True), items)
            _compare(one, items, name, strategies[name])
            progress(f"{size} queries, {name}: {_rate(strategies[name]):.0f} items/s")
        points.append({"queries": size, "strategies": strategies})
    return {"items": count, "points": points, "beside DuckDB": beside_duckdb(items[:BESIDE_ITEMS])}


def _read_for(loaded: Loaded, items: list[bytes]) -> dict[str, float]:
    """Read items until enough time is spent."""
    run_ = ItemRun(loaded)
    for start in range(0, len(items), 500):
        if run_.seconds < BASELINE_SECONDS:
            run_.read(items[start : start + 500])
    return run_.measured()


def _compare(compiled: Compiled, items: list[bytes], name: str, found: dict[str, float]) -> None:
    """See whether a strategy found as much as ours in the items that it had time for."""
    run_ = ItemRun(compiled.load(is_counting=True))
    run_.read(items[: int(found["items"])])
    assert run_.results == found["results"], f"{name}: {found['results']}, not {run_.results}"


def _rate(measured: dict[str, float]) -> float:
    return measured["items"] / measured["seconds"]


def beside_duckdb(items: list[bytes]) -> dict[str, Any]:
    """Measure 1,000 queries over items, extraction included, beside lxml and DuckDB."""
    queries = workload.item_queries(BESIDE_QUERIES)
    compiled = Compiled(queries)
    run_ = ItemRun(compiled.load(is_counting=True))
    run_.read(items)
    ours = run_.measured()
    theirs = attempt(duckdb_items, len(items), seconds_max=PEER_SECONDS_MAX)
    if "error" not in theirs and theirs["results"] != ours["results"]:
        theirs = {"error": f"it finds {theirs['results']}, we find {ours['results']}"}
    progress(f"lxml + DuckDB {theirs}, ours {ours['seconds']:.1f} s")
    if "error" in theirs:
        return {"ours": ours, **theirs}
    ratio = (theirs["extraction"] + theirs["sql"]) / ours["seconds"]
    return {"ours": ours, **theirs, "ratio": ratio}


def duckdb_items(count: int) -> dict[str, float]:
    """Return what lxml and DuckDB need for items, and what they find."""
    start = time.process_time()
    rows = duckdb_joins.extract(workload.items(count), workload.LEAVES)
    database = duckdb_joins.connect(workload.LEAVES, rows)
    extraction = time.process_time() - start
    seconds, results = duckdb_joins.count(database, workload.item_queries(BESIDE_QUERIES))
    return {"extraction": extraction, "sql": seconds, "results": results}


def run(parts: list[str], small: bool, rounds: int) -> dict[str, Any]:
    """Measure the parts that were asked for."""
    measures: dict[str, Callable[[], dict[str, Any]]] = {
        "figures": lambda: figures_of(small, rounds),
        "stream": lambda: {"stream": stream(small)},
        "spark": lambda: {"spark": beside_spark()},
        "streams": lambda: {"streams": over_streams(small)},
    }
    found: dict[str, Any] = {}
    for part in parts:
        progress(f"part {part}")
        found |= measures[part]()
    return found


def beside_spark() -> dict[str, Any]:
    """Measure the same on Spark, if there is one."""
    return attempt(
        join_batch.beside_spark, BESIDE_ITEMS, BESIDE_QUERIES, seconds_max=SPARK_SECONDS_MAX
    )


def over_streams(small: bool) -> dict[str, Any]:
    """Measure a query over two streams on Spark, beside DataFrames by hand."""
    documents = STREAM_DOCUMENTS // 10 if small else STREAM_DOCUMENTS
    return attempt(
        join_bindings.beside_spark, documents, STREAM_ELEMENTS, seconds_max=SPARK_SECONDS_MAX
    )


def figures_of(small: bool, rounds: int) -> dict[str, Any]:
    """Measure figures 8 to 13, and one SQL query on DuckDB."""
    counts = (10, 100, 1_000, 10_000) if small else (10, 100, 1_000, 10_000, 100_000)
    two, three = workload.two_levels, workload.three_levels
    figures: dict[str, Any] = {}
    progress("figure 8")
    queries = {n: two(n, LEAVES, ZIPF, WINDOW) for n in counts}
    figures["8"] = figure({n: (q, flat(LEAVES)) for n, q in queries.items()}, rounds)
    progress("figure 9")
    figures["9"] = figure(
        {n: (two(1_000, n, ZIPF, WINDOW), flat(n)) for n in (4, 6, 8, 10, 12)}, rounds
    )
    progress("figure 10")
    figures["10"] = figure(
        {z: (two(1_000, LEAVES, z, WINDOW), flat(LEAVES)) for z in (0.0, 0.4, 0.8, 1.2, 1.6)},
        rounds,
    )
    progress("figure 11")
    nested = workload.nested_document
    figures["11"] = figure({n: (three(n, JOINS_MAX, ZIPF, WINDOW), nested) for n in counts}, rounds)
    progress("figure 12")
    figures["12"] = figure(
        {k: (three(1_000, k, ZIPF, WINDOW), nested) for k in (2, 3, 4, 5)}, rounds
    )
    progress("figure 13")
    figures["13"] = figure(
        {z: (three(1_000, JOINS_MAX, z, WINDOW), nested) for z in (0.0, 0.4, 0.8, 1.2, 1.6)}, rounds
    )
    progress("DuckDB, one query each")
    sql = attempt(sql_per_query, counts[-1], seconds_max=PEER_SECONDS_MAX)
    return {"figures": figures, "sql": sql}


Threshold = tuple[str, float, float]


def thresholds(result: dict[str, Any]) -> list[Threshold]:
    """Return what must be shown of what was measured: what, the ratio found, the ratio wanted."""
    found: list[Threshold] = []
    if "figures" in result:
        last = {name: points[-1] for name, points in result["figures"].items()}
        two, three = last["8"]["seconds"], last["11"]["seconds"]
        found += [
            ("two levels, beside Sequential", two["sequential"] / two["shared"], 100),
            ("three levels, beside Sequential", three["sequential"] / three["shared"], 50),
        ]
        if "error" not in result["sql"]:
            sql = result["sql"]["seconds per query"] * last["8"]["queries"]
            what = "two levels, beside one SQL query each on DuckDB"
            found.append((what, sql / two["shared"], 1000))
    beside = f"{BESIDE_QUERIES:,} queries, extraction included, beside"
    if "stream" in result:
        points = result["stream"]["points"]
        rates = {point["queries"]: _rate(point["strategies"]["shared"]) for point in points}
        fewer, many = sorted(rates)[-2:]
        found.append((f"items/s, {many} queries to {fewer}", rates[many] / rates[fewer], 0.5))
        theirs = result["stream"]["beside DuckDB"]
        if "error" not in theirs:
            found.append((f"{beside} lxml + DuckDB", theirs["ratio"], 5))
    if "error" not in result.get("spark", {"error": "not asked for"}):
        ratio, on_spark = result["spark"]["ratio"], result["spark"]["ratio on Spark"]
        found.append((f"{beside} lxml + Spark SQL", ratio, join_batch.WANTED))
        what = f"the same on Spark, results with their XML, {beside} lxml + Spark SQL"
        found.append((what, on_spark, join_batch.WANTED_ON_SPARK))
    return found


def absences(result: dict[str, Any]) -> list[str]:
    """Return a sentence for each peer that was asked for, and gave no figure."""
    parts = {
        "one SQL query each on DuckDB": result.get("sql", {}),
        "lxml + DuckDB": result.get("stream", {}).get("beside DuckDB", {}),
        "Spark": result.get("spark", {}),
        "streams on Spark": result.get("streams", {}),
    }
    return [f"- {name}: {part['error']}" for name, part in parts.items() if "error" in part]


CLAIMS = {
    "8": "two levels, number of queries; the paper: over two orders of magnitude at 100,000",
    "9": "two levels, leaves; the paper: both about 6 times dearer at 12 leaves than at 4",
    "10": "two levels, Zipf parameter; the paper: little impact on MMQJP, a factor 2 on Sequential",
    "11": "three levels, number of queries; the paper: two orders of magnitude at 100,000",
    "12": "three levels, value joins per query; the paper: MMQJP grows faster than Sequential",
    "13": "three levels, Zipf parameter; the paper: more impact on Sequential than on MMQJP",
}


def page(result: dict[str, Any]) -> str:
    """Return the measurements as text."""
    where = result["machine"]
    lines = [
        "# Joins between documents",
        "",
        f"`{result['command']}` on {where['processor']}, {where['cores']} cores, load"
        f" {where['load']:.1f}, Python {where['python']}, revision {where['revision']}.",
        "",
    ]
    lines += ["| what | found | wanted |", "| --- | --- | --- |"]
    lines += [f"| {what} | {got:,.1f}x | {want}x |" for what, got, want in thresholds(result)]
    lines += ["", *absences(result), ""]
    if "figures" in result:
        lines += _figures_page(result)
    if "stream" in result:
        lines += _stream_page(result["stream"])
    if "error" not in result.get("spark", {"error": "not asked for"}):
        lines += join_batch.page(result["spark"])
    if "error" not in result.get("streams", {"error": "not asked for"}):
        lines += join_bindings.page(result["streams"])
    return "\n".join(lines)


def _figures_page(result: dict[str, Any]) -> list[str]:
    lines = ["Core time, median over pairs of documents."]
    if "error" not in result["sql"]:
        sample = result["sql"]["sample"]
        lines[0] += f" One SQL query each is scaled up from a sample of {sample} queries."
    lines.append("")
    for name, points in result["figures"].items():
        lines += [f"## Figure {name}: {CLAIMS[name]}", ""]
        lines += ["| point | queries | shapes | results | " + " | ".join(STRATEGIES) + " |"]
        lines += ["| --- " * (4 + len(STRATEGIES)) + "|"]
        for point in points:
            times = " | ".join(f"{point['seconds'][s] * 1e6:,.1f} us" for s in STRATEGIES)
            lines.append(
                f"| {point['point']} | {point['queries']} | {point['shapes']} |"
                f" {point['results']} | {times} |"
            )
        lines.append("")
    return [*lines, "Figures 14 and 15 are the columns `mmqjp` and `views` of 8 and 11.", ""]


def _stream_page(stream_: dict[str, Any]) -> list[str]:
    lines = [f"## Figure 16: a stream of {stream_['items']} items, extraction included", ""]
    lines += ["| queries | " + " | ".join(f"{s}, items/s (items read)" for s in STRATEGIES) + " |"]
    lines += ["| --- " * (1 + len(STRATEGIES)) + "|"]
    for point in stream_["points"]:
        cells = " | ".join(
            f"{_rate(one):,.0f} ({one['items']:,})"
            for one in (point["strategies"][s] for s in STRATEGIES)
        )
        lines.append(f"| {point['queries']:,} | {cells} |")
    return [*lines, ""]


def draw(result: dict[str, Any], path: Path) -> None:
    """Draw all figures as one picture."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawing, axes = pyplot.subplots(3, 3, figsize=(15, 12))
    for place, (name, points) in zip(axes.flat, result["figures"].items(), strict=False):
        for strategy in STRATEGIES:
            times = [point["seconds"][strategy] * 1e3 for point in points]
            place.plot([str(point["point"]) for point in points], times, "o-", label=strategy)
        place.set_yscale("log")
        place.set_title(f"Figure {name}: {CLAIMS[name].split(';')[0]}", fontsize=9)
        place.set_ylabel("ms per pair of documents")
    for place, name in ((axes.flat[6], "8"), (axes.flat[7], "11")):
        point = result["figures"][name][-1]
        bars = ("mmqjp", "views", "shared")
        place.bar(bars, [point["seconds"][bar] * 1e3 for bar in bars])
        place.set_yscale("log")
        number = "14" if name == "8" else "15"
        place.set_title(f"Figure {number}: views, {point['queries']} queries", fontsize=9)
    for strategy in STRATEGIES:
        points = result["stream"]["points"]
        rates = [_rate(point["strategies"][strategy]) for point in points]
        axes.flat[8].plot([str(p["queries"]) for p in points], rates, "o-", label=strategy)
    axes.flat[8].set_yscale("log")
    axes.flat[8].set_title("Figure 16: items/s, extraction included", fontsize=9)
    axes.flat[8].legend(fontsize=8)
    drawing.tight_layout()
    drawing.savefig(path, dpi=110)
    pyplot.close(drawing)


def main(arguments: list[str]) -> int:
    """Measure, print the page, write the files that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks joins", description=__doc__)
    parser.add_argument("--json", type=Path, nargs="?", const=OUT / "joins.json", metavar="PATH")
    parser.add_argument("--small", action="store_true", help="10,000 queries and 20,000 items")
    parser.add_argument(
        "--parts",
        nargs="+",
        choices=PARTS,
        default=list(PARTS),
        metavar="PART",
        help=f"what to measure, of {', '.join(PARTS)} (all)",
    )
    parser.add_argument("--repeat", type=int, default=9, metavar="N", help="pairs measured (9)")
    options = parser.parse_args(arguments)
    result = {
        "command": " ".join(["python -m benchmarks joins", *arguments]),
        "machine": machine(),
        **run(options.parts, options.small, options.repeat),
    }
    print(page(result))
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
        options.json.with_suffix(".md").write_text(page(result), "utf-8")
        if {"figures", "stream"} <= result.keys():
            draw(result, options.json.with_suffix(".png"))
        if "error" not in result.get("spark", {"error": "not asked for"}):
            path = options.json.with_name(f"{options.json.stem}-batch.png")
            join_batch.draw(result["spark"], path)
    return 0 if all(got >= want for _, got, want in thresholds(result)) else 1
