"""Streaming joins through Spark Connect: the driver's part runs in the server's Python."""

from __future__ import annotations

from pathlib import Path

import pyarrow.dataset as ds
import pytest

import penstock
from tests.spark.helpers.jobs import run_module
from tests.spark.helpers.servers import connect_server
from tests.spark.joins.helpers.streams import write_batch
from tests.spark.joins.test_stream import SAME, document, pairs

pytestmark = pytest.mark.spark


def test_connect_joins_a_stream_and_goes_on_with_its_state(tmp_path: Path) -> None:
    registry = penstock.Registry.open(tmp_path / "registry")
    registry.add("q", penstock.xscl(SAME))
    write_batch(tmp_path / "in", 0, [document("a", 1), document("a", 2, 2)])
    write_batch(tmp_path / "in", 1, [document("b", 3)])
    write_batch(tmp_path / "later", 2, [document("b", 4, 2)])
    with connect_server(tmp_path, {}) as address:
        run_module("tests.spark.joins.helpers.connect_job", f"sc://{address}", str(tmp_path))
    rows = ds.dataset(tmp_path / "out", format="parquet", partitioning="hive").to_table()
    assert pairs(rows.to_pylist()) == [("a1", "b3"), ("a2", "b4")]
