"""`.venv/bin/python job.py` in a shell where nothing is activated."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_a_plain_job_runs_its_own_python_in_workers(tmp_path: Path) -> None:
    # The python3 of the system has neither Spark nor the package.
    kept = {key: os.environ[key] for key in ("JAVA_HOME", "HOME") if key in os.environ}
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("plain.py"))],
        env=kept | {"PATH": "/usr/bin:/bin", "SPARK_LOCAL_IP": "127.0.0.1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split()[-1] == "3"
