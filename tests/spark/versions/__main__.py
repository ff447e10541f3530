"""The core of the tests with every version of Spark.

`python -m tests.spark.versions` writes out/spark-versions/report.md and .json; `--record` also
writes what the documentation shows, which is the only way that table changes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT
from tests.spark.versions.environments import environment
from tests.spark.versions.matrix import VERSIONS, asked_of
from tests.spark.versions.report import Record, cells, is_green, table

OUT = ROOT / "out" / "spark-versions"
RECORD = ROOT / "docs" / "spark_versions.json"
PAGE = ROOT / "docs" / "spark_versions.md"
BEGIN, END = "<!-- table -->", "<!-- end of table -->"
_SHOWN = ("pyspark", "pyarrow", "pandas", "numpy", "python")
_TOLD = (
    "import json, sys, pyspark, pyarrow, pandas, numpy;"
    "print(json.dumps([pyspark.__version__, pyarrow.__version__, pandas.__version__, "
    "numpy.__version__, '%d.%d' % sys.version_info[:2]]))"
)


def run(version: str) -> Record:
    """Run the tests of a version and return how they ended."""
    python = environment(version, OUT / "environments")
    outcomes = OUT / f"{version}.xml"
    outcomes.unlink(missing_ok=True)
    tests = sorted({test for given in asked_of(version).values() for test in given})
    command = [
        str(python),
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-o",
        "junit_family=xunit1",
    ]
    own = {"PYTHONPATH": str(ROOT / "python"), "HYPOTHESIS_PROFILE": "ci"}
    environ = {k: v for k, v in os.environ.items() if k not in ("SPARK_HOME", "SPARK_REMOTE")} | own
    with open(OUT / f"{version}.log", "wb") as log:
        subprocess.run(
            [*command, f"--junitxml={outcomes}", *tests],
            cwd=ROOT,
            env=environ,
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        )
    told = subprocess.run(
        [str(python), "-W", "ignore", "-c", _TOLD], capture_output=True, text=True, check=True
    )
    packages = dict(zip(_SHOWN, json.loads(told.stdout), strict=True))
    found = (
        cells(version, outcomes) if outcomes.exists() else {name: {} for name in asked_of(version)}
    )
    return {"release": packages.pop("pyspark"), "packages": packages, "cells": found}


def main() -> int:
    """Run the versions and report; anything that is not green fails the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--versions", nargs="+", default=VERSIONS, choices=VERSIONS)
    parser.add_argument("--record", action="store_true", help="write the documentation's record")
    options = parser.parse_args()
    (OUT / "environments").mkdir(parents=True, exist_ok=True)
    record = read(OUT / "report.json")
    for version in options.versions:
        record[version] = run(version)
        print(f"{version}: {record[version]['cells']}", file=sys.stderr, flush=True)
        # Whoever is interrupted, or runs one version again, keeps what the others gave.
        record = {known: record[known] for known in VERSIONS if known in record}
        text = json.dumps(record, indent=1) + "\n"
        (OUT / "report.json").write_text(text)
        (OUT / "report.md").write_text(table(record) + "\n")
    if options.record:
        RECORD.write_text(json.dumps(record, indent=1) + "\n")
        PAGE.write_text(with_table(PAGE.read_text("utf-8"), record))
    print(table(record))
    return not all(is_green(cell) for one in record.values() for cell in one["cells"].values())


def read(path: Path) -> Record:
    """Return the record of earlier runs."""
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def with_table(page: str, record: Record) -> str:
    """Return the page of the documentation with the table of a record."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{table(record)}\n{END}{after}"


if __name__ == "__main__":
    sys.exit(main())
