"""What a run tells: to the person who waits, and about the machine."""

import json
import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.patience import ROOT

PACKAGES = ("penstock-xml", "lxml", "pugixml", "simdxml", "saxonche", "pyarrow", "pyspark")


def progress(sentence: str) -> None:
    """Tell the person who waits what is being measured."""
    print(sentence, file=sys.stderr, flush=True)


def print_result(result: dict[str, Any], path: Path | None) -> None:
    """Print a result, and write it to a file if somebody wants one."""
    text = json.dumps(result, indent=1) + "\n"
    print(text, end="")
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


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


def revision(folder: Path = ROOT) -> str:
    """Return the commit of a checkout, as far as it is known."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty"],
            cwd=folder,
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
