"""One run over a growing document, in a process of its own.

`python -m benchmarks.growth_child REQUEST`: request and reply are JSON.

The pieces of the document are made before anything is measured, so that what the process gains in
memory is what the query keeps. Rows are taken and dropped piece by piece.
"""

import json
import resource
import sys
import time
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.child import peak_bytes
from penstock.errors import LimitError
from penstock_testing.generate.growth_documents import SHAPES, records
from penstock_testing.growth import drop_rows, joined, open_session, windows

MEMORY_BYTES_MAX = 3 << 30
"""More than this is a failure of the query, not of the machine."""
WINDOWS = 10


def forget_peak() -> None:
    """Let the largest resident size begin anew, where the system can do that."""
    reset = Path("/proc/self/clear_refs")
    if reset.exists():
        reset.write_text("5")


def measure(request: dict[str, Any]) -> dict[str, Any]:
    """Return work, memory, rows and core seconds of one query over one document."""
    pieces = list(joined(SHAPES[request["shape"]](request["n"])))
    session = open_session(request["query"])
    forget_peak()
    before, kept, rows, seconds = peak_bytes(), 0, 0, 0.0
    for piece in pieces:
        start = time.process_time()
        session.feed(piece)
        count = drop_rows(session)
        seconds += time.process_time() - start
        rows += count
        kept = max(kept, session.statistics().kept_bytes)
    start = time.process_time()
    session.finish()
    rows += drop_rows(session)
    seconds += time.process_time() - start
    return {
        "work": session.statistics().steps,
        "kept_bytes": kept,
        "peak_bytes": peak_bytes() - before,
        "input_bytes": sum(map(len, pieces)),
        "rows": rows,
        "seconds": seconds,
    }


def measure_endless(request: dict[str, Any]) -> dict[str, Any]:
    """Return work per record and kept bytes, window by window of a stream that does not end."""
    size = request["n"] // WINDOWS
    measured: list[dict[str, float]] = []
    forget_peak()
    start = time.process_time()
    for window in islice(windows(request["query"], records(0), size), WINDOWS):
        seconds = time.process_time() - start
        measured.append(
            {
                **asdict(window),
                "microseconds": seconds / size * 1e6,
                "peak_bytes": peak_bytes(),
            }
        )
        forget_peak()
        start = time.process_time()
    return {"windows": measured}


def main(request: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to a request, or the limit that the query passed."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    try:
        return measure_endless(request) if request["task"] == "endless" else measure(request)
    except LimitError as error:
        return {"error": f"{error.code} ({error.limit})"}


if __name__ == "__main__":
    json.dump(main(json.loads(sys.argv[1])), sys.stdout)
