"""What a source could not read, carried on to quarantine."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FAULT_TYPE = "struct<code:string,reason:string,byte:bigint,line:bigint,path:string>"


def with_faults(rows: DataFrame) -> DataFrame:
    """Return rows of ``match`` whose errors are those of the source, where it had one.

    A source gives a file that it cannot read, or a document that it cannot split to the end, one
    row with a null document and the reason in the column ``fault``. ``match`` then reports that
    the document is null, and this puts the reason in its place. The column ``fault`` goes.
    """
    from pyspark.sql import functions as f

    if "fault" not in rows.columns:
        return rows
    columns = [
        f.coalesce(f.col("fault"), f.col("error")).alias("error")
        if name == "error"
        else f.col(name)
        for name in rows.columns
        if name != "fault"
    ]
    return rows.select(*columns)
