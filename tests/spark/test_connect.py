"""Spark Connect: the same calls through a server, and no Java in the process of the client."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.spark.jobs import expected_rows, run_job
from tests.spark.servers import free_port, running, wait_for

pytestmark = pytest.mark.spark

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


def test_connect_gives_the_rows_of_the_engine(tmp_path: Path) -> None:
    port, log = free_port(), tmp_path / "server.log"
    settings = {
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
        "spark.sql.artifact.isolation.enabled": "true",
    }
    arguments = ["--class", SERVER]
    for key, value in settings.items():
        arguments += ["--conf", f"{key}={value}"]
    # Workers of the server share no folder with the client, as on another machine.
    folder = tmp_path / "server"
    folder.mkdir()
    with running("spark-submit", [*arguments, "spark-internal"], log, {"TMPDIR": str(folder)}):
        wait_for(port, log)
        found = run_job(f"sc://127.0.0.1:{port}", tmp_path)
    assert {key: sorted(rows) for key, rows in found.items()} == expected_rows()
    assert len(list(folder.glob("penstock-plans-*/*.plan"))) == 2
