"""The joins of a batch pipeline: all documents of the batch, with each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.registry import AnyRegistry
from penstock.spark.joins import join
from penstock.spark.pipelines.matching import Matching

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_DECLARED = r"""^(<\?xml[^>]*?)(\s+encoding\s*=\s*(?:"[^"]*"|'[^']*'))"""
"""What an XML declaration says before its encoding, and the encoding."""


def joined_rows(
    documents: DataFrame, matching: Matching, registry: AnyRegistry, matched: DataFrame
) -> DataFrame:
    """Return the rows that documents of a batch give together; ``matched`` are the others.

    A document that cannot be read is among the rows of matching already.
    """
    from pyspark.sql import functions as f

    document, id_, time, stream = documents.columns[:4]
    whole: Column = f.col(document)
    if matching.text_at is not None:
        text = f.col(documents.columns[matching.text_at])
        whole = f.when(text.isNull(), whole).otherwise(_as_bytes(text))
    rows = join(
        documents.select(whole.alias("xml"), id_, time, stream),
        registry,
        id=id_,
        time=time,
        stream=stream,
        limits=matching.job.limits,
    )
    same = [f.col(f"a.{name}").eqNullSafe(f.col(f"b.{name}")) for name in _FAILED]
    condition = same[0] & same[1] & same[2]
    is_failed = f.col("kind").eqNullSafe("error") & f.col("subscription").isNull()
    known = matched.where(is_failed).select(*_FAILED)
    failed = rows.where(is_failed).alias("a").join(known.alias("b"), condition, "left_anti")
    return rows.where(~is_failed).unionByName(failed)


_FAILED = ("document", "stream", "error")


def _as_bytes(text: Column) -> Column:
    """Return text as bytes of the same length in UTF-8, whatever encoding it declares."""
    from pyspark.sql import functions as f

    before = f.regexp_extract(text, _DECLARED, 1)
    declared = f.length(f.regexp_extract(text, _DECLARED, 2))
    blanks = f.rpad(f.lit(""), declared, " ")
    rest = f.substring(text, f.length(before) + declared + 1, f.length(text))
    return f.encode(f.concat(before, blanks, rest), "utf-8")
