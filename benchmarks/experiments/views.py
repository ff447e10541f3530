"""Stream views: figure 1 of the paper, the cost of stamping, and greedy selection against exact.

Times are core time, each compared with others of the same run. A server that hits reads header and
document for itself, as on a machine of its own; one that misses parses and filters as it would
without views. Answers are compared with lxml's.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import penstock
from benchmarks import patience
from benchmarks.peers import views_today
from benchmarks.runner import ROOT, machine, progress
from benchmarks.workloads import news
from penstock import kernel, routing
from penstock.planning.compile import compile_query
from penstock.routing.configuration import View
from penstock.routing.headers import Stamper
from penstock.routing.queries import Query, read_query
from penstock.routing.selection.exact import exact
from penstock.routing.selection.greedy import greedy
from penstock.routing.selection.instance import Demand, Instance, Need, Way
from penstock.routing.selection.search import search

OUT = ROOT / "out" / "bench"
SERVERS, SAMPLE, ROUNDS, INSTANCES = 10_000, 200, 9, 200
SLOWER = 10
BOUNDS = {
    "all views, native batch, against our parse and filter": 50.0,
    "all views, native batch, against lxml": 500.0,
    "all views, each server alone, against our parse and filter": 50.0,
    "15 views, each server alone, against our parse and filter": 3.0,
}
STAMPING_MAX, HEADER_SHARE_MAX, MEAN_MIN = 1.1, 0.01, 0.95

Measured = dict[str, Any]


def core_seconds(work: Callable[[], object], repeats: int) -> float:
    """Return the core time of one call."""
    started = time.process_time()
    for _ in range(repeats):
        work()
    return (time.process_time() - started) / repeats


def by_turns(works: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Return the least over rounds in which all take turns: what else runs only adds."""
    rounds = [{name: core_seconds(work, repeats) for name, work in works.items()}]
    for _ in range(ROUNDS - 1):
        rounds.append({name: core_seconds(work, repeats) for name, work in works.items()})
    return {name: min(times[name] for times in rounds) for name in works}


def filtering(texts: list[str], document: bytes) -> Callable[[], object]:
    """Return what a server does without views: parse once, filter by its queries."""
    programs = [compile_query(penstock.xpath(text), is_filter=True) for text in texts]
    session = kernel.Session(kernel.Plan.build(programs))

    def work() -> object:
        session.read_whole(document)
        return session.take().rows()

    return work


def measure_stamping(document: bytes) -> Measured:
    """Compare stamping 22 views with filtering by the same 22 paths."""
    stamper = Stamper(routing.Configuration(news.PATHS))
    works = {
        "filter": filtering(list(news.PATHS), document),
        "stamp": lambda: stamper.stamp(document),
    }
    times = by_turns(works, 200)
    header = stamper.stamp(document)
    return {
        "seconds": times,
        "ratio": times["stamp"] / times["filter"],
        "header_bytes": len(header),
        "header_share": len(header) / len(document),
    }


def measure_figure(document: bytes, count: int) -> Measured:
    """Measure the mean time of a server by header size, with our parser and with others."""
    servers = news.servers(count)
    texts = {query.text for queries in servers for query in queries}
    compiled = {text: read_query(text, text) for text in sorted(texts)}
    named = {
        str(n): [compiled[query.text] for query in queries] for n, queries in enumerate(servers)
    }
    sample = [[query.text for query in queries] for queries in servers[:SAMPLE]]
    path = OUT / "news.xml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(document)
    progress("views  lxml and expat")
    theirs = {
        "lxml": patience.attempt(views_today.lxml, str(path), sample, 3),
        "expat": patience.attempt(views_today.expat, str(path), sample, 3),
    }
    progress("views  our parse and filter")
    works = [filtering(texts, document) for texts in sample]
    own = by_turns({"own": lambda: [work() for work in works]}, 1)["own"] / len(works)
    parses = {"ours": own, f"{SLOWER}x slower (simulated)": SLOWER * own}
    parses |= {name: reply["seconds"] for name, reply in theirs.items() if "seconds" in reply}
    instance = instance_of([[query.path for query in queries] for queries in servers], 22)
    sizes = [measure_size(document, named, instance, size, parses) for size in range(23)]
    answers = theirs["lxml"].get("answers")
    return {
        "servers": count,
        "parses": parses,
        "errors": {name: reply["error"] for name, reply in theirs.items() if "error" in reply},
        "answers_are_equal": None if answers is None else check_answers(document, sample, answers),
        "sizes": sizes,
        "selectable": instance.weight,
    }


