"""``python -m penstock_testing.adversary``: run one attack, in several processes."""

from __future__ import annotations

import argparse
import sys
import time

from penstock_testing.adversary.report import describe
from penstock_testing.adversary.running import ATTACKS, run


def main() -> int:
    """Run the attack that the arguments ask for; 1 if something failed."""
    parser = argparse.ArgumentParser(prog="python -m penstock_testing.adversary")
    parser.add_argument("attack", choices=ATTACKS)
    parser.add_argument("--count", type=int, default=10_000, help="how many cases")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first case")
    parser.add_argument("--processes", type=int, default=1)
    arguments = parser.parse_args()
    started = time.monotonic()
    print(f"{arguments.attack}: seed {arguments.seed}, {arguments.count:,} cases", flush=True)
    tally = run(arguments.attack, arguments.seed, arguments.count, arguments.processes)
    print(describe(arguments.attack, tally, time.monotonic() - started))
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
