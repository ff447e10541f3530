"""One query in XQuery in a process of its own: `python -m benchmarks.xquery_child REQUEST`.

The request and the reply are JSON. Importing the system and compiling the query are not timed;
reading the file is.
"""

import hashlib
import json
import resource
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from benchmarks import peers
from benchmarks.child import SECONDS_ENOUGH, peak_bytes


def measure(request: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to one request: what a query takes, or how much memory it needs."""
    peer = peers.load(request["peer"])
    path = Path(request["path"])
    if request["task"] == "memory":
        run = getattr(peer, "prepare_memory", peer.prepare)(request["text"])
        before = peak_bytes()
        run(path)
        return {"memory_bytes": max(peak_bytes() - before, _children_bytes())}
    run = peer.prepare(request["text"])
    runs: list[dict[str, Any]] = []
    result = ""
    for _ in range(request["runs"]):
        measured = run(path)
        result = measured.pop("result")
        runs.append(measured)
        if sum(one["seconds"] for one in runs) > SECONDS_ENOUGH:
            break
    return {"runs": runs, "bytes": len(result.encode()), "digest": digest(result)}


def digest(result: str) -> str:
    """Return what systems must agree on: the items as canonical XML, each on a line."""
    canonical = ElementTree.canonicalize(xml_data=f"<result>{result}</result>")
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def _children_bytes() -> int:
    """Return the largest resident size of a process that this one started, if it did."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


if __name__ == "__main__":
    # What a system prints is not part of its reply.
    answer_file, sys.stdout = sys.stdout, sys.stderr
    json.dump(measure(json.loads(sys.argv[1])), answer_file)
