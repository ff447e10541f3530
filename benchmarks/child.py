"""One measurement in a process of its own: `python -m benchmarks.child REQUEST`.

The request and the reply are JSON. The document is read before the clock starts; importing the
system and compiling the query are not timed. Each answer is dropped after its run, outside the
timed part, as the next run would otherwise find less memory.
"""

import gc
import hashlib
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import peers
from benchmarks.workloads.queries import Query

SECONDS_ENOUGH = 6.0
"""A system that took this long is not run again in the same process."""


def peak_bytes() -> int:
    """Return this process's largest resident size so far."""
    status = Path("/proc/self/status")
    if status.exists():
        # Unlike getrusage, this does not inherit the size of the process that started us.
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def measure(request: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to one request."""
    peer = peers.load(request["peer"])
    query = Query(**request["query"]) if request["query"] else None
    path = Path(request["path"])
    if request["task"] == "memory":
        run = peer.prepare_file(query)
        before = peak_bytes()
        answer = run(path)
        return {"before_bytes": before, "peak_bytes": peak_bytes(), "kept": answer is not None}
    data = path.read_bytes()
    run = peer.prepare(query)
    if request["task"] == "verify":
        return digest(peer.values(run(data)), query.compare)
    seconds = []
    for _ in range(request["runs"]):
        gc.collect()
        start = time.perf_counter()
        answer = run(data)
        seconds.append(time.perf_counter() - start)
        del answer
        if sum(seconds) > SECONDS_ENOUGH:
            break
    return {"seconds": seconds}


def digest(values: list[str], compare: str) -> dict[str, Any]:
    """Return what systems must agree on."""
    if compare == "count":
        return {"count": len(values), "digest": None}
    joined = "\0".join(values).encode()
    count = int(float(values[0])) if compare == "number" else len(values)
    return {"count": count, "digest": hashlib.sha256(joined).hexdigest()[:16]}


if __name__ == "__main__":
    json.dump(measure(json.loads(sys.argv[1])), sys.stdout)
