"""Statements to Parquet: a row of 12 typed columns for each entry, header values beside it.

Penstock, a loop over `lxml.iterparse` that clears what it has read, as lxml's documentation
recommends, and Spark's XML reader with a schema read the same file, each in a process of its own.
Core time and memory are those after the imports; for Spark, those after a warm-up on a small file.
Spark's reader cannot see what is around a record: it is given the four header values as constants.
The tables are compared.
"""

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.experiments import tables_child
from benchmarks.patience import ROOT
from benchmarks.runner import machine, print_result, progress
from benchmarks.workloads import statement

OUT = ROOT / "out" / "bench"
OURS = "penstock"
LXML_RATIO, SPARK_RATIO, MEMORY_MB_MAX = 8.0, 5.0, 150.0
SECONDS_MAX = 7_200.0
_RATIOS = {"lxml": LXML_RATIO, "spark": SPARK_RATIO}


def measure(name: str, path: Path) -> dict[str, Any]:
    """Return what one reader took, in a process of its own, or why it has no answer."""
    out = OUT / f"tables-{name}.parquet"
    command = [sys.executable, "-m", "benchmarks.experiments.tables_child", name, path, out]
    try:
        done = subprocess.run(
            [*map(str, command)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
            timeout=SECONDS_MAX,
        )
    except subprocess.TimeoutExpired:
        return {"error": f"no answer in {SECONDS_MAX:.0f} s"}
    except subprocess.CalledProcessError as error:
        return {"error": error.stderr[-500:]}
    return tables_child.read_answer(done.stdout)


def judge(readers: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return ratios of core time, and whether the tables are equal and the targets met."""
    ours = readers[OURS]
    answered = {name: one for name, one in readers.items() if "error" not in one and name != OURS}
    ratios = {name: one["core_seconds"] / ours["core_seconds"] for name, one in answered.items()}
    is_same = all(one["digest"] == ours["digest"] for one in answered.values())
    is_met = ours["memory_mb"] < MEMORY_MB_MAX and all(
        ratio >= _RATIOS[name] for name, ratio in ratios.items()
    )
    return {"ratios": ratios, "is_same": is_same, "is_met": is_met}


def main(arguments: list[str]) -> int:
    """Measure and print; 1 if the tables differ or a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks tables", description=__doc__)
    parser.add_argument("--json", type=Path, nargs="?", const=OUT / "tables.json")
    parser.add_argument("--mb", type=int, default=1000, help="the size of the file (1000)")
    parser.add_argument(
        "--readers", nargs="+", choices=tables_child.READERS, default=[*tables_child.READERS]
    )
    options = parser.parse_args(arguments)
    path = OUT / f"statement-{options.mb}mb.xml"
    count = statement.write(path, options.mb * 1_000_000)
    statement.write(OUT / "statement-1mb.xml", 1_000_000)
    readers = {}
    for name in dict.fromkeys([OURS, *options.readers]):
        readers[name] = measure(name, path)
        progress(f"{name}: {readers[name]}")
    if "error" in readers[OURS]:
        print(readers[OURS]["error"], file=sys.stderr)
        return 1
    said = judge(readers)
    result = {"machine": machine(), "mb": options.mb, "entries": count, "readers": readers, **said}
    print_result(result, options.json)
    return 0 if said["is_same"] and said["is_met"] else 1
