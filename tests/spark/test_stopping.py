"""Signals to a whole process group: the batch under way is finished, and the command ends well."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import penstock
from penstock.spark.pipelines import load, run
from tests.spark.helpers.servers import ROOT, surroundings
from tests.spark.kills.checkpoints import committed
from tests.spark.test_pipelines import STREAM, expected, in_table, put

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SECONDS_MAX = 600.0
FILES = 80
ENDLESS = STREAM.replace("available_now", "{processing_time: 50 milliseconds}").replace(
    "maxFilesPerTrigger: 5", "maxFilesPerTrigger: 1"
)


def project(folder: Path, text: str) -> Path:
    put(folder / "inbox", 0, FILES)
    penstock.Registry.open(folder / "subscriptions").add("cheap", "//book[price < 10]/author")
    (folder / "pipeline.yaml").write_text(text)
    return folder


def signalled(folder: Path, is_time: Callable[[int], bool]) -> tuple[int, str]:
    """Run the command, send SIGTERM to its group when it is time, and return how it ended."""
    command = [sys.executable, "-m", "penstock", "run", str(folder / "pipeline.yaml")]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=surroundings({"SPARK_LOCAL_DIRS": str(folder / "local")}),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        try:
            deadline = time.monotonic() + SECONDS_MAX
            while not is_time(running.pid):
                assert running.poll() is None, running.communicate()[1]
                assert time.monotonic() < deadline
                time.sleep(0.01)
            # `timeout` signals its child, and then the whole group.
            os.kill(running.pid, signal.SIGTERM)
            os.killpg(running.pid, signal.SIGTERM)
            _, error = running.communicate(timeout=SECONDS_MAX)
        finally:
            running.kill()
    return running.returncode, error


def has_java(pid: int) -> bool:
    """Return whether a process has begun to start Java."""
    return bool(Path(f"/proc/{pid}/task/{pid}/children").read_text().split())


@pytest.mark.parametrize("trigger", ["endless", "available_now"])
def test_a_signal_to_the_group_lets_the_batch_finish(
    spark: SparkSession, tmp_path: Path, trigger: str
) -> None:
    text = ENDLESS
    if trigger == "available_now":
        text = STREAM.replace("maxFilesPerTrigger: 5", "maxFilesPerTrigger: 1")
    folder = project(tmp_path, text)
    code, error = signalled(folder, lambda _: committed(folder / "out/checkpoint") >= 5)
    assert "Traceback" not in error, error
    assert "stopped: " in error
    assert code == 3, error  # there is quarantine
    done = committed(folder / "out/checkpoint")
    assert 5 <= done < FILES
    # What is committed is in the sinks, and nothing of another batch is.
    assert len({row[1] for row in in_table(folder / "out/rows.db")}) <= done
    (folder / "pipeline.yaml").write_text(STREAM.replace("maxFilesPerTrigger: 5", ""))
    run(load(folder / "pipeline.yaml"), spark)
    assert in_table(folder / "out/rows.db") == expected(folder)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="there is no /proc here")
def test_a_signal_to_the_group_while_java_starts_ends_the_command(tmp_path: Path) -> None:
    folder = project(tmp_path, ENDLESS)
    code, error = signalled(folder, has_java)
    assert "Traceback" not in error, error
    assert (code, "stopped: 0 documents" in error) == (0, True), error
    assert not (folder / "out").exists()


def test_a_signal_to_the_group_lets_a_batch_run_finish(tmp_path: Path) -> None:
    text = STREAM.replace("trigger: available_now\ncheckpoint: out/checkpoint\n", "")
    folder = project(tmp_path, text)
    results = folder / "out/results"
    code, error = signalled(folder, lambda _: results.exists())
    assert "Traceback" not in error, error
    assert (code, f"done: {FILES} documents" in error) == (3, True), error
    assert in_table(folder / "out/rows.db") == expected(folder)
