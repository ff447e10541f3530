"""The Spark session of a pipeline."""

from __future__ import annotations

import logging
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.spark.deployment import is_local, ship
from penstock.spark.pipelines.configuration import Pipeline
from penstock.spark.runtime import require

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOGGING = Path(__file__).with_name("log4j2.properties")

DEFAULTS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Spark looks every two seconds whether a task was cancelled, and waits two more seconds before
    # it ends a Python worker that is in the middle of a document.
    "spark.python.task.killTimeout": "500ms",
    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
}
REDACTION = "spark.redaction.regex"
REDACTED = "(?i)secret|password|token|access[.]?key"
"""The names of settings whose values Spark hides, if nobody says otherwise."""
TASK_FAILURES_MAX = 4
"""A task that fails so often fails the job: what clusters do, and local mode does not."""
LOCAL_DEFAULTS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "4",
}


def start(pipeline: Pipeline) -> SparkSession:
    """Return a session with the pipeline's settings.

    Raises:
        RuntimeError: pyspark or Java is missing.
    """
    require()
    from pyspark.sql import SparkSession

    # A connection that breaks is raised, too; once is enough.
    logging.getLogger("py4j").addHandler(logging.NullHandler())
    logging.getLogger("py4j").propagate = False
    logging.getLogger().addFilter(_is_no_interrupt)
    is_here = pipeline.master.startswith("local")
    if is_here:
        # Workers run the Python that has this package. Those of a cluster have one of their own.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings = DEFAULTS | (LOCAL_DEFAULTS if is_here else {})
    for one in pipeline.sinks:
        settings = settings | dict(one.sink.settings)
    settings = settings | dict(pipeline.settings) | redaction(pipeline)
    master = _with_retries(pipeline.master)
    builder = SparkSession.builder.appName(f"penstock {pipeline.name}").master(master)
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    _quiet_end_of_java(spark)
    if pipeline.is_shipped and not is_local(pipeline.master):
        ship(spark)
    return spark


def _quiet_end_of_java(spark: SparkSession) -> None:
    """Let a Java that is gone be named by what needs it, not by pyspark's server for counters."""
    context = getattr(spark, "_sc", None)  # a session on a Connect server has none
    server = getattr(context, "_accumulatorServer", None)
    if server is None:
        return
    complain = server.handle_error

    def handle_error(request: Any, address: Any) -> None:
        if not isinstance(sys.exc_info()[1], EOFError | ConnectionError):
            complain(request, address)

    server.handle_error = handle_error


def redaction(pipeline: Pipeline) -> dict[str, str]:
    """Return the setting by which Spark hides settings that hold secrets, in its logs and pages."""
    hidden = [key for key, value in pipeline.settings.items() if pipeline.secrets.hides(value)]
    if not hidden:
        return {}
    pattern = pipeline.settings.get(REDACTION, REDACTED)
    return {REDACTION: "|".join([pattern, *(f"^{re.escape(key)}$" for key in hidden)])}


def _is_no_interrupt(record: logging.LogRecord) -> bool:
    """Return whether a record is other than py4j's report of a Ctrl-C, which is raised, too."""
    return not record.getMessage().startswith("KeyboardInterrupt while sending command")


def _with_retries(master: str) -> str:
    """Return a master whose tasks are tried again, should a worker die on the way."""
    found = re.fullmatch(r"local(?:\[(\d+|\*)\])?", master)
    return f"local[{found[1] or 1},{TASK_FAILURES_MAX}]" if found else master
