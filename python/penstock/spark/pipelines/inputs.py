"""The documents of a pipeline as DataFrames."""

from __future__ import annotations

import json
from functools import reduce
from typing import TYPE_CHECKING, Any

from penstock.limits import Limits
from penstock.results.columns import Bindings, Fault
from penstock.spark.features import Feature
from penstock.spark.inputs import quoted
from penstock.spark.pipelines import settings
from penstock.spark.schema import schema_of
from penstock.spark.sources import register

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

ANCESTORS = "ancestors"
"""The column of values that records carry from around them; it comes along with their rows."""

TEXT = "text"
"""The column of documents that are text, where those of other sources are bytes."""

_OWN = {ANCESTORS: Bindings, "fault": Fault}


def documents(
    spark: SparkSession,
    sources: tuple[settings.SourceSetting, ...],
    limits: Limits,
    is_streaming: bool,
) -> DataFrame:
    """Return the documents of all sources.

    The columns are ``xml``, ``id``, ``ts``, ``stream`` and, where a source has them, ``ancestors``
    and ``fault``; the last says why a source could not read a document. If some sources have bytes
    and others text, text is in a column of its own: it is decoded already, whatever it declares,
    so it must not become bytes. The order of the sources stays: a checkpoint numbers them.

    Raises:
        DeploymentError: This version of Spark does not read one of the sources.
        ValueError: A column of documents is neither binary nor a string.
    """
    is_own = any(isinstance(one, settings.FileSource | settings.FeedSource) for one in sources)
    if is_own or Feature.PYTHON_SOURCES.is_there:
        register(spark)
    # A reader keeps its schema and options, so each source has one of its own.
    frames = [
        _documents(spark.readStream if is_streaming else spark.read, source, limits)
        for source in sources
    ]
    are_text = [_is_text(frame) for frame in frames]
    if any(are_text) and not all(are_text):
        frames = [
            _beside_bytes(frame) if is_text else frame
            for frame, is_text in zip(frames, are_text, strict=True)
        ]
    return reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), frames)


def _beside_bytes(documents: DataFrame) -> DataFrame:
    from pyspark.sql import functions as f

    named = documents.withColumnRenamed("xml", TEXT)
    return named.withColumn("xml", f.lit(None).cast("binary"))


def with_ancestors(rows: DataFrame) -> DataFrame:
    """Return rows that have the column ``ancestors``, with nulls if no source has it."""
    from pyspark.sql import functions as f

    if ANCESTORS in rows.columns:
        return rows
    (field,) = schema_of({ANCESTORS: Bindings})
    return rows.withColumn(ANCESTORS, f.lit(None).cast(field.dataType))


def _is_text(documents: DataFrame) -> bool:
    from pyspark.sql import types as t

    kind = documents.schema["xml"].dataType
    if not isinstance(kind, t.BinaryType | t.StringType):
        raise ValueError(f"a document is binary or a string, not {kind.simpleString()}")
    return isinstance(kind, t.StringType)


def _documents(reader: Any, source: settings.SourceSetting, limits: Limits) -> DataFrame:
    match source:
        case settings.FileSource():
            return _files(reader, source, limits)
        case settings.KafkaSource():
            return _kafka(reader, source)
        case settings.FeedSource():
            return _feeds(reader, source)
        case settings.TableSource():
            loaded = reader.options(**source.options).table(source.table)
            return _selected(loaded, source.document, source.id, source.time, source.stream)
        case settings.SparkSource():
            return _any(reader, source)


def _files(reader: Any, source: settings.FileSource, limits: Limits) -> DataFrame:
    options = {"limits": json.dumps(limits.as_dict()), **source.options}
    if not Feature.READ_LIMITS.is_there:
        options["oneBatchPerRun"] = "true"  # who runs the pipeline starts the stream again
    if source.record is not None:
        options["recordPath"] = source.record
        options["namespaces"] = json.dumps(dict(source.namespaces))
        options["ancestors"] = json.dumps(dict(source.ancestors))
    has_ancestors = bool(source.ancestors) or ANCESTORS in map(str.lower, source.options)
    # What nobody asks for costs nothing when it is not made.
    columns = ("xml", "id", "ts", "fault", *([ANCESTORS] if has_ancestors else []))
    options["columns"] = ",".join(columns)
    loaded = reader.format("penstock-xml").options(**options).load(source.path)
    return _selected(loaded, "xml", "id", "ts", source.stream)


def _kafka(reader: Any, source: settings.KafkaSource) -> DataFrame:
    from pyspark.sql import functions as f

    loaded = (
        reader.format("kafka")
        .option("kafka.bootstrap.servers", source.servers)
        .option("subscribe", ",".join(source.topics))
        .options(**source.options)
        .load()
    )
    place = f.concat_ws("/", "topic", "partition", "offset")
    return _selected(loaded, "value", place, "timestamp", source.stream)


def _feeds(reader: Any, source: settings.FeedSource) -> DataFrame:
    options = {"urls": json.dumps(source.urls), **source.options}
    if source.state is not None:
        options["stateLocation"] = source.state
    loaded = reader.format("penstock-feeds").options(**options).load()
    return _selected(loaded, "xml", "id", "ts", source.stream)


def _any(reader: Any, source: settings.SparkSource) -> DataFrame:
    made = reader.format(source.format).options(**source.options)
    if source.schema is not None:
        made = made.schema(source.schema)
    loaded = made.load() if source.path is None else made.load(source.path)
    return _selected(loaded, source.document, source.id, source.time, source.stream)


def _selected(
    loaded: DataFrame, xml: str, id_: str | Column, time: str | None, stream: str
) -> DataFrame:
    from pyspark.sql import functions as f

    def column(name: str) -> Column:
        # A name with a dot in it is that of a column, if there is one, and else leads into one.
        return f.col(quoted(name) if name in loaded.columns else name)

    moment = f.lit(None) if time is None else column(time)
    # A map or a struct of nulls beside every document would cost as much as matching it.
    own = [
        f.col(field.name).cast(field.dataType).alias(field.name)
        for field in schema_of(_OWN)
        if field.name in loaded.columns
    ]
    return loaded.select(
        column(xml).alias("xml"),
        (column(id_) if isinstance(id_, str) else id_).cast("string").alias("id"),
        moment.cast("timestamp").alias("ts"),
        f.lit(stream).alias("stream"),
        *own,
    )
