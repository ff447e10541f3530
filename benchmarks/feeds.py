"""One latency measurement in a process of its own: `python -m benchmarks.feeds REQUEST`.

The clock starts when the first piece is handed over; pieces follow as fast as they are taken.
A result's latency is the time until the caller holds it. A system that needs the whole document
gathers the pieces, and its clock runs from the first piece as well.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks import peers
from benchmarks.workloads.positions import LatencyQuery, queries
from benchmarks.workloads.queries import Query

CHUNK_BYTES = 1 << 16

#: (results that the last piece decided, bytes handed over so far)
Step = tuple[int, int]


def feed_penstock(query: LatencyQuery) -> Callable[[bytes], Iterator[Step]]:
    """Feed an open document of the engine."""
    import penstock

    registry = penstock.Registry()
    registry.add("q", penstock.xpath(query.text))
    engine = penstock.Engine(registry)

    def run(data: bytes) -> Iterator[Step]:
        with engine.open(id="d") as document:
            for start in range(0, len(data), CHUNK_BYTES):
                chunk = data[start : start + CHUNK_BYTES]
                yield len(list(document.feed(chunk))), start + len(chunk)

    return run


def feed_iterparse(query: LatencyQuery) -> Callable[[bytes], Iterator[Step]]:
    """Feed lxml's pull parser and test each finished record by hand, clearing it afterwards."""
    from lxml import etree

    def run(data: bytes) -> Iterator[Step]:
        parser = etree.XMLPullParser(events=("end",), tag=query.record, huge_tree=True)
        for start in range(0, len(data), CHUNK_BYTES):
            chunk = data[start : start + CHUNK_BYTES]
            parser.feed(chunk)
            names = []
            for _event, record in parser.read_events():
                if query.accepts(record):
                    names.append(record.findtext("name"))
                record.clear()
                while record.getprevious() is not None:
                    del record.getparent()[0]
            yield len(names), start + len(chunk)

    return run


def count(answer: Any) -> int:
    """Return the number of nodes in a peer's answer, whatever holds them."""
    if answer is None:
        return 0
    nodes = answer[1] if isinstance(answer, tuple) else answer
    return int(nodes.size) if hasattr(nodes, "head") else len(nodes)


def feed_whole(peer: str) -> Callable[[LatencyQuery], Callable[[bytes], Iterator[Step]]]:
    """Return a feeder that gathers the document and then asks the peer."""

    def feeder(query: LatencyQuery) -> Callable[[bytes], Iterator[Step]]:
        evaluate = peers.load(peer).prepare(Query(query.name, query.text, "nodes"))

        def run(data: bytes) -> Iterator[Step]:
            gathered = bytearray()
            for start in range(0, len(data), CHUNK_BYTES):
                gathered += data[start : start + CHUNK_BYTES]
            yield count(evaluate(bytes(gathered))), len(data)

        return run

    return feeder


FEEDERS: dict[str, Callable[[LatencyQuery], Callable[[bytes], Iterator[Step]]]] = {
    "penstock_batches": feed_penstock,
    "lxml_iterparse": feed_iterparse,
    "lxml_tree": feed_whole("lxml_tree"),
    "pugixml_tree": feed_whole("pugixml_tree"),
    "simdxml_batch": feed_whole("simdxml_batch"),
    "saxonche_tree": feed_whole("saxonche_tree"),
}


def measure(request: dict[str, Any]) -> dict[str, Any]:
    """Return latencies in seconds and in the share of the document that was handed over."""
    query = next(q for q in queries(request["items"]) if q.name == request["query"])
    run = FEEDERS[request["system"]](query)
    data = Path(request["path"]).read_bytes()
    seen: list[tuple[int, float, float]] = []
    start = time.perf_counter()
    for count, position in run(data):
        if count:
            seen.append((count, time.perf_counter() - start, position / len(data)))
    total = time.perf_counter() - start
    results = sum(count for count, _seconds, _share in seen)
    reply: dict[str, Any] = {"results": results, "total_seconds": total}
    if results:
        reply["first_seconds"] = seen[0][1]
        reply["first_share"] = seen[0][2]
        reply["mean_seconds"] = sum(count * seconds for count, seconds, _ in seen) / results
        reply["mean_share"] = sum(count * share for count, _, share in seen) / results
    return reply


if __name__ == "__main__":
    json.dump(measure(json.loads(sys.argv[1])), sys.stdout)
