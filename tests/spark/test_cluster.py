"""A standalone cluster of two workers on loopback runs the same job."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.spark.jobs import expected_rows, run_job
from tests.spark.servers import free_port, running, wait_for, wait_for_text

pytestmark = [pytest.mark.spark, pytest.mark.slow]

MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"


def test_cluster_gives_the_rows_of_the_engine(tmp_path: Path) -> None:
    port, log = free_port(), tmp_path / "master.log"
    address = ["--host", "127.0.0.1"]
    # Each worker has a folder for temporary files of its own, as if it were another host.
    hosts = [tmp_path / "host1", tmp_path / "host2"]
    with ExitStack() as stack:
        arguments = [MASTER, *address, "--port", str(port), "--webui-port", "0"]
        stack.enter_context(running("spark-class", arguments, log, {}))
        wait_for(port, log)
        for host in hosts:
            host.mkdir()
            arguments = [WORKER, *address, "--webui-port", "0", "--cores", "1", "--memory", "1g"]
            arguments += ["--work-dir", str(host / "work"), f"spark://127.0.0.1:{port}"]
            own = {"TMPDIR": str(host), "SPARK_WORKER_DIR": str(host / "work")}
            stack.enter_context(running("spark-class", arguments, host / "log", own))
        wait_for_text(log, "Registering worker", len(hosts))
        found = run_job(f"spark://127.0.0.1:{port}", tmp_path)
    assert {key: sorted(rows) for key, rows in found.items()} == expected_rows()
    for host in hosts:
        assert len(list(host.glob("penstock-plans-*/*.plan"))) == 2
