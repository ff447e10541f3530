"""Documents of a DataFrame against all subscriptions of a registry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, get_args

from penstock.limits import Limits
from penstock.registry import AnyRegistry
from penstock.spark.bounds import checked_limits
from penstock.spark.bulk import bulk_schema
from penstock.spark.deployment import map_batches, prepare
from penstock.spark.inputs import INTERNAL, Inputs, inputs_of
from penstock.spark.plans import require_registry, ship
from penstock.spark.streams import warn_of_streams
from penstock.spark.worker import Job, evaluate, require_rows

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

Rows = Literal["rows", "bulk"]
"""One for each result, or one for each document."""


def match(
    documents: DataFrame,
    registry: AnyRegistry,
    document: str | Column = "xml",
    id: str | Column = "id",  # noqa: A002  # the word that users know
    time: str | Column | None = None,
    stream: str | Column | None = None,
    limits: Limits | None = None,
    rows: Rows = "rows",
    damaged: Literal["stop", "reject"] = "stop",
) -> DataFrame:
    """Return the rows of all subscriptions over a DataFrame of documents, batch or streaming.

    ``document``, ``id``, ``time`` and ``stream`` are names of columns or expressions; a constant
    stream is ``lit("orders")``. The document is binary, or a string, whose declared encoding
    then does not matter. The id becomes text, and a row's column ``document``. The other columns
    of the input come along behind the rows' own.

    A document that is malformed, passes a limit or is null gives one error row after the results
    that were decided before the error; ``results`` and ``quarantine`` tell the two apart. A
    subscription that passes a limit alone gives an error row with its name and without a source,
    which neither of them returns: all others have their rows. Nobody is suspended. Where
    a source of this package could not read a document, its column ``fault`` says why; that
    becomes the row's ``error``, and the column goes.

    With ``rows="bulk"`` the rows are what ``Engine.matches`` gives: one for each document in which
    somebody found something, with ``entries``, which say what subscriptions found what fragments,
    and ``fragments``. It is for many subscriptions that find much.

    With ``damaged="reject"`` a document that fails has its error row alone. To go on behind the
    damaged records of a file is an option of the source ``penstock-xml``.

    A registry in memory is taken as it is now. A durable one is looked up while a stream runs:
    each micro-batch has the version that its first task finds, and keeps it when it is replayed.
    In batch it is taken as it is now.

    Raises:
        ImportError: pyspark is not installed.
        RegistryError: A subscription joins documents; ``join`` and ``join_stream`` do that. One
            that is added while a stream runs ends the stream.
        TypeError: The registry is something else.
        SettingError: The limits bound seconds.
        DeploymentError: The workers of a cluster cannot run this package.
        ValueError: A column is missing or has a type that holds no documents, or a column that
            comes along has the name of one of the rows' columns; ``rows`` or ``damaged`` is
            something else.
    """
    require_registry(registry)
    require_rows(registry.snapshot())
    if rows not in get_args(Rows):
        raise ValueError(f'rows are "rows" or "bulk", not {rows!r}')
    if damaged not in ("stop", "reject"):
        raise ValueError(f'damaged is "stop" or "reject", not {damaged!r}')
    inputs = inputs_of(documents, document, id, time, stream)
    warn_of_streams(registry, stream)
    rejects = damaged == "reject"
    return match_inputs(inputs, registry, limits, is_bulk=rows == "bulk", rejects=rejects)


def match_inputs(
    inputs: Inputs,
    registry: AnyRegistry,
    limits: Limits | None = None,
    is_counting: bool = False,
    is_bulk: bool = False,
    rejects: bool = False,
) -> DataFrame:
    """Return the rows of all subscriptions over documents whose columns are known.

    With ``is_counting``, rows of the kind ``COUNT`` among them count the documents: numbers and
    rows then come from the same pass, whatever reads them and however often.
    """
    from pyspark.sql import types as t

    from penstock.spark.schema import schema

    checked = checked_limits(limits)
    own = bulk_schema() if is_bulk else schema()
    _refuse_clashes([field.name for field in inputs.kept], own.names)
    outputs = t.StructType(
        [*own.fields, *(t.StructField(field.name, field.dataType) for field in inputs.kept)]
    )
    prepare(inputs.frame.sparkSession)
    reference = ship(registry, inputs.frame)
    job = Job(
        reference,
        checked,
        inputs.is_text,
        inputs.has_faults,
        is_counting=is_counting,
        is_bulk=is_bulk,
        rejects=rejects,
        constant=inputs.constant,
    )

    # A closure over plain data: what runs in the workers is their own copy of the package.
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return evaluate(job, batches)

    return map_batches(inputs.frame.drop(*inputs.constant), run, outputs)


def results(rows: DataFrame) -> DataFrame:
    """Return the rows of ``match`` that are results."""
    return rows.where("kind <> 'error'")


def quarantine(rows: DataFrame) -> DataFrame:
    """Return the rows that are documents which failed, with reason and bytes.

    An error of one subscription, whose documents were read by all others, is not among them.
    """
    return rows.where("kind = 'error' AND subscription IS NULL")


def _refuse_clashes(kept: list[str], columns: list[str]) -> None:
    # Spark does not tell upper from lower case in names of columns.
    own = {*columns, *INTERNAL}
    clashing = [name for name in kept if name.lower() in own]
    if clashing:
        names = ", ".join(f"`{name}`" for name in clashing)
        raise ValueError(
            f"the rows have columns named {names} of their own; drop or rename those of the "
            f'documents, as in withColumnRenamed("{clashing[0]}", "input_{clashing[0]}")'
        )
