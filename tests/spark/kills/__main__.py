"""Kills pipelines and joins at known places: ``python -m tests.spark.kills``.

Each life is a project of its own; `--lives` runs some of them, and the report is of all that were
run so far. The exit code says whether every kill was proven and nothing was lost or doubled.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from tests.spark.kills.lives import keep_classes, pipeline_life
from tests.spark.kills.report import describe, read_lives
from tests.spark.kills.schedule import PIPELINE_SINKS
from tests.spark.servers import ROOT


def main() -> int:
    """Run the lives that are asked for and print the report of all."""
    parser = argparse.ArgumentParser(prog="python -m tests.spark.kills", description=__doc__)
    everything = range(len(PIPELINE_SINKS))
    parser.add_argument("--lives", type=int, nargs="*", choices=everything, default=[*everything])
    parser.add_argument("--folder", type=Path, default=ROOT / "out" / "kills")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    keep_classes(options.folder / "classes")
    for number in options.lives:
        place = options.folder / f"life-{number}"
        shutil.rmtree(place, ignore_errors=True)
        life = pipeline_life(number, place, watch=lambda kill: print(kill, flush=True))
        life.write(options.folder)
    lives = read_lives(options.folder)
    text = describe(lives)
    (options.folder / "report.md").write_text(text + "\n", "utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
