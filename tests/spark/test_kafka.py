"""Kafka through Spark's own connector, against a real broker on loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import penstock
from tests.conftest import ROOT
from tests.spark import kafka_broker
from tests.spark.kafka_job import order, registry

pytestmark = pytest.mark.spark

CACHE = ROOT / "out" / "kafka"


@pytest.fixture(scope="module")
def connector() -> str:
    """Return the jars of the connector, as Spark takes them, or skip the test."""
    import pyspark

    try:
        jars = kafka_broker.connector_jars(CACHE, pyspark.__version__)
    except kafka_broker.UnavailableError as error:
        pytest.skip(f"Spark's connector for Kafka cannot be had: {error}")
    return ",".join(map(str, jars))


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of a running broker, or skip the test."""
    try:
        jars = kafka_broker.broker_jars(CACHE)
    except kafka_broker.UnavailableError as error:
        pytest.skip(f"Kafka cannot be had: {error}")
    with kafka_broker.running(jars, tmp_path_factory.mktemp("kafka")) as address:
        yield address


def run_job(broker: str, connector: str, folder: Path) -> None:
    """Run the job in a process of its own."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "python")])
    environment = os.environ | {"PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable}
    script = "import runpy; runpy.run_module('tests.spark.kafka_job', run_name='__main__')"
    command = [sys.executable, "-W", "ignore", "-c", script]
    done = subprocess.run(
        [*command, broker, connector, str(folder)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]


def told(folder: Path, topic: str) -> list[dict[str, object]]:
    """Return what a topic holds."""
    values = json.loads((folder / f"{topic}.json").read_text("utf-8"))
    return [json.loads(value) for value in values]


def test_documents_of_a_topic_become_results_in_another_over_a_restart(
    broker: str, connector: str, tmp_path: Path
) -> None:
    run_job(broker, connector, tmp_path)
    documents = [penstock.Document(order(number), str(number)) for number in range(70)]
    rows = list(penstock.Engine(registry()).run(documents))
    found = sorted(
        (row["subscription"], row["document"], row["ordinal"], row.get("value") or None)
        for row in told(tmp_path, "results")
    )
    assert found == sorted((*row.id, row.value or None) for row in rows if not row.is_error)
    bad = {row["document"]: row["error"] for row in told(tmp_path, "quarantine")}
    assert len(told(tmp_path, "quarantine")) == len(bad) == 10
    for row in rows:
        if row.error is not None:
            error = bad[row.document]
            assert isinstance(error, dict)
            assert (error["code"], error["byte"]) == (row.error.code, row.error.byte)
