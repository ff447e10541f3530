"""Work that is cancelled in the middle of a document ends, with the process that does it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import penstock
from penstock.spark import match
from tests.spark.helpers.servers import ROOT, surroundings
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="there is no /proc here"),
]

GREEDY = "//a[preceding::a/following::a = .]"
EXPLODING = "<r>" + "<a>x</a>" * 100_000 + "</r>"
FREE = {"pairs_max": 1 << 40, "steps_max": 1 << 60, "memory_bytes_max": 1 << 40}
BUSY_TICKS = 200
"""A worker that has computed for two seconds since it was looked at is inside the document."""

PIPELINE = f"""\
sources:
  - {{kind: files, path: inbox}}
registry:
  subscriptions:
    - {{name: greedy, query: '{GREEDY}'}}
sinks:
  - {{kind: json, path: out}}
limits: {{pairs_max: {1 << 40}, steps_max: {1 << 60}, memory_bytes_max: {1 << 40}}}
spark: {{master: "local[1]"}}
"""


def descendants(pid: int) -> list[int]:
    """Return the processes that a process has started, and those that these have."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int(_stat(int(entry.name))[1])
            except OSError:
                continue
    found, known = [], {pid}
    while new := [one for one, parent in parents.items() if parent in known and one not in known]:
        found += new
        known.update(new)
    return found


def _stat(pid: int) -> list[str]:
    """Return the fields behind the name: state, parent …"""
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()


def ticks(pid: int) -> int:
    """Return how long a Python worker has computed, in hundredths of seconds; 0 for others."""
    try:
        if b"pyspark.daemon" not in Path(f"/proc/{pid}/cmdline").read_bytes():
            return 0
        fields = _stat(pid)
        return int(fields[11]) + int(fields[12])
    except OSError:
        return 0


class Busy:
    """Waits for a worker of a process that computes for long."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._before = {one: ticks(one) for one in descendants(pid)}
        self.worker = 0

    def __call__(self) -> bool:
        for one in descendants(self._pid):
            if ticks(one) - self._before.get(one, 0) > BUSY_TICKS:
                self.worker = one
                return True
        return False


def interrupt(running: subprocess.Popen[str], victims: list[int]) -> str:
    """Send SIGINT until a process ends; return what it said.

    Before the second signal is handled, other processes die. Signals that come too soon after each
    other are one, so there is a pause between them.
    """
    os.kill(running.pid, signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        return running.communicate(timeout=3.0)[1]
    os.kill(running.pid, signal.SIGSTOP)
    wait_until(lambda: _stat(running.pid)[0] == "T", "the process stops")
    for victim in victims:
        os.kill(victim, signal.SIGKILL)
    wait_until(lambda: all(map(is_gone, victims)), "the victims end")
    for _ in range(10):
        os.kill(running.pid, signal.SIGINT)
        os.kill(running.pid, signal.SIGCONT)
        with suppress(subprocess.TimeoutExpired):
            return running.communicate(timeout=60.0)[1]
    raise TimeoutError("the process does not end")


def is_java(pid: int) -> bool:
    return Path(f"/proc/{pid}/comm").read_text() == "java\n"


def is_gone(pid: int) -> bool:
    try:
        return _stat(pid)[0] == "Z"
    except OSError:
        return True


def test_the_worker_of_a_cancelled_task_ends_inside_a_document(spark: SparkSession) -> None:
    from py4j.protocol import Py4JJavaError
    from pyspark import InheritableThread
    from pyspark.errors import PySparkException

    registry = penstock.Registry()
    registry.add("greedy", GREEDY)
    documents = spark.createDataFrame([("d", EXPLODING)], "id string, xml string").coalesce(1)
    rows = match(documents, registry, limits=penstock.Limits(**FREE))
    context, errors = spark.sparkContext, []

    def collect() -> None:
        context.setJobGroup("exploding", "a document that explodes", interruptOnCancel=True)
        try:
            rows.collect()
        except (PySparkException, Py4JJavaError) as error:
            errors.append(str(error))

    is_busy = Busy(os.getpid())
    thread = InheritableThread(target=collect)
    thread.start()
    try:
        wait_until(is_busy, "a worker computes")
    finally:
        context.cancelJobGroup("exploding")
        thread.join()
    wait_until(lambda: is_gone(is_busy.worker), "the worker ends")
    assert "cancel" in errors[0].lower()
    few = spark.createDataFrame([("d", "<r><a>x</a><a>x</a><a>x</a></r>")], "id string, xml string")
    assert match(few, registry).count() == 2


@pytest.mark.parametrize("first", ["nothing", "the worker", "Java"])
def test_a_second_interrupt_ends_a_pipeline_inside_a_document(tmp_path: Path, first: str) -> None:
    (tmp_path / "inbox").mkdir()
    (tmp_path / "inbox/large.xml").write_text(EXPLODING)
    (tmp_path / "pipeline.yaml").write_text(PIPELINE)
    command = [sys.executable, "-m", "penstock", "run", str(tmp_path / "pipeline.yaml")]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=surroundings({"SPARK_LOCAL_DIRS": str(tmp_path / "local")}),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        try:
            is_busy = Busy(running.pid)
            wait_until(lambda: is_busy() or running.poll() is not None, "a worker computes")
            java = [one for one in descendants(running.pid) if is_java(one)]
            victims = {"nothing": [], "the worker": [is_busy.worker], "Java": java}[first]
            error = interrupt(running, victims)
        finally:
            running.kill()
    assert running.returncode == 130, error
    assert "Traceback" not in error, error
    wait_until(lambda: is_gone(is_busy.worker), "the worker ends")
    assert not list(tmp_path.glob("out/run=*"))
