"""The columns of a DataFrame that make documents, under names of our own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock import extras

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructField

FAULT = "fault"
"""The column in which a source says why it could not read a document."""

INTERNAL = ("__document", "__id", "__time", "__stream")
TIME, STREAM = INTERNAL[2:]
DEFAULT_STREAM = "default"
"""The stream of documents that have no other."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """Documents with id, event time and stream, then what comes along, then faults if any."""

    frame: DataFrame
    kept: list[StructField]
    is_text: bool
    has_faults: bool
    constant: frozenset[str] = frozenset()
    """Those of the first four columns that say the same of all documents: no time, one stream."""

    def without_others(self) -> DataFrame:
        """Return the documents without what comes along."""
        return self.frame.drop(*(_kept_name(place) for place in range(len(self.kept))))


def inputs_of(
    documents: DataFrame,
    document: str | Column,
    id: str | Column,  # noqa: A002  # the word that users know
    time: str | Column | None,
    stream: str | Column | None,
) -> Inputs:
    """Return the documents of a DataFrame by names of columns or expressions.

    Raises:
        ValueError: A column is missing or has a type that holds no documents.
    """
    extras.load("pyspark.sql", "spark")
    from pyspark.sql import functions as f
    from pyspark.sql import types as t

    from penstock.spark.schema import schema

    named = [one for one in (document, id, time, stream) if isinstance(one, str)]
    _require_columns(documents, named)
    fault = (FAULT, schema()["error"].dataType)
    has_faults = fault in [(field.name, field.dataType) for field in documents.schema.fields]
    taken = [*named, FAULT] if has_faults else named
    kept = [field for field in documents.schema.fields if field.name not in taken]

    def given(one: str | Column) -> Column:
        return f.col(quoted(one)) if isinstance(one, str) else one

    bare = (
        given(document),
        given(id).cast("string"),
        (f.lit(None) if time is None else given(time)).cast("timestamp"),
        (f.lit(DEFAULT_STREAM) if stream is None else given(stream)).cast("string"),
    )
    frame = documents.select(
        *(column.alias(name) for column, name in zip(bare, INTERNAL, strict=True)),
        *(f.col(quoted(field.name)).alias(_kept_name(place)) for place, field in enumerate(kept)),
        *([f.col(FAULT)] if has_faults else []),
    )
    found = frame.schema[INTERNAL[0]].dataType
    if not isinstance(found, t.BinaryType | t.StringType):
        name = found.simpleString()
        raise ValueError(f"a document is binary or a string, and {document!r} is {name}")
    given_ones = ((TIME, time), (STREAM, stream))
    constant = frozenset(name for name, one in given_ones if one is None)
    return Inputs(frame, kept, isinstance(found, t.StringType), has_faults, constant)


def _kept_name(place: int) -> str:
    # Spark looks columns of its own up by name, and reads `a.b` as a field of `a`.
    return f"__kept{place}"


def _require_columns(documents: DataFrame, named: list[str]) -> None:
    missing = [name for name in named if name not in documents.columns]
    if missing:
        have = ", ".join(f"`{name}`" for name in documents.columns)
        raise ValueError(f"there is no column `{missing[0]}`; the documents have {have}")


def quoted(name: str) -> str:
    """Return the name of a column as Spark reads it as one, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"
