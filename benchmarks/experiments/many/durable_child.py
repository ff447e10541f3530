"""One measurement of a durable registry in a process of its own.

`python -m benchmarks.experiments.many.durable_child REQUEST`; request and reply are JSON. Importing
is not timed, and documents are in memory before the clock starts.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from statistics import median
from typing import Any

from benchmarks.child import peak_bytes
from benchmarks.experiments.many.worker import read_documents, resident_bytes
from benchmarks.peers import penstock_many

WARMING_DOCUMENTS = 20
WARM_RUNS = 5


def compile_lines(request: dict[str, Any]) -> dict[str, Any]:
    """Return the time of what everybody has to do with the lines: parse them, compile XPath."""
    from lxml import etree

    start = time.perf_counter()
    with open(request["queries"], encoding="utf-8") as file:
        for line in islice(file, request["count"]):
            etree.XPath(json.loads(line)["query"])
    return {"seconds": time.perf_counter() - start}


def load(request: dict[str, Any]) -> dict[str, Any]:
    """Load the lines into a new folder, until the plan is there and an engine could start."""
    import penstock

    start = time.perf_counter()
    registry = penstock.Registry.open(request["folder"])
    penstock_many.load(registry, request["queries"], request["count"], request["mode"])
    registry.snapshot()
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "subscriptions": len(registry), "peak_bytes": peak_bytes()}


def reopen(request: dict[str, Any]) -> dict[str, Any]:
    """Open the folder, until an engine could start; then read documents and look at the memory."""
    import penstock

    warm_python()
    documents = read_documents(request)
    before = resident_bytes()
    start = time.perf_counter()
    engine = penstock.Engine(penstock.Registry.open(request["folder"]))
    engine.registry.snapshot()
    seconds = time.perf_counter() - start
    rows = sum(batch.num_rows for batch in engine.batches(map(penstock.Document, documents)))
    return {
        "seconds": seconds,
        "rows": rows,
        "before_bytes": before,
        "resident_bytes": resident_bytes(),
    }


def add_one(request: dict[str, Any]) -> dict[str, Any]:
    """Add subscriptions one by one while an engine runs.

    Additions go to the operating system and not to the disk, whose speed is not in question. What
    an addition costs the next document counts as well: it is compared with one before which
    nothing was added.
    """
    import penstock

    warm_python()
    registry = penstock.Registry.open(request["folder"], flush=False)
    document = penstock.Document(read_documents(request)[0])
    alone: list[float] = []
    added: list[float] = []
    after: list[float] = []

    def steps() -> Iterator[penstock.Document]:
        yield document  # the first one also pays for the start
        begin = time.perf_counter()
        for number in range(request["additions"]):
            start = time.perf_counter()
            yield document
            between = time.perf_counter()
            registry.add(f"more{number}", request["form"].format(number), mode=request["mode"])
            ready = time.perf_counter()
            yield document
            end = time.perf_counter()
            alone.append(between - start)
            added.append(ready - between)
            after.append(end - ready)
            if end - begin > request["seconds_max"]:
                return

    for _batch in penstock.Engine(registry).batches(steps()):
        pass
    return {
        "additions": len(added),
        "add_seconds": median(added),
        "alone_seconds": median(alone),
        "after_seconds": median(after),
        "resident_bytes": resident_bytes(),
    }


def start(request: dict[str, Any]) -> dict[str, Any]:
    """Read a first document, others, and then the first one again until it is warm."""
    import penstock

    warm_python()
    documents = [penstock.Document(data) for data in read_documents(request)]
    first, others = documents[0], documents[1 : WARMING_DOCUMENTS + 1]
    registry = penstock.Registry.open(request["folder"])
    registry.snapshot()
    seconds: list[float] = []

    def steps() -> Iterator[penstock.Document]:
        for document in (first, *others, *[first] * WARM_RUNS):
            begin = time.process_time()
            yield document
            seconds.append(time.process_time() - begin)

    for _batch in penstock.Engine(registry).batches(steps()):
        pass
    return {"first_seconds": seconds[0], "warm_seconds": median(seconds[-WARM_RUNS:])}


def warm_python() -> None:
    """Import what an engine imports with its first document."""
    import penstock

    assert not list(penstock.Engine(penstock.Registry()).batches([penstock.Document(b"<a/>")]))


TASKS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "compile lines": compile_lines,
    "load": load,
    "reopen": reopen,
    "add one": add_one,
    "start": start,
}

if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    json.dump(TASKS[asked["task"]](asked), sys.stdout)
