"""The columns of the rows in Spark's types: those of ``penstock.results.arrow.schema``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from penstock.results.columns import COLUMNS, FAULT_FIELDS, Bindings, Fault, Texts

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


@cache
def schema() -> StructType:
    """Return the schema of the rows, without the columns that come along from the input."""
    return schema_of(COLUMNS)


def schema_of(columns: Mapping[str, Any]) -> StructType:
    """Return the schema of columns whose types are named as those of the rows."""
    from pyspark.sql import types as t

    text = t.StringType()
    types: dict[Any, t.DataType] = {
        str: text,
        int: t.LongType(),
        bytes: t.BinaryType(),
        datetime: t.TimestampType(),
        Texts: t.ArrayType(text),
        Bindings: t.MapType(text, text),
    }

    def struct(fields: Mapping[str, Any]) -> t.StructType:
        return t.StructType([t.StructField(name, types[type_]) for name, type_ in fields.items()])

    types[Fault] = struct(FAULT_FIELDS)
    return struct(columns)
