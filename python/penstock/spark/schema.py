"""The columns of the rows in Spark's types: those of ``penstock.results.arrow.schema``."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from penstock.results import COLUMNS

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


@cache
def schema() -> StructType:
    """Return the schema of the rows, without the columns that come along from the input."""
    from pyspark.sql import types as t

    text, number = t.StringType(), t.LongType()
    fault = t.StructType(
        [
            t.StructField("code", text),
            t.StructField("reason", text),
            t.StructField("byte", number),
            t.StructField("line", number),
            t.StructField("path", text),
        ]
    )
    types: dict[str, t.DataType] = {
        "subscription": text,
        "stream": text,
        "document": text,
        "documents": t.ArrayType(text),
        "ordinal": number,
        "kind": text,
        "name": text,
        "value": text,
        "start": number,
        "end": number,
        "decided_at": number,
        "event_time": t.TimestampType(),
        "bindings": t.MapType(text, text),
        "error": fault,
        "source": t.BinaryType(),
    }
    return t.StructType([t.StructField(name, types[name]) for name in COLUMNS])
