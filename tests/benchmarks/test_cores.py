"""Core time is counted to the end, whether or not somebody waits for a process."""

import subprocess
import sys
import time

import pytest

from benchmarks.cores import Watch
from tests.conftest import ROOT
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc as Linux has it")

SECONDS = 0.4
# A parent that ignores its children, as Spark's Python daemon does; one after the other spends
# some time on a core, says so and ends when it is told to.
SCRIPT = f"""
import os, signal, sys, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for _ in range(3):
    child = os.fork()
    if child == 0:
        end = time.process_time() + {SECONDS}
        while time.process_time() < end:
            pass
        print("spent", flush=True)
        sys.stdin.readline()
        os._exit(0)
    while True:
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            break
    print("ended", flush=True)
sys.stdin.readline()
"""


def test_time_of_processes_that_nobody_waits_for_is_kept() -> None:
    watch = Watch()
    before = watch.look()
    command = [sys.executable, "-c", SCRIPT]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        for number in range(1, 4):
            assert parent.stdout.readline() == "spent\n"
            seen = watch.look() - before
            assert seen >= number * (SECONDS - 0.02)  # Linux counts in hundredths
            parent.stdin.write("end\n")
            assert parent.stdout.readline() == "ended\n"
            assert watch.look() - before >= seen
        parent.stdin.write("end\n")
        parent.wait()
    # The parent's own time, and ours for all this, is little beside that of the children.
    assert watch.look() - before >= 3 * (SECONDS - 0.02)


def test_time_of_strangers_does_not_count() -> None:
    # The process that started the tests is not one of ours, and has spent something.
    script = (
        "import os, time; from benchmarks.cores import Watch, _processes\n"
        "spent = Watch().look()\n"
        "parents = {pid: ticks for (pid, _), (_, ticks) in _processes().items()}\n"
        "assert parents[os.getppid()] > 0\n"
        "assert spent <= time.process_time()"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT)


def test_the_watch_looks_by_itself() -> None:
    watch = Watch()
    watch.start()
    wait_until(lambda: watch.looks >= 3, "the watch looks")


def test_looking_is_not_counted() -> None:
    watch = Watch()
    before = watch.look()
    started = time.process_time()
    for _ in range(50):
        watch.look()
    looked = time.process_time() - started
    # Linux counts in hundredths.
    assert watch.look() - before <= looked / 2 + 0.05
