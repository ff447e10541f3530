"""The documents of a pipeline as one DataFrame."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from penstock.spark.pipelines.settings import (
    FeedSource,
    FileSource,
    KafkaSource,
    SourceSetting,
    SparkSource,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

COLUMNS = ("xml", "id", "ts", "stream")
"""The columns of every source's documents."""


def documents(
    spark: SparkSession, sources: tuple[SourceSetting, ...], is_streaming: bool
) -> DataFrame:
    """Return the documents of all sources, with their bytes, ids, event times and streams."""
    frames = [_documents(spark, source, is_streaming) for source in sources]
    return reduce(lambda left, right: left.unionByName(right), frames)


def _documents(spark: SparkSession, source: SourceSetting, is_streaming: bool) -> DataFrame:
    reader = spark.readStream if is_streaming else spark.read
    match source:
        case FileSource():
            return _files(reader, source)
        case KafkaSource():
            return _kafka(reader, source)
        case FeedSource():
            return _feeds(reader, source)
        case SparkSource():
            return _any(reader, source)


def _files(reader: Any, source: FileSource) -> DataFrame:
    loaded = (
        reader.format("binaryFile")
        .schema("path string, modificationTime timestamp, length long, content binary")
        .option("recursiveFileLookup", "true")
        .options(**source.options)
        .load(source.path)
    )
    return _selected(loaded, "content", "path", "modificationTime", source.stream)


def _kafka(reader: Any, source: KafkaSource) -> DataFrame:
    from pyspark.sql import functions

    loaded = (
        reader.format("kafka")
        .option("kafka.bootstrap.servers", source.servers)
        .option("subscribe", ",".join(source.topics))
        .options(**source.options)
        .load()
    )
    place = functions.concat_ws("/", "topic", "partition", "offset")
    return _selected(loaded, "value", place, "timestamp", source.stream)


def _feeds(reader: Any, source: FeedSource) -> DataFrame:
    raise NotImplementedError


def _any(reader: Any, source: SparkSource) -> DataFrame:
    made = reader.format(source.format).options(**source.options)
    if source.schema is not None:
        made = made.schema(source.schema)
    loaded = made.load() if source.path is None else made.load(source.path)
    return _selected(loaded, source.document, source.id, source.time, source.stream)


def _selected(
    loaded: DataFrame, xml: str, id_: str | Column, time: str | None, stream: str
) -> DataFrame:
    from pyspark.sql import functions

    moment = functions.lit(None) if time is None else functions.col(time)
    return loaded.select(
        functions.col(xml).cast("binary").alias("xml"),
        (functions.col(id_) if isinstance(id_, str) else id_).cast("string").alias("id"),
        moment.cast("timestamp").alias("ts"),
        functions.lit(stream).alias("stream"),
    )
