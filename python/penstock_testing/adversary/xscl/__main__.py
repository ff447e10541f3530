"""``python -m penstock_testing.adversary.xscl --count N --seed S``."""

from __future__ import annotations

import argparse
import sys
import time

from penstock_testing.adversary.report import describe
from penstock_testing.adversary.xscl import attack


def main() -> int:
    """Attack, print what was found, and return 1 if there was something."""
    parser = argparse.ArgumentParser(prog="python -m penstock_testing.adversary.xscl")
    parser.add_argument("--count", type=int, default=1_000, help="how many cases")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first case")
    options = parser.parse_args()
    started = time.monotonic()
    tally = attack(options.seed, options.count)
    print(describe("xscl", tally, time.monotonic() - started))
    return 1 if tally.failures else 0


sys.exit(main())