def instance_of(servers: list[list[int]], count: int) -> Instance:
    """Return the restricted problem of selection for the paths of servers."""
    demands = [
        Demand(tuple((Need((Way(1 << path),)),) for path in sorted(set(paths))))
        for paths in servers
    ]
    views = tuple(View(f"/v/p{place}") for place in range(count))
    return Instance(views, (1.0,) * count, tuple(demands))


def measure_size(
    document: bytes,
    named: dict[str, list[Query]],
    instance: Instance,
    size: int,
    parses: dict[str, float],
) -> Measured:
    """Measure one header size: how many servers hit, and how long a server takes on average."""
    progress(f"views  header size {size}")
    chosen = greedy(instance, size)
    configuration = routing.Configuration(
        [path for place, path in enumerate(news.PATHS) if chosen >> place & 1]
    )
    header = routing.stamp(document, configuration)
    router = routing.Router(named, [configuration])
    table = router.table(configuration)
    refusal, truths, _ = table.router.decide(header, document)
    assert refusal is None, refusal
    hits, place = 0, 0
    for queries in named.values():
        hits += 2 not in truths[place : place + len(queries)]
        place += len(queries)
    count = len(named)
    times = by_turns(
        {
            "alone": lambda: table.router.decide(header, document, is_alone=True),
            "together": lambda: table.router.decide(header, document),
        },
        2,
    )
    header_time = times["alone"] / count
    share = 1 - hits / count
    means = {name: header_time + share * parse for name, parse in parses.items()}
    return {
        "size": size,
        "header_bytes": len(header),
        "hit_rate": hits / count,
        "alone_seconds": header_time,
        "together_seconds": times["together"] / count,
        "mean_seconds": means,
        "faster": {name: parses[name] / mean for name, mean in means.items()},
    }


def check_answers(document: bytes, sample: list[list[str]], answers: list[list[bool]]) -> bool:
    """Return whether hits and misses give lxml's answers."""
    for paths in (news.PATHS, news.PATHS[:15], ()):
        configuration = routing.Configuration(paths)
        header = routing.stamp(document, configuration)
        for texts, expected in zip(sample, answers, strict=True):
            named = {str(n): text for n, text in enumerate(texts)}
            decision = routing.Server(named, [configuration]).decide(header, document)
            if [str(n) in decision.matches for n in range(len(texts))] != expected:
                return False
    return True


def measure_selection(count: int) -> Measured:
    """Compare greedy and our search with the exact optimum on random instances."""
    ratios: dict[str, list[float]] = {"greedy": [], "search": []}
    seconds = dict.fromkeys(("greedy", "search", "exact"), 0.0)
    below = 0
    for seed in range(count):
        if seed % 20 == 0:
            progress(f"views  selection {seed}/{count}")
        paths, servers, size = news.random_instance(seed)
        instance = instance_of(servers, paths)
        values = {}
        for name, method in (("greedy", greedy), ("search", search), ("exact", exact)):
            started = time.process_time()
            chosen = method(instance, size)
            seconds[name] += time.process_time() - started
            values[name] = instance.value(chosen)
        below += values["search"] < values["greedy"]
        for name, found in ratios.items():
            found.append(values[name] / values["exact"] if values["exact"] else 1.0)
    return {
        "instances": count,
        "search_below_greedy": below,
        "seconds": seconds,
        **{name: distribution(found) for name, found in ratios.items()},
    }


