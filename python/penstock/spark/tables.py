"""Documents of a DataFrame as the typed rows of a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from penstock.engine.follower import Fixed
from penstock.engine.reading import Reader
from penstock.engine.table_schema import table_schema
from penstock.engine.tables import PACE, TableRows
from penstock.kernel import Plan, Session
from penstock.languages.tables import read_table
from penstock.limits import Limits
from penstock.planning.programs import compile_program
from penstock.spark.bounds import checked_limits
from penstock.spark.deployment import map_batches, prepare
from penstock.spark.documents import documents_of
from penstock.spark.inputs import INTERNAL, inputs_of
from penstock.twigs import Query
from penstock.twigs.tables import Table

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

_NAME = "table"


def tables(
    documents: DataFrame,
    query: Query,
    document: str | Column = "xml",
    id: str | Column = "id",  # noqa: A002  # the word that users know
    limits: Limits | None = None,
) -> DataFrame:
    """Return the rows of a table over a DataFrame of documents, batch or streaming.

    The columns are those of ``Engine.table``. ``document`` and ``id`` are names of columns or
    expressions, as ``match`` takes them.

    A document that is malformed, passes a limit or is null ends the job, as does a value that
    does not fit if the table says ``on_error="raise"``. With ``on_error="quarantine"`` the rows
    of such a document end there instead; ``match`` gives its error row.

    Raises:
        ImportError: pyspark is not installed.
        TypeError: The query is no table.
        SettingError: The limits bound seconds.
        ValueError: A column is missing or has a type that holds no documents.
    """
    if not isinstance(query.output, Table):
        raise TypeError(f"{query!r} is no table; penstock.table makes one")
    inputs = inputs_of(documents, document, id, None, None)
    from pyspark.sql.pandas.types import from_arrow_schema

    outputs = from_arrow_schema(table_schema(query.output))
    text, options, is_text = query.text, dict(query.options), inputs.is_text
    checked = checked_limits(limits)

    # A closure over plain data: what runs in the workers is their own copy of the package.
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return evaluate_table(read_table(text, **options), checked, is_text, batches)

    prepare(documents.sparkSession)
    return map_batches(inputs.frame.select(INTERNAL[0]), run, outputs)


def typed_rows(rows: DataFrame, name: str, query: Query) -> DataFrame:
    """Return the rows of one table among the rows of ``match``, with their own columns."""
    from pyspark.sql import functions as f
    from pyspark.sql.pandas.types import from_arrow_schema

    assert isinstance(query.output, Table), "only tables have columns"
    schema = from_arrow_schema(table_schema(query.output))
    own = rows.where((f.col("kind") == "record") & (f.col("subscription") == name))
    return own.select(f.from_json("value", schema).alias("row")).select("row.*")


def evaluate_table(
    query: Query, limits: Limits, is_text: bool, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table over batches of documents, which are their only column.

    Raises:
        DocumentError: A document failed, and the table does not set it aside.
    """
    session = Session(Plan.build([compile_program(query)]), limits)
    rows = TableRows(_NAME, query)
    for batch in batches:
        reader = Reader(Fixed(session, [_NAME]), PACE)
        yield from rows.batches(reader.run(documents_of(batch.column(0), is_text)))
