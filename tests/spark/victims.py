"""Processes that are made to be killed: a driver with its Java, in a group of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from tests.spark.servers import ROOT, START_SECONDS_MAX, surroundings

RUN_SECONDS_MAX = 1800.0


class Victim:
    """``python -m`` with some arguments, until it is killed or ends by itself.

    What a killed Spark leaves behind lies in the folder, beside the log of all runs.
    """

    def __init__(self, arguments: Sequence[str], folder: Path) -> None:
        self._log = folder / "driver.log"
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", *arguments],
                cwd=ROOT,
                env=surroundings({"SPARK_LOCAL_DIRS": str(folder / "local")}),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait_until(self, claim: Callable[[], bool]) -> None:
        """Return when something holds; the process has to live that long."""
        deadline = time.monotonic() + START_SECONDS_MAX
        while not claim():
            assert self._process.poll() is None, self._said()
            assert time.monotonic() < deadline, f"it makes no progress: {self._said()}"
            time.sleep(0.02)

    def kill(self) -> None:
        """End it at once, with its Java; its workers end when they find themselves alone."""
        assert self._process.poll() is None, self._said()
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def finish(self, code: int = 0) -> None:
        """Return when it ends by itself, with this exit code."""
        assert self._process.wait(RUN_SECONDS_MAX) == code, self._said()

    def _said(self) -> str:
        return self._log.read_text("utf-8", "replace")[-4000:]


def kill_some_time(victim: Victim, random: Random, turn: int, checkpoint: Path) -> None:
    """Kill a driver: mostly between two batches or inside one, now and then before it begins."""
    if turn % 6 == 5:
        time.sleep(random.uniform(0, 10))
    else:
        wanted = committed(checkpoint) + random.randint(1, 3)
        victim.wait_until(lambda: committed(checkpoint) >= wanted)
        time.sleep(random.uniform(0, 1.5))
    victim.kill()


def committed(checkpoint: Path) -> int:
    """Return how many batches of a stream are done for good."""
    return len(list((checkpoint / "commits").glob("[0-9]*")))
