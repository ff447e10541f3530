"""The message broker: many FLWR queries over small documents, beside SaxonC-HE.

Documents and queries are those of the paper on message brokering (Bib and Book, table 1). The
kernel is timed: a document is read, and rows that point to messages are taken. Without parsing
means less the time in which the kernel tokenizes the same document. All times are the least of
several passes over the documents, in core time.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.broker.documents import DocumentParameters, documents
from benchmarks.broker.dtds import dtd_of
from benchmarks.broker.programs import programs_of
from benchmarks.broker.queries import BINDING_DEPTHS, Flwr, QueryParameters, path_text, unique_plans
from benchmarks.report import table
from benchmarks.runner import ROOT, machine, progress
from penstock import kernel
from penstock.limits import Limits

OUT = ROOT / "out" / "bench"
DOCUMENTS, WARM_UP = 200, 20
SAXON_MIN, SAXON_SLOPE_MIN = 3_000.0, 500.0
GROWTH_MIN, SHARING_MIN = 0.7, 5.0

Measured = dict[str, Any]


def main(arguments: list[str]) -> int:
    """Measure, print the page, write the files that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks broker", description=__doc__)
    parser.add_argument("--json", type=Path, nargs="?", const=OUT / "broker.json", metavar="PATH")
    parser.add_argument("--small", action="store_true", help="a tenth of the queries")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="passes (3)")
    options = parser.parse_args(arguments)
    result = {
        "command": " ".join(["python -m benchmarks broker", *arguments]),
        "machine": machine(),
        **run(10 if options.small else 1, options.repeat),
    }
    text = page(result)
    print(text)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
        options.json.with_suffix(".md").write_text(text, "utf-8")
    return 0


def run(part: int, repeat: int) -> Measured:
    """Measure with the ``part``-th part of the queries."""
    many, few = 100_000 // part, 10_000 // part
    setups = [
        ("book", few, 10, 2),
        ("book", many, 10, 2),
        ("book", few, 100, 2),
        ("book", many, 100, 2),
        ("book", many, 150, 2),
        ("bib", many, 100, 3),
    ]
    rows = []
    for name, count, values, returns in setups:
        progress(f"{name}, {count:,} plans, MaxValue {values}, RP {returns}")
        rows.append(measure(name, count, values, returns, repeat))
    progress("ten subscribers for each plan")
    shared = measure("book", few, 100, 2, repeat, subscribers=10)
    progress("SaxonC-HE")
    return {"plans": rows, "shared": shared, "saxon": saxon(few)}


def workload(name: str, count: int, values: int, returns: int) -> tuple[list[Flwr], list[bytes]]:
    """Return distinct plans and documents."""
    dtd = dtd_of(name)
    depth = BINDING_DEPTHS[name]
    parameters = QueryParameters(depth, returns=returns, values=values)
    queries = list(unique_plans(dtd, parameters, count))
    return queries, list(documents(dtd, DOCUMENTS, DocumentParameters(values=values)))


def measure(
    name: str, count: int, values: int, returns: int, repeat: int, subscribers: int = 1
) -> Measured:
    """Return the times of one document, and what comes out."""
    queries, texts = workload(name, count, values, returns)
    programs = [program for program in programs_of(queries) for _ in range(subscribers)]
    started = time.perf_counter()
    session = kernel.Session(kernel.Plan.build(programs), Limits(steps_max=1 << 60))
    session.read_whole(texts[0])
    session.take()
    built = time.perf_counter() - started
    rows = messages = message_bytes = 0
    for text in texts[WARM_UP:]:
        session.read([(text, None, "default")], with_times=False)
        entries, fragments = (_columns(one) for one in session.take().matches())
        rows += len(entries)
        messages += len(fragments)
        message_bytes += fragments.column("value").nbytes
    timed = texts[WARM_UP:]

    def read() -> None:
        for text in timed:
            session.read([(text, None, "default")], with_times=False)
            session.take()

    def parse() -> None:
        for text in timed:
            kernel.tokenize(text)

    total, parsing = least(read, repeat), least(parse, repeat)
    documents_read = len(timed)
    return {
        "name": name,
        "plans": count,
        "subscribers": subscribers,
        "values": values,
        "returns": returns,
        "build_seconds": built,
        "rows": rows / documents_read,
        "messages": messages / documents_read,
        "message_bytes": message_bytes / documents_read,
        "with_parsing": total / documents_read,
        "without_parsing": (total - parsing) / documents_read,
    }


