"""One system in a process of its own: `python -m benchmarks.experiments.many.worker`.

Requests come as lines of JSON on standard input, replies go the same way. The system is loaded
once and then measured as often as asked, so that systems can take turns.
"""

import gc
import hashlib
import json
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks import peers
from benchmarks.child import peak_bytes
from benchmarks.workloads.sets import Workload

ELSEWHERE = ("spark_xpath",)
"""What works in processes of its own; the others are timed by this process's core time."""


def resident_bytes() -> int | None:
    """Return this process's resident size now, where the system tells it."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


def read_queries(path: str, count: int) -> list[str]:
    """Return the first queries of a file."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line)["query"] for line in islice(file, count)]


def read_documents(request: dict[str, Any]) -> list[bytes]:
    """Return the documents of a request: files, or the first ones of a workload."""
    if "files" in request:
        return [Path(file).read_bytes() for file in request["files"]]
    return list(Workload(*request["workload"]).documents(request["documents"]))


class Worker:
    """What the requests are about."""

    def subscribe(self, request: dict[str, Any]) -> dict[str, Any]:
        """Load a system with queries; everything after that is asked of it."""
        peer = peers.load(request["peer"])
        if reason := peer.missing():  # asking imports the system, before anything is measured
            raise ValueError(reason)
        self._clock = time.perf_counter if request["peer"] in ELSEWHERE else time.process_time
        queries = read_queries(request["queries"], request["count"])
        self._documents = read_documents(request)
        self._mode = request["mode"]
        before = resident_bytes()
        start = time.perf_counter()
        self._subscribed = peer.subscribe(queries, self._mode)
        seconds = time.perf_counter() - start
        del queries
        gc.collect()
        gc.freeze()
        return {"load_seconds": seconds, "before_bytes": before, "loaded_bytes": resident_bytes()}

    def answers(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return a digest of what matches each of the first documents, and how much it is."""
        digests, matches, results = [], 0, 0
        for document in self._documents[: request["count"]]:
            found = self._subscribed.answer(document)
            digests.append(hashlib.sha256(json.dumps(found).encode()).hexdigest()[:16])
            results += len(found)
            is_query = self._mode == "query"
            matches += len({number for number, _ in found}) if is_query else len(found)
        return {"digests": digests, "matches": matches, "results": results}

    def round(self, request: dict[str, Any]) -> dict[str, Any]:
        """Read documents that the system has not seen, then the same ones again.

        Cold is the first pass, warm the second. The first pass ends after some seconds: a slow
        system reads fewer documents.
        """
        marks: list[float] = []

        def passes() -> Iterator[bytes]:
            start, limit = self._clock(), time.perf_counter() + request["seconds_max"]
            read = 0
            for document in self._documents:
                yield document
                read += 1
                if time.perf_counter() > limit:
                    break
            marks.extend((read, start, self._clock()))
            yield from self._documents[:read]

        self._subscribed.forget()
        gc.collect()
        self._subscribed.read(passes())
        end = self._clock()
        read, start, between = marks
        return {
            "documents": read,
            "cold_seconds": between - start,
            "warm_seconds": end - between,
            "resident_bytes": resident_bytes(),
            "peak_bytes": peak_bytes(),
        }


def main() -> None:
    """Answer requests until there are no more."""
    worker = Worker()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = getattr(worker, request["do"])(request)
        except Exception as error:  # whatever a system raises is its answer
            reply = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
