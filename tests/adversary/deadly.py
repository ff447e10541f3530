"""An attack whose cases end their process, or never end, at seeds that are known."""

import os
import threading

from penstock_testing.adversary.report import Tally

CRASH = 200
HANG = 70


def attack(seed: int, count: int) -> Tally:
    if CRASH in range(seed, seed + count):
        os._exit(3)
    if HANG in range(seed, seed + count):
        threading.Event().wait()
    return Tally(count, count)
