"""One Spark session for the whole run; tests marked ``spark`` are skipped where it cannot start."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from penstock.spark import runtime
from tests.conftest import ROOT
from tests.spark.helpers import kafka_broker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KAFKA = ROOT / "out" / "kafka"
STATE_STORE = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": STATE_STORE,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.python.task.killTimeout": "500ms",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
}


PLAIN = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Small data in many statements: compiling and adapting each would cost more than running it."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs Spark where there is none, and keep to ourselves what pyspark warns of."""
    reason = runtime.missing()
    for item in items:
        if item.get_closest_marker("spark") is None:
            continue
        if reason is not None:
            item.add_marker(pytest.mark.skip(reason=reason))
        # Sockets to the JVM are closed when the session stops, and pyspark uses what pandas
        # and Python are about to remove.
        for ignored in ("ResourceWarning", "DeprecationWarning", "FutureWarning"):
            item.add_marker(pytest.mark.filterwarnings(f"ignore::{ignored}"))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Return the session that all tests share."""
    if (reason := runtime.missing()) is not None:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("spark")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").appName("penstock tests")
        settings = SETTINGS | {
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.local.dir": str(folder / "local"),
            # Derby, a database of tests, would write its log where they run.
            "spark.driver.extraJavaOptions": f"-Dderby.stream.error.file={folder / 'derby.log'}",
        }
        for key, value in settings.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def connector() -> str:
    """Return the jars of Spark's connector for Kafka, as Spark takes them, or skip the test."""
    import pyspark

    try:
        jars = kafka_broker.connector_jars(KAFKA, pyspark.__version__)
    except kafka_broker.UnavailableError as error:
        pytest.skip(f"Spark's connector for Kafka cannot be had: {error}")
    return ",".join(map(str, jars))


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of a running Kafka, or skip the test."""
    try:
        jars = kafka_broker.broker_jars(KAFKA)
    except kafka_broker.UnavailableError as error:
        pytest.skip(f"Kafka cannot be had: {error}")
    with kafka_broker.running(jars, tmp_path_factory.mktemp("kafka")) as address:
        yield address


@pytest.fixture
def plain(spark: SparkSession) -> Iterator[SparkSession]:
    """Return the session, set to interpret plans as they are."""
    before = {key: spark.conf.get(key) for key in PLAIN}
    for key, value in PLAIN.items():
        spark.conf.set(key, value)
    yield spark
    for key, found in before.items():
        spark.conf.set(key, found)
