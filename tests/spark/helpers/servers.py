"""Spark's own server processes for tests: on loopback, ended by their process ids."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.spark.helpers import early_worker

ROOT = Path(__file__).resolve().parents[3]
CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
START_SECONDS_MAX = 600.0
"""Nobody waits so long unless something hangs; a loaded machine takes minutes."""


@dataclass(frozen=True, slots=True)
class Server:
    """A process that tells in its log what it does."""

    process: subprocess.Popen[bytes]
    log: Path

    def wait_for(self, pattern: str, count: int = 1) -> str:
        """Return what the first group of a pattern holds once the log has it so many times.

        A server takes a port that is free and says which: nobody can take it in between.
        """
        deadline = time.monotonic() + START_SECONDS_MAX
        while True:
            # The order matters: what it said before it ended is in the log.
            is_over = self.process.poll() is not None
            said = self.log.read_text("utf-8", "replace")
            found = re.findall(pattern, said)
            if len(found) >= count:
                return str(found[0])
            if is_over or time.monotonic() > deadline:
                raise TimeoutError(f"the server does not say {pattern!r}: {said[-2000:]}")
            time.sleep(0.1)


@contextmanager
def running(
    command: str, arguments: list[str], log: Path, environment: Mapping[str, str]
) -> Iterator[Server]:
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
        yield Server(process, log)
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


@contextmanager
def connect_server(folder: Path, more: Mapping[str, str]) -> Iterator[str]:
    """Give the address of a Connect server that runs as long as the block does.

    Its workers connect however busy the machine is.
    """
    settings = {
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": "0",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.artifact.isolation.enabled": "true",
    }
    arguments = ["--class", CONNECT]
    for key, value in settings.items():
        arguments += ["--conf", f"{key}={value}"]
    python = folder / "python"
    command = shlex.join([sys.executable, early_worker.__file__])
    python.write_text(f'#!/bin/sh\nexec {command} "$@"\n', "utf-8")
    python.chmod(0o700)
    own = {"PYSPARK_PYTHON": str(python)} | dict(more)
    log = folder / "server.log"
    with running("spark-submit", [*arguments, "spark-internal"], log, own) as server:
        yield server.wait_for(r"Spark Connect server started at: (127\.0\.0\.1:\d+)")
