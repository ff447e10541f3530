"""Spark Connect: the same calls through a server, and no Java in the process of the client."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.spark.jobs import expected_rows, require_plans, run_job
from tests.spark.servers import running

pytestmark = pytest.mark.spark

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


def test_connect_gives_the_rows_of_the_engine(tmp_path: Path) -> None:
    settings = {
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": "0",
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
    log, own = tmp_path / "server.log", {"TMPDIR": str(folder)}
    with running("spark-submit", [*arguments, "spark-internal"], log, own) as server:
        address = server.wait_for(r"Spark Connect server started at: (127\.0\.0\.1:\d+)")
        found = run_job(f"sc://{address}", tmp_path)
    assert {key: sorted(rows) for key, rows in found.items()} == expected_rows(tmp_path)
    require_plans(folder)
