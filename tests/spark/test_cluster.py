"""A standalone cluster of two workers on loopback runs the same job."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.spark.helpers.jobs import expected_rows, require_plans, run_job
from tests.spark.helpers.servers import running

pytestmark = [pytest.mark.spark, pytest.mark.slow]

MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"


def test_cluster_gives_the_rows_of_the_engine(tmp_path: Path) -> None:
    own_host = ["--host", "127.0.0.1", "--webui-port", "0"]
    # Each worker has a folder for temporary files of its own, as if it were another host.
    hosts = [tmp_path / "host1", tmp_path / "host2"]
    with ExitStack() as stack:
        arguments = [MASTER, *own_host, "--port", "0"]
        master = stack.enter_context(running("spark-class", arguments, tmp_path / "master.log", {}))
        address = master.wait_for(r"Starting Spark master at (spark://127\.0\.0\.1:\d+)")
        for host in hosts:
            host.mkdir()
            arguments = [WORKER, *own_host, "--cores", "1", "--memory", "1g"]
            arguments += ["--work-dir", str(host / "work"), address]
            own = {"TMPDIR": str(host), "SPARK_WORKER_DIR": str(host / "work")}
            stack.enter_context(running("spark-class", arguments, host / "log", own))
        master.wait_for("Registering worker", len(hosts))
        found = run_job(address, tmp_path)
    assert {key: sorted(rows) for key, rows in found.items()} == expected_rows(tmp_path)
    for host in hosts:
        require_plans(host, tmp_path)