def _columns(columns: Any) -> Any:
    import pyarrow as pa

    return pa.record_batch(columns)


def least(work: Callable[[], None], repeat: int) -> float:
    """Return the least core time of some passes."""
    times = []
    for _ in range(repeat):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def saxon(count: int) -> Measured | None:
    """Return seconds for a query and a document, as the interface goes and by slope."""
    try:
        import saxonche
    except ImportError:
        return None
    queries, texts = workload("book", count, 10, 2)
    sample = queries[:: max(1, count // 200)][:200]
    processor = saxonche.PySaxonProcessor(license=False)
    xquery = processor.new_xquery_processor()
    trees = [processor.parse_xml(xml_text=text.decode()) for text in texts[:10]]

    def ask(query: str, tree: Any) -> None:
        xquery.set_query_content(query)
        xquery.set_context(xdm_item=tree)
        xquery.run_query_to_string()

    for query in sample[:20]:
        ask(query.text(), trees[0])
    started = time.process_time()
    for number, query in enumerate(sample):
        ask(query.text(), trees[number % len(trees)])
    each = (time.process_time() - started) / len(sample)
    return {"each": each, "slope": _slope(ask, sample[:20], texts, processor), "queries": count}


def _slope(
    ask: Callable[[str, Any], None], queries: Sequence[Flwr], texts: Sequence[bytes], processor: Any
) -> float:
    """Return what one document more costs a query that is compiled once."""
    times = []
    counts = (10, 110)
    for count in counts:
        joined = b"<all>" + b"".join([*texts, *texts][:count]) + b"</all>"
        tree = processor.parse_xml(xml_text=joined.decode())
        looped = [_over_all(query) for query in queries]
        ask(looped[0], tree)
        started = time.process_time()
        for query in looped:
            ask(query, tree)
        times.append((time.process_time() - started) / len(queries))
    return (times[1] - times[0]) / (counts[1] - counts[0])


def _over_all(query: Flwr) -> str:
    """Return the query for every document of a file of them."""
    is_deep, name = query.binding[0]
    start = "$d//" if is_deep else "$d/self::"
    text = query.text().replace(path_text("", query.binding[:1]), start + name, 1)
    return f"for $d in /all/* return {text}"


def ratios(result: Measured) -> Iterable[tuple[str, float, float]]:
    """Yield what must be shown: words, the ratio, the least that it should be."""
    rows = {(one["name"], one["plans"], one["values"]): one for one in result["plans"]}
    few, many = (one["plans"] for one in result["plans"][:2])
    if result["saxon"] is not None:
        each = rows["book", few, 10]["with_parsing"] / few
        yield "SaxonC-HE through its API", result["saxon"]["each"] / each, SAXON_MIN
        yield "SaxonC-HE by slope", result["saxon"]["slope"] / each, SAXON_SLOPE_MIN
    growth = rows["book", few, 10]["without_parsing"] / rows["book", many, 150]["without_parsing"]
    yield f"documents/s, {few:,} to {many:,} plans at equal matches", growth, GROWTH_MIN
    single, shared = rows["book", few, 100], result["shared"]
    per_row = single["without_parsing"] / single["rows"]
    ten = shared["without_parsing"] / shared["rows"]
    yield "cost of a row, one to ten subscribers", per_row / ten, SHARING_MIN


def page(result: Measured) -> str:
    """Return the measurements as a page."""
    head = ["", "plans", "MaxValue", "rows", "messages", "MB", "ms without parsing", "ms with it"]
    lines = [
        [
            f"{one['name']}, RP {one['returns']}",
            f"{one['plans']:,}",
            f"{one['values']:,}",
            f"{one['rows']:,.0f}",
            f"{one['messages']:,.0f}",
            f"{one['message_bytes'] / 1e6:.2f}",
            f"{1e3 * one['without_parsing']:.3f}",
            f"{1e3 * one['with_parsing']:.3f}",
        ]
        for one in result["plans"]
    ]
    shown = [[words, f"{ratio:,.2f}", f"{least_:,.1f}"] for words, ratio, least_ in ratios(result)]
    return "\n\n".join(
        [
            "# The message broker",
            f"`{result['command']}`, {result['machine']}",
            "\n".join(table(head, lines)),
            "\n".join(table(["ratio", "measured", "at least"], shown)),
        ]
    )
