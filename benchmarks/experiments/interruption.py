"""Interruption: how long `penstock match` takes to end after SIGINT in the middle of its work.

Each try runs one heavy query over documents that take all the steps they may. The first document
is small, and what is printed about it says that the run has begun. The signal comes at a random
time after that. Documents that fail alternate with one that does not, so that the query is not
suspended, and there are so many that the run would take much longer than the signal waits.
"""

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.runner import ROOT, machine, print_result, progress

OUT = ROOT / "out" / "bench"
TRIES = 100
WAIT_SECONDS_MAX = 1.0
DOCUMENTS = 1_000
EXIT_CODE = 130
P95_SECONDS_MAX, SECONDS_MAX = 0.2, 0.5
QUERIES = (
    "//a[preceding::a/following::a = .]",
    "//a[count(preceding::a) = count(following::a)]",
    "//*[. = preceding::*]",
    "//a[sum(preceding::a) > sum(following::a)]",
    "//a/following-sibling::*/preceding-sibling::*[last()]",
    "//*[ancestor::*[following::*[. = //a]]]",
    "//*[concat(., preceding-sibling::*[1]) = following::*]",
    "//*[.//*[.//*[.//*]]]",
    "//@*[. = //@*]",
    "id(id(//a)/@x)/preceding::a",
)
SHAPES = ("siblings", "comb", "defaults", "identifiers", "texts", "groups")

Measured = dict[str, Any]


def write_documents(folder: Path, shape: str, seed: int) -> list[Path]:
    """Write the first document, a heavy one of a shape and a small one; return what to read."""
    from penstock_testing.adversary.costs import documents

    write = {one.__name__: one for one in documents.SHAPES}[shape]
    first, small = folder / "first.xml", folder / "small.xml"
    heavy = folder / f"{shape}-{seed}.xml"
    first.write_text("<first/>")
    heavy.write_text(write(random.Random(seed), 400_000), "utf-8")
    small.write_bytes(documents.GOOD)
    return [first, *[heavy, small] * DOCUMENTS]


def interrupt(query: str, files: list[Path], wait_seconds: float) -> tuple[float, int] | None:
    """Return the seconds from the signal to the end, and the exit code; None if it ended before."""
    queries = ["-q", "first=/first", "-q", f"heavy={query}"]
    command = [sys.executable, "-m", "penstock", "match", "--json", *queries, *map(str, files)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert b'"first"' in first, first
        # Output is read on, as otherwise a full pipe is what is interrupted.
        reader = subprocess.Popen(["cat"], stdin=process.stdout, stdout=subprocess.DEVNULL)
        time.sleep(wait_seconds)
        if process.poll() is not None:  # it is no heavy evaluation
            reader.wait()
            return None
        process.send_signal(signal.SIGINT)
        started = time.perf_counter()
        code = process.wait()
        seconds = time.perf_counter() - started
        reader.wait()
        return seconds, code


def measure(tries: int, seed: int) -> Measured:
    """Interrupt so many runs."""
    chance = random.Random(seed)
    ended_before, measured = 0, []
    with tempfile.TemporaryDirectory() as folder:
        while len(measured) < tries and ended_before < 2 * tries:
            query, shape = chance.choice(QUERIES), chance.choice(SHAPES)
            files = write_documents(Path(folder), shape, chance.randrange(5))
            ended = interrupt(query, files, chance.uniform(0, WAIT_SECONDS_MAX))
            if ended is None:
                ended_before += 1
                continue
            measured.append((*ended, query, shape))
            if len(measured) % 10 == 0:
                progress(f"{len(measured)} of {tries}")
    seconds = sorted(one[0] for one in measured)
    slowest = sorted(measured, reverse=True)[:5]
    return {
        "tries": len(measured),
        "ended_before": ended_before,
        "p50": seconds[len(seconds) // 2],
        "p95": seconds[len(seconds) * 95 // 100],
        "max": seconds[-1],
        "exit_codes": dict(Counter(str(one[1]) for one in measured)),
        "slowest": [{"seconds": one[0], "query": one[2], "document": one[3]} for one in slowest],
    }


def missed(result: Measured) -> list[str]:
    """Return which bounds are missed."""
    found = []
    if result["p95"] > P95_SECONDS_MAX:
        found.append(f"p95 is {result['p95']:.3f} s")
    if result["max"] > SECONDS_MAX:
        found.append(f"the slowest takes {result['max']:.3f} s")
    if set(result["exit_codes"]) != {str(EXIT_CODE)}:
        found.append(f"exit codes {result['exit_codes']}")
    return found


def main(arguments: list[str]) -> int:
    """Measure and print JSON; 1 if a bound is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks interruption", description=__doc__)
    parser.add_argument("--json", type=Path, nargs="?", const=OUT / "interruption.json")
    parser.add_argument("--tries", type=int, default=TRIES, metavar="N", help="runs (100)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="which runs (1)")
    options = parser.parse_args(arguments)
    result = {
        "command": " ".join(["python -m benchmarks interruption", *arguments]),
        "machine": machine(),
        **measure(options.tries, options.seed),
    }
    result["missed"] = missed(result)
    print_result(result, options.json)
    return 1 if result["missed"] else 0
