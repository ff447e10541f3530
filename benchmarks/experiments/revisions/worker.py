"""One revision in a process of its own: `python -m benchmarks.experiments.revisions.worker`.

The interpreter of a checkout runs this file, so `penstock` is that checkout's package. Nothing but
its public interface is used here, which every revision has. Requests come as lines of JSON on
standard input, replies go the same way. What takes long and is not measured is done once, in
`prepare`. Each run is then a copy of the prepared process: it is as warm as every other one, and
nothing that it learns or leaves behind meets the next. Spark's processes cannot be copied, so
its runs follow each other in one session.
"""

import gc
import json
import os
import pickle
import resource
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import penstock

WARM_DOCUMENTS, COMPARED_DOCUMENTS = 64, 4
JAVA_RUNS = 3
"""So many runs precede the measured ones on Spark: Java compiles what is used often."""

Request = dict[str, Any]
Reply = dict[str, Any]
Counts = tuple[int, int | None]
"""Documents that were read, and rows that came of them if every revision gives as many."""


class Clock:
    """Counts from the last start; a run starts it when everything is ready."""

    def __init__(self, core_seconds: Callable[[], float]) -> None:
        self._core_seconds = core_seconds

    def start(self) -> None:
        """Count from now on."""
        self._seconds_before, self._core_before = time.perf_counter(), self._core_seconds()

    def elapsed(self) -> Reply:
        """Return the seconds since the start, on cores and by the clock."""
        core = self._core_seconds() - self._core_before
        return {"core_seconds": core, "seconds": time.perf_counter() - self._seconds_before}


def load_registry(path: str) -> penstock.Registry:
    """Return a registry with the subscriptions of a file of lines."""
    registry = penstock.Registry()
    report = registry.load(path, workers=0)
    if report.failed:
        raise ValueError(f"{report.errors[0]}")
    return registry


def load_documents(path: str) -> Any:
    """Return what was pickled: plain bytes, numbers and texts."""
    return pickle.loads(Path(path).read_bytes())


class Single:
    """One query over one large document."""

    def __init__(self, request: Request) -> None:
        self._data = Path(request["document"]).read_bytes()
        self._engines = {}
        for name, text in request["queries"].items():
            registry = penstock.Registry()
            registry.add(name, penstock.xpath(text))
            self._engines[name] = penstock.Engine(registry)
            list(self._engines[name].batches(b"<nothing/>"))

    def run(self, clock: Clock, query: str, times: int) -> Counts:
        """Read the document some times and drop the record batches."""
        engine, rows = self._engines[query], 0
        clock.start()
        for _ in range(times):
            rows += sum(batch.num_rows for batch in engine.batches(self._data))
        return times, rows


class Many:
    """Many subscriptions over small documents, in one mode."""

    def __init__(self, request: Request) -> None:
        self._documents = load_documents(request["documents"])
        self._engine = penstock.Engine(load_registry(request["subscriptions"]))
        for call in request["calls"]:
            self._read(call, WARM_DOCUMENTS)

    def run(self, clock: Clock, call: str, documents: int) -> Counts:
        """Read so many documents, from the first one on, again and again."""
        clock.start()
        return documents, self._read(call, documents)

    def rows(self) -> int:
        """Return how many subscriptions match the first documents."""
        pairs = set()
        for part, found in enumerate(self._engine.matches(self._source(COMPARED_DOCUMENTS))):
            documents = found.entries.column("document").to_pylist()
            names = found.subscriptions().to_pylist()
            pairs |= {(part, *pair) for pair in zip(documents, names, strict=True)}
        return len(pairs)

    def _read(self, call: str, count: int) -> int | None:
        if call == "batches":
            return sum(batch.num_rows for batch in self._engine.batches(self._source(count)))
        for _ in self._engine.matches(self._source(count)):
            pass
        return None  # a subscription may have several entries for a document

    def _source(self, count: int) -> Iterator[penstock.Document]:
        return map(penstock.Document, islice(cycle(self._documents), count))


