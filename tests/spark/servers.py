"""Spark's own server processes for tests: on loopback, ended by their process ids."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS_MAX = 120.0


@contextmanager
def running(
    command: str, arguments: list[str], log: Path, environment: Mapping[str, str]
) -> Iterator[None]:
    """Run one of the commands of the pyspark installation until the block ends."""
    import pyspark

    script = Path(pyspark.__file__).parent / "bin" / command
    with open(log, "wb") as output:
        # The scripts replace themselves by Java, so this is the process to end.
        process = subprocess.Popen(
            [str(script), *arguments],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=surroundings(environment),
        )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def surroundings(more: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a server or of a job."""
    path = os.pathsep.join([str(ROOT / "python"), str(ROOT)])
    ours = {
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_NO_DAEMONIZE": "1",
        "PYTHONPATH": path,
        "PYTHONWARNINGS": "ignore",
    }
    inherited = {key: value for key, value in os.environ.items() if key != "SPARK_REMOTE"}
    return {**inherited, **ours, **more}


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(port: int, log: Path) -> None:
    """Return when somebody listens on a port."""
    deadline = time.monotonic() + START_SECONDS_MAX
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if time.monotonic() > deadline:
            raise TimeoutError(log.read_text("utf-8", "replace")[-2000:])
        time.sleep(0.2)


def wait_for_text(log: Path, text: str, count: int = 1) -> None:
    """Return when a log holds a text so many times."""
    deadline = time.monotonic() + START_SECONDS_MAX
    while log.read_text("utf-8", "replace").count(text) < count:
        if time.monotonic() > deadline:
            raise TimeoutError(log.read_text("utf-8", "replace")[-2000:])
        time.sleep(0.2)
