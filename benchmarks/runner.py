"""Start measuring processes and collect their replies."""

import json
import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SECONDS_MAX = 900
PACKAGES = ("penstock", "lxml", "pugixml", "simdxml", "saxonche", "pyarrow", "pyspark")


def ask(module: str, request: dict[str, Any], seconds_max: float = SECONDS_MAX) -> dict[str, Any]:
    """Return the reply of a fresh process, or `{"error": reason}` if it gave none."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", module, json.dumps(request)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=seconds_max,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"error": f"no reply within {seconds_max:g} s"}
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return {"error": lines[-1]}
    reply: dict[str, Any] = json.loads(done.stdout)
    return reply


def progress(sentence: str) -> None:
    """Tell the person who waits what is being measured."""
    print(sentence, file=sys.stderr, flush=True)


def machine() -> dict[str, Any]:
    """Return what a reader must know to compare numbers."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = None
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": versions,
        "revision": revision(),
        "load": os.getloadavg()[0],
    }


def revision() -> str:
    """Return the commit that is measured, as far as it is known."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()


def processor() -> str:
    """Return the processor's name as the system tells it."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
