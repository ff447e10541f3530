"""Clusters whose workers have no package: one sentence without it, all of it once shipped."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.spark.deployment.bare import bare_python, surroundings
from tests.spark.helpers.servers import connect_server, running
from tests.waiting import wait_until

pytestmark = [pytest.mark.spark, pytest.mark.slow]

HERE = Path(__file__).parent
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
SECONDS_MAX = 900
ALL = {"match", "match stream", "join", "join_stream", "pipeline", "penstock-xml"}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return the environment of processes whose Python has no package, with spaces in paths."""
    temporary = tmp_path / "t mp"
    temporary.mkdir()
    return surroundings(bare_python(tmp_path / "bare env"), temporary)


def started(job: str, address: str, work: Path, given: dict[str, str]) -> subprocess.Popen[str]:
    """Return a running job."""
    work.mkdir()
    return subprocess.Popen(
        [sys.executable, str(HERE / job), address, str(work)],
        cwd="/",
        env=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(job: subprocess.Popen[str]) -> dict[str, Any]:
    """Return what a job says, which ends well."""
    try:
        output, errors = job.communicate(timeout=SECONDS_MAX)
    finally:
        job.kill()
    assert job.returncode == 0, errors[-4000:]
    told: dict[str, Any] = json.loads(output.splitlines()[-1])
    return told


def require_all(told: dict[str, Any]) -> None:
    """Check what the job of a cluster says."""
    for key in ("without", "source without", "anew without"):
        assert told[key].startswith("PV0002: a worker ("), told
        assert "ship(spark)" in told[key]
        assert "\n" not in told[key]
    assert told["with"].keys() == ALL
    assert all(told["with"].values()), told
    assert told["anew"]


def test_local_cluster_gets_the_package(tmp_path: Path, environment: dict[str, str]) -> None:
    work = tmp_path / "wo rk"
    require_all(ended(started("job.py", "local-cluster[2,1,1024]", work, environment)))


def test_standalone_cluster_gets_the_package_and_so_do_workers_that_come_later(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    # The helper's own path to the package is taken away again.
    servers = environment | {"PYTHONPATH": ""}
    own_host = ["--host", "127.0.0.1", "--webui-port", "0"]
    with ExitStack() as stack:
        arguments = [MASTER, *own_host, "--port", "0"]
        log = tmp_path / "master.log"
        master = stack.enter_context(running("spark-class", arguments, log, servers))
        address = master.wait_for(r"Starting Spark master at (spark://127\.0\.0\.1:\d+)")

        def add_worker(name: str) -> None:
            host = tmp_path / name
            host.mkdir()
            arguments = [WORKER, *own_host, "--cores", "1", "--memory", "1g"]
            arguments += ["--work-dir", str(host / "work"), address]
            own = servers | {"TMPDIR": str(host)}
            stack.enter_context(running("spark-class", arguments, host / "log", own))

        add_worker("one")
        job = started("job.py", address, tmp_path / "wo rk", environment)
        shipped = tmp_path / "wo rk" / "shipped"
        wait_until(lambda: shipped.exists() or job.poll() is not None, "the package is shipped")
        add_worker("late")
        require_all(ended(job))
    for name in ("one", "late"):
        (unpacked,) = (tmp_path / name).glob("penstock-packages-*/*")
        assert (unpacked / "penstock" / "__init__.py").exists()


def test_server_of_connect_gets_the_package(tmp_path: Path, environment: dict[str, str]) -> None:
    with connect_server(tmp_path, environment | {"PYTHONPATH": ""}) as address:
        told = ended(started("connect_job.py", f"sc://{address}", tmp_path / "wo rk", environment))
    assert "PV0002: a worker (" in told["without"]
    assert told["with"] == 20
    assert told["penstock-xml"] == 2
