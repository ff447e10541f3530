"""A real Kafka of one node on loopback, from Maven artifacts; see docs/notes/kafka.md."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.spark.helpers.maven import UnavailableError, resolve, run

KAFKA = "org.apache.kafka:kafka_2.13:3.9.1"
CLIENT = "org.apache.kafka:kafka-clients:3.9.1"
POOL = "org.apache.commons:commons-pool2:2.12.1"
CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10_2.13"
TOKENS = "org.apache.spark:spark-token-provider-kafka-0-10_2.13"
KNOWN_TO_WORK = ("4.2.0", "4.1.0-preview1")
"""Versions of connector and tokens that run on Spark 4.3 where its own cannot be had."""

_PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{broker}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
log.dirs={logs}
num.partitions=2
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
"""
_START_SECONDS_MAX = 600.0
_ATTEMPTS = 3
_CLUSTER_ID = "cGVuc3RvY2stdGVzdHMtMQ"


def broker_jars(cache: Path) -> list[Path]:
    """Return what a broker runs with.

    Raises:
        UnavailableError: It cannot be had.
    """
    return resolve([KAFKA], cache, is_transitive=True)


def connector_jars(cache: Path, spark_version: str) -> list[Path]:
    """Return Spark's connector and what it needs beside Spark.

    Raises:
        UnavailableError: It cannot be had, neither of this version nor of one known to work.
    """
    reasons = []
    for connector, tokens in ((spark_version, spark_version), KNOWN_TO_WORK):
        wanted = [f"{CONNECTOR}:{connector}", f"{TOKENS}:{tokens}", CLIENT, POOL]
        try:
            return resolve(wanted, cache, is_transitive=False)
        except UnavailableError as error:
            reasons.append(str(error))
    raise UnavailableError("; ".join(reasons))


@contextmanager
def running(jars: Sequence[Path], folder: Path) -> Iterator[str]:
    """Run a broker until the block ends; the value is its address.

    Raises:
        UnavailableError: It does not start.
    """
    java = shutil.which("java")
    if java is None:
        raise UnavailableError("there is no java")
    command = [java, "-Xmx384m", "-cp", os.pathsep.join(map(str, jars))]
    process, address = _start(command, folder)
    try:
        yield address
    finally:
        _stop(process)


def _start(command: list[str], folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    """Return a broker that listens, and its address.

    Nobody keeps a port for us between finding it free and listening on it, so this is tried
    more than once.
    """
    for attempt in range(_ATTEMPTS):
        own = folder / str(attempt)
        own.mkdir()
        broker, controller = _free_ports(2)
        settings = own / "server.properties"
        text = _PROPERTIES.format(broker=broker, controller=controller, logs=own / "logs")
        settings.write_text(text, "utf-8")
        storage = [*command, "kafka.tools.StorageTool", "format", "-t", _CLUSTER_ID]
        run([*storage, "-c", str(settings)], own, _START_SECONDS_MAX)
        with (own / "broker.log").open("wb") as log:
            process = subprocess.Popen(
                [*command, "kafka.Kafka", str(settings)], stdout=log, stderr=subprocess.STDOUT
            )
        if _listens(process, broker):
            return process, f"127.0.0.1:{broker}"
        _stop(process)
    log_text = (own / "broker.log").read_text("utf-8", "replace")
    raise UnavailableError(f"the broker does not start: {log_text[-2000:]}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _listens(process: subprocess.Popen[bytes], port: int) -> bool:
    """Return whether a broker comes to listen on its port, rather than to its end."""
    deadline = time.monotonic() + _START_SECONDS_MAX
    while process.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.2)
        else:
            # Somebody else may listen there, and then the broker is about to end.
            time.sleep(0.5)
            return process.poll() is None
    return False


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