class Stream:
    """Subscriptions that join documents, and others, over a stream of documents with times."""

    def __init__(self, request: Request) -> None:
        self._documents = load_documents(request["documents"])
        registry = load_registry(request["subscriptions"])
        self._engine = penstock.Engine(registry, lateness=request["lateness"])
        self._warm = min(WARM_DOCUMENTS, len(self._documents) // 2)
        for call in request["calls"]:
            self._read(call, islice(self._source(), self._warm))

    def run(self, clock: Clock, call: str) -> Counts:
        """Read the stream; the clock starts after its first documents, which set up the joins."""

        def source() -> Iterator[penstock.Document]:
            documents = self._source()
            yield from islice(documents, self._warm)
            clock.start()
            yield from documents

        return len(self._documents) - self._warm, self._read(call, source())

    def _read(self, call: str, source: Iterator[penstock.Document]) -> int:
        return sum(map(len, getattr(self._engine, call)(source)))

    def _source(self) -> Iterator[penstock.Document]:
        for number, (data, seconds) in enumerate(self._documents):
            yield penstock.Document(data, str(number), "S", seconds)


class Spark:
    """Many subscriptions over a DataFrame of small documents."""

    def __init__(self, request: Request) -> None:
        from benchmarks.spark_session import SCHEMA, start_session
        from penstock.spark import match

        spark = start_session()
        documents = spark.read.schema(SCHEMA).parquet(request["documents"])
        self._count = documents.count()
        self._rows = match(documents, load_registry(request["subscriptions"]))
        for _ in range(JAVA_RUNS):
            self._rows.count()

    def run(self, clock: Clock) -> Counts:
        """Count the rows of all documents."""
        clock.start()
        return self._count, self._rows.count()


TASKS: dict[str, Callable[[Request], Any]] = {
    "single": Single,
    "many": Many,
    "stream": Stream,
    "spark": Spark,
}


class Worker:
    """What the requests are about."""

    def prepare(self, request: Request) -> Reply:
        """Set up what the runs share; say which package it is that runs."""
        start = time.process_time()
        self._is_copied = request["task"] != "spark"
        self._task = TASKS[request["task"]](request)
        gc.collect()
        gc.freeze()
        return {
            "package": penstock.__file__,
            "core_seconds": time.process_time() - start,
            "rows": self._task.rows() if request["task"] == "many" else None,
        }

    def run(self, request: Request) -> Reply:
        """Return what one run took and gave."""
        if self._is_copied:
            return copied(lambda: self._run(own_core_seconds, request["run"]))
        from benchmarks.cores import core_seconds

        return self._run(core_seconds, request["run"])

    def _run(self, core_seconds: Callable[[], float], options: Request) -> Reply:
        clock = Clock(core_seconds)
        documents, rows = self._task.run(clock, **options)
        return {**clock.elapsed(), "documents": documents, "rows": rows}


def own_core_seconds() -> float:
    """Return the seconds on a core so far of this process, in its own code and in the system's."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def copied(measure: Callable[[], Reply]) -> Reply:
    """Return the reply of a copy of this process."""
    reading, writing = os.pipe()
    copy = os.fork()
    if copy == 0:
        os.write(writing, json.dumps(answered(measure)).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(copy, 0)
    if not answer:
        return {"error": f"the run ended with code {os.waitstatus_to_exitcode(status)}"}
    reply: Reply = json.loads(answer)
    return reply


def answered(work: Callable[[], Reply]) -> Reply:
    """Return a reply, or what the revision raised."""
    try:
        return work()
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}".splitlines()[0]}


def main() -> None:
    """Answer requests until there are no more."""
    worker = Worker()
    tasks = {"prepare": worker.prepare, "run": worker.run}
    for line in sys.stdin:
        request = json.loads(line)
        reply = answered(partial(tasks[request["do"]], request))
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