def distribution(ratios: list[float]) -> Measured:
    """Return the distribution of ratios to the optimum."""
    ordered = sorted(ratios)
    return {
        "mean": statistics.mean(ordered),
        "min": ordered[0],
        "p5": ordered[len(ordered) // 20],
        "median": statistics.median(ordered),
        "optimal": sum(ratio > 1 - 1e-9 for ratio in ordered) / len(ordered),
    }


def ratios_of(figure: Measured) -> dict[str, float]:
    """Return the ratios that are promised; a peer that is missing has none."""
    parses, full = figure["parses"], figure["sizes"][22]
    found = {
        "15 views, each server alone, against our parse and filter": figure["sizes"][15]["faster"][
            "ours"
        ]
    }
    for what, seconds in (
        ("native batch", full["together_seconds"]),
        ("each server alone", full["alone_seconds"]),
    ):
        for name, parse in parses.items():
            against = "our parse and filter" if name == "ours" else name
            found[f"all views, {what}, against {against}"] = parse / seconds
    return found


def missed(result: Measured) -> list[str]:
    """Return which bounds are missed."""
    ratios = ratios_of(result["figure"])
    found = [
        f"{name}: {ratios.get(name)} times, not {bound}"
        for name, bound in BOUNDS.items()
        if ratios.get(name, bound) < bound
    ]
    stamping, selection = result["stamping"], result["selection"]
    if stamping["ratio"] > STAMPING_MAX:
        found.append(f"stamping takes {stamping['ratio']:.3f} times as long as filtering")
    if stamping["header_share"] > HEADER_SHARE_MAX:
        found.append(f"the header is {stamping['header_share']:.2%} of the document")
    if selection["search"]["mean"] < MEAN_MIN or selection["search_below_greedy"]:
        found.append(f"selection: {selection['search']}")
    if result["figure"]["answers_are_equal"] is False:
        found.append("an answer is not lxml's")
    return found


def main(arguments: list[str]) -> int:
    """Measure and print the page; 1 if a bound is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks views", description=__doc__)
    parser.add_argument("--json", type=Path, nargs="?", const=OUT / "views.json", metavar="PATH")
    parser.add_argument("--small", action="store_true", help="1,000 servers, 20 instances")
    options = parser.parse_args(arguments)
    document = news.document()
    result: Measured = {
        "command": " ".join(["python -m benchmarks views", *arguments]),
        "machine": machine(),
        "document_bytes": len(document),
        "stamping": measure_stamping(document),
        "figure": measure_figure(document, SERVERS // 10 if options.small else SERVERS),
        "selection": measure_selection(INSTANCES // 10 if options.small else INSTANCES),
    }
    result["ratios"] = ratios_of(result["figure"])
    result["missed"] = missed(result)
    text = page(result)
    print(text)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
        options.json.with_suffix(".md").write_text(text, "utf-8")
    return 1 if result["missed"] else 0


def page(result: Measured) -> str:
    """Return the measurements as a page."""
    figure, stamping, selection = (result[name] for name in ("figure", "stamping", "selection"))
    parses = figure["parses"]
    lines = [
        "# Stream views",
        "",
        f"`{result['command']}`: a document of {result['document_bytes']:,} bytes, "
        f"{figure['servers']:,} servers, core time, least of {ROUNDS} rounds. *Alone*: every "
        "server reads header and document for itself, as on a machine of its own; *together*: one "
        "native batch reads them once for all servers. A mean is what a server alone takes from "
        f"the header, plus the share of misses times one parse, measured on {SAMPLE} servers.",
        "",
        "| parse and filter, one server | µs |",
        "| --- | --- |",
        *(f"| {name} | {seconds * 1e6:,.1f} |" for name, seconds in parses.items()),
        *(f"| {name} | {error} |" for name, error in figure["errors"].items()),
        "",
        "| views | header, bytes | hits | alone, µs | together, µs | "
        + " | ".join(f"{name}: µs, times faster" for name in parses)
        + " |",
        "| --- " * (5 + len(parses)) + "|",
    ]
    for one in figure["sizes"]:
        cells = [
            f"{one['mean_seconds'][name] * 1e6:,.2f}, {one['faster'][name]:,.1f}" for name in parses
        ]
        lines.append(
            f"| {one['size']} | {one['header_bytes']} | {one['hit_rate']:.1%} "
            f"| {one['alone_seconds'] * 1e6:.3f} | {one['together_seconds'] * 1e6:.3f} | "
            + " | ".join(cells)
            + " |"
        )
    lines += ["", *(f"- {name}: {ratio:,.1f} times" for name, ratio in result["ratios"].items())]
    lines += [
        f"- stamping: {stamping['ratio']:.3f} times filtering by the same 22 paths; the header has "
        f"{stamping['header_bytes']} bytes, {stamping['header_share']:.2%} of the document",
        f"- answers are those of lxml: {figure['answers_are_equal']}",
        *(
            f"- {name} / exact over {selection['instances']} instances: "
            + ", ".join(f"{what} {value:.4f}" for what, value in selection[name].items())
            for name in ("greedy", "search")
        ),
        f"- search below greedy: {selection['search_below_greedy']} times",
        f"- missed: {', '.join(result['missed']) or 'nothing'}",
        "",
    ]
    return "\n".join(lines)
