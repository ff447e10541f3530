"""BaseX with XQuery, as a Java process: it builds a table in memory, evaluates and serialises.

The seconds are those that BaseX itself counts, from the text of the query to the last byte of the
result; the start of Java is not among them. Debian's package ``basex`` brings it; ``BASEX_JAR``
names another place.
"""

import os
import re
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

NAME = "BaseX"
TIMED = "doc(file) in memory, evaluation and serialisation, as BaseX counts them"
JAR = "/usr/share/java/basex.jar"
HEAP = "12g"
_TOTAL = re.compile(r"Total Time: ([\d.]+) ms")


def missing() -> str | None:
    if shutil.which("java") is None:
        return "java is not installed"
    if not _jar().exists():
        return f"{_jar()} does not exist (Debian package basex)"
    return None


def _jar() -> Path:
    return Path(os.environ.get("BASEX_JAR", JAR))


def prepare(text: str) -> Callable[[Path], dict[str, Any]]:
    """Return a callable that gives the seconds of all and of the tree alone, and the result."""

    def run(path: Path) -> dict[str, Any]:
        build, _, _ = _run("count(/*)", path)
        cores = _children_seconds()
        seconds, result, wall = _run(text, path)
        return {
            "seconds": seconds,
            "core_seconds": _children_seconds() - cores,
            "wall_seconds": wall,
            "build_seconds": build,
            "result": result,
        }

    return run


def _run(text: str, path: Path) -> tuple[float, str, float]:
    """Return the seconds that BaseX counts, the result, and the seconds on the clock."""
    query = f'declare context item := doc("{path}");\n{text}'
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *("java", f"-Xmx{HEAP}", "-cp", str(_jar())),
            *(f"-Dorg.basex.path={folder}", "org.basex.BaseX"),
            *("-V", "-w", "-s", "indent=no", "-o", f"{folder}/result", query),
        ]
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wall = time.perf_counter() - start
        told = _TOTAL.search(done.stdout + done.stderr)
        if done.returncode or told is None:
            lines = done.stderr.strip().splitlines() or ["it gave no time"]
            raise RuntimeError(f"BaseX: {lines[-1]}")
        return float(told[1]) / 1000, Path(folder, "result").read_text("utf-8"), wall


def _children_seconds() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime
