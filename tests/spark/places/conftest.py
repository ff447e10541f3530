"""Servers of files for the tests of this folder; where one cannot be had, they are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.conftest import ROOT
from tests.spark.helpers import store_servers
from tests.spark.helpers.maven import UnavailableError
from tests.spark.helpers.store_servers import Place

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CACHE = ROOT / "out" / "places"


@pytest.fixture(scope="package", params=["s3", "hdfs"])
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    """Return a running store."""
    start = {"s3": store_servers.s3, "hdfs": store_servers.hdfs}[request.param]
    try:
        with start(CACHE, tmp_path_factory.mktemp(request.param) / "server") as running:
            yield running
    except UnavailableError as error:
        pytest.skip(f"the server cannot be had: {error}")


@pytest.fixture
def store(place: Place, spark: SparkSession) -> Iterator[Place]:
    """Return a store that the session knows."""
    for name, value in place.settings.items():
        spark.conf.set(name, value)
    yield place
    for name in place.settings:
        spark.conf.unset(name)
