"""Kills pipelines, joins and streams at known places: ``python -m tests.spark.kills``.

Each life is a project of its own. Without arguments all are run but those with Delta and Iceberg,
which need another Spark; the report is of all that were run so far. A life ends with an error if a
place is not struck or a start fails; the exit code is 1 if a row was lost or doubled.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.spark.helpers.servers import ROOT
from tests.spark.kills.lives import LAKES, LIVES, live
from tests.spark.kills.report import describe, is_whole, read_lives


def main() -> int:
    """Run the lives that are asked for and print the report of all."""
    parser = argparse.ArgumentParser(prog="python -m tests.spark.kills")
    parser.add_argument("lives", nargs="*", metavar="LIFE", help=", ".join((*LIVES, *LAKES)))
    parser.add_argument("--folder", type=Path, default=ROOT / "out" / "kills")
    options = parser.parse_args()
    unknown = set(options.lives) - {*LIVES, *LAKES}
    if unknown:
        parser.error(f"there is no life {', '.join(sorted(unknown))}")
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.lives or LIVES:
        life = live(name, options.folder / name, lambda kill: print(kill, flush=True))
        life.write(options.folder)
    lives = read_lives(options.folder)
    text = describe(lives)
    (options.folder / "report.md").write_text(text + "\n", "utf-8")
    print(text)
    return 0 if is_whole(lives) else 1


if __name__ == "__main__":
    sys.exit(main())
