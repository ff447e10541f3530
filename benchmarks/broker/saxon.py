"""SaxonC-HE, one query at a time: as its interface goes, and by slope."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.broker.measuring import Workload
from benchmarks.broker.queries import Flwr, path_text

SAMPLE = 200
_SLOPE_SAMPLE = 100
SECONDS_MAX = 60.0
"""Nothing new is asked after so many seconds."""


@dataclass(frozen=True)
class SaxonTimes:
    """Seconds for a query and a document."""

    each: float
    """As the interface goes: a query is compiled in every run."""
    slope: float
    """What a document more costs a query that is compiled once, its message written as a string."""
    slope_of_nodes: float
    """The same without strings: all results are written as one."""
    asked: int
    """How many queries were asked before the time was over."""


def measure_saxon(workload: Workload) -> SaxonTimes | None:
    """Return the times of a sample of the queries; None if SaxonC-HE is not installed."""
    try:
        import saxonche
    except ImportError:
        return None
    queries, texts = workload.queries(), workload.texts()
    sample = queries[:: max(1, len(queries) // SAMPLE)][:SAMPLE]
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
    deadline = time.monotonic() + SECONDS_MAX
    asked = 0
    for number, query in enumerate(sample):
        if time.monotonic() > deadline:
            break
        ask(query.text(), trees[number % len(trees)])
        asked += 1
    each = (time.process_time() - started) / max(1, asked)
    some = sample[:_SLOPE_SAMPLE]
    slope = _slope(some, texts, processor, "string-length(serialize({}))")
    return SaxonTimes(each, slope, _slope(some, texts, processor, "{}"), asked)


def _slope(queries: Sequence[Flwr], texts: Sequence[bytes], processor: Any, form: str) -> float:
    """Return what a document more costs a query, all queries compiled as one."""
    bodies = [form.format(_over_one(query)) for query in queries]
    text = "for $d in /all/* return (" + ",".join(bodies) + ")"
    times = []
    counts = (10, 60)
    for count in counts:
        joined = b"<all>" + b"".join((list(texts) * count)[:count]) + b"</all>"
        xquery = processor.new_xquery_processor()
        xquery.set_query_content(text)
        xquery.set_context(xdm_item=processor.parse_xml(xml_text=joined.decode()))
        passes = []
        for _ in range(3):
            started = time.process_time()
            xquery.run_query_to_string()
            passes.append(time.process_time() - started)
        times.append(min(passes))
    return (times[1] - times[0]) / (counts[1] - counts[0]) / len(queries)


def _over_one(query: Flwr) -> str:
    """Return the query for the document that ``$d`` is bound to, one of a file of them."""
    is_deep, name = query.binding[0]
    start = "$d//" if is_deep else "$d/self::"
    return query.text().replace(path_text("", query.binding[:1]), start + name, 1)
