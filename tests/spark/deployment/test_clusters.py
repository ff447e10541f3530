"""Clusters whose workers have no package: one sentence without it, all of it once shipped."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.spark.deployment.bare import bare_python, surroundings
from tests.spark.helpers.servers import running

pytestmark = [pytest.mark.spark, pytest.mark.slow]

JOB = Path(__file__).with_name("job.py")
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
SECONDS_MAX = 900


def run_job(master: str, folder: Path, environment: dict[str, str]) -> None:
    """Run the job and look at what it says."""
    work = folder / "wo rk"
    work.mkdir()
    done = subprocess.run(
        [sys.executable, str(JOB), master, str(work)],
        cwd="/",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS_MAX,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    told = json.loads(done.stdout.splitlines()[-1])
    for key in ("without", "source without", "anew without"):
        assert told[key].startswith("PV0002: a worker ("), told
        assert "ship(spark)" in told[key]
        assert "\n" not in told[key]
    assert set(told["with"]) == {
        *("match", "match stream", "join", "join_stream", "pipeline", "penstock-xml")
    }
    assert all(told["with"].values()), told
    assert told["anew"]


@contextmanager
def cluster(folder: Path, environment: dict[str, str]) -> Iterator[str]:
    """Give the address of a master with two workers."""
    own_host = ["--host", "127.0.0.1", "--webui-port", "0"]
    # The helper's own path to the package is taken away again.
    environment = environment | {"PYTHONPATH": ""}
    with ExitStack() as stack:
        master = stack.enter_context(
            running("spark-class", [MASTER, *own_host, "--port", "0"], folder / "log", environment)
        )
        address = master.wait_for(r"Starting Spark master at (spark://127\.0\.0\.1:\d+)")
        for name in ("one", "two"):
            host = folder / name
            host.mkdir()
            arguments = [WORKER, *own_host, "--cores", "1", "--memory", "1g"]
            arguments += ["--work-dir", str(host / "work"), address]
            own = environment | {"TMPDIR": str(host)}
            stack.enter_context(running("spark-class", arguments, host / "log", own))
        master.wait_for("Registering worker", 2)
        yield address


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return the environment of processes whose Python has no package, with spaces in paths."""
    temporary = tmp_path / "t mp"
    temporary.mkdir()
    return surroundings(bare_python(tmp_path / "bare env"), temporary)


def test_local_cluster_gets_the_package(tmp_path: Path, environment: dict[str, str]) -> None:
    run_job("local-cluster[2,1,1024]", tmp_path, environment)


def test_standalone_cluster_gets_the_package(tmp_path: Path, environment: dict[str, str]) -> None:
    with cluster(tmp_path, environment) as address:
        run_job(address, tmp_path, environment)
    for name in ("one", "two"):
        (unpacked,) = (tmp_path / name).glob("penstock-packages-*/*")
        assert (unpacked / "penstock" / "__init__.py").exists()
