"""What a session needs before its workers run anything of this package."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from penstock.errors import DeploymentError
from penstock.sinks.base import java_of
from penstock.spark.deployment.guard import map_batches

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_LOCAL = re.compile(r"local(\[.*\])?")
_SENTENCE = re.compile(r"Error: (PV\d{4}): (.+)")
_VERSIONS = re.compile(r"PYTHON_VERSION_MISMATCH\W+([^\n]*)")
_checked: WeakSet[Any] = WeakSet()


def prepare(spark: SparkSession) -> None:
    """See to it that a session's workers can run this package.

    In local mode they get the Python of this process, unless ``PYSPARK_PYTHON`` names another. On
    a cluster one task looks, once in the life of an application. On Connect nothing is asked:
    there, and on workers that come later, a job fails with the same sentences.

    Raises:
        DeploymentError: The workers lack the package, have another version of it, or cannot load
            it.
    """
    context = None if java_of(spark) is None else spark.sparkContext
    if context is None or context in _checked:
        return
    if is_local(str(context.master)):
        is_chosen = os.environ.get("PYSPARK_PYTHON") or context.getConf().get(
            "spark.pyspark.python"
        )
        if not is_chosen:
            context.pythonExec = sys.executable
    else:
        _probe(spark)
    _checked.add(context)


def is_local(master: str) -> bool:
    """Return whether the workers of a master are processes that this one's Java starts."""
    return _LOCAL.fullmatch(master) is not None


def _probe(spark: SparkSession) -> None:
    from pyspark.errors import PySparkException

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches

    try:
        map_batches(spark.range(0, 1, 1, 1), look, "id long").collect()
    except PySparkException as error:
        raise _sentence_of(str(error)) or error from None


def _sentence_of(text: str) -> DeploymentError | None:
    """Return what a worker said about itself, if that is why a job failed."""
    if (found := _SENTENCE.search(text)) is not None:
        return DeploymentError(found[1], found[2])
    if (mismatch := _VERSIONS.search(text)) is not None:
        message = "Spark wants the same Python on workers and driver: "
        return DeploymentError("PV0004", f"{message}{mismatch[1].strip()}; set PYSPARK_PYTHON")
    return None
