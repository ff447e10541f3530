"""Spark Connect: the same calls through a server, and no Java in the process of the client."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.spark.helpers.jobs import expected_rows, require_plans, run_job
from tests.spark.helpers.servers import connect_server

pytestmark = pytest.mark.spark


def test_connect_gives_the_rows_of_the_engine(tmp_path: Path) -> None:
    # Workers of the server share no folder with the client, as on another machine.
    folder = tmp_path / "server"
    folder.mkdir()
    with connect_server(tmp_path, {"TMPDIR": str(folder)}) as address:
        found = run_job(f"sc://{address}", tmp_path)
    assert {key: sorted(rows) for key, rows in found.items()} == expected_rows(tmp_path)
    require_plans(folder, tmp_path)
