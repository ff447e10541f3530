"""Checks random pipelines: ``python -m tests.spark.random_pipelines --first 0 --count 200``.

The exit code is 1 if one of them differs from the engine in process. What was checked so far, and
what differed, is kept in `out/random_pipelines`.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import shutil
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from tempfile import mkdtemp

from tests.spark.helpers.driver import start_session
from tests.spark.helpers.servers import ROOT
from tests.spark.kills.victims import BRIEF_JAVA, HOOKS
from tests.spark.random_pipelines.checking import check
from tests.spark.random_pipelines.generate import random_case

CASE_SECONDS_MAX = 900.0
"""A pipeline that takes longer hangs: where it does is printed, and the run ends."""


def main() -> int:
    """Check the pipelines of some seeds and print what differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.spark.random_pipelines")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin none after that")
    parser.add_argument("--folder", type=Path, default=ROOT / "out" / "random_pipelines")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    # Java and the workers start faster as they do for kills; nothing is held here.
    os.environ.setdefault("JAVA_TOOL_OPTIONS", BRIEF_JAVA)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(HOOKS), str(ROOT / "python"), str(ROOT)])
    spark = start_session()
    spark.sparkContext.setLogLevel("OFF")
    started, wrong, done = time.monotonic(), [], Counter[str]()
    for seed in range(options.first, options.first + options.count):
        if time.monotonic() - started > options.seconds:
            break
        faulthandler.dump_traceback_later(CASE_SECONDS_MAX, exit=True)
        folder = Path(mkdtemp(dir=options.folder))
        report = check(seed, folder, spark)
        shutil.rmtree(folder)
        done[random_case(seed).trigger] += 1
        print(f"seed {seed}: {'differs' if report else 'agrees'}", flush=True)
        if report:
            wrong.append(seed)
            (options.folder / f"seed-{seed}.txt").write_text(report + "\n", "utf-8")
            print(report, flush=True)
    faulthandler.cancel_dump_traceback_later()
    spark.stop()
    triggers = ", ".join(f"{trigger} {count}" for trigger, count in sorted(done.items()))
    print(f"{done.total()} pipelines ({triggers}): {len(wrong)} differ {wrong or ''}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
