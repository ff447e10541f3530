"""What a stream left in its checkpoint, read before Spark reads it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from penstock.sinks.folders import Folders

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def stream_name(spark: SparkSession, checkpoint: str) -> str | None:
    """Return the name of the stream whose checkpoint it is, or None if it is new.

    Raises:
        SinkError: The file system cannot be reached.
    """
    data = Folders(spark, checkpoint).read(f"{checkpoint}/metadata")
    try:
        return None if data is None else str(json.loads(data)["id"])
    except (ValueError, KeyError, TypeError):
        return None
