"""Rows as Kafka messages: the value is the row in JSON, the key is the result's id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.sinks.base import Sink
from penstock.sinks.console import as_json

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


SUBSCRIPTION = "{subscription}"
"""Where this stands in the name of a topic, the name of the subscription is put."""


class KafkaSink(Sink):
    """A topic. ``options`` are those of Spark's Kafka connector.

    ``{subscription}`` in the name of the topic gives each subscription a topic of its own.
    Characters that a topic cannot have become ``_``.

    A batch that is written again may send rows again; they have the same key, by which a
    consumer knows them.
    """

    def __init__(self, servers: str, topic: str, options: Mapping[str, str] | None = None) -> None:
        self.servers = servers
        self.topic = topic
        self.options = dict(options or {})

    def write_batch(self, rows: DataFrame, batch: int, run: str = "default") -> None:
        """Send a batch."""
        (
            messages(rows, self.topic)
            .write.format("kafka")
            .option("kafka.bootstrap.servers", self.servers)
            .options(**self.options)
            .save()
        )


def messages(rows: DataFrame, topic: str) -> DataFrame:
    """Return rows as Kafka messages, batch or streaming: topic, key and value."""
    columns = (
        _topic_of(topic).alias("topic"),
        result_id().alias("key"),
        as_json(rows.columns).alias("value"),
    )
    return rows.select(*columns)


def _topic_of(topic: str) -> Column:
    """Return the column with a row's topic; rows of no subscription have an empty name there."""
    from pyspark.sql import functions

    name = functions.coalesce(functions.col("subscription"), functions.lit(""))
    legal = functions.regexp_replace(name, "[^a-zA-Z0-9._-]", "_")
    first, *rest = [functions.lit(part) for part in topic.split(SUBSCRIPTION)]
    pieces = [first]
    for part in rest:
        pieces += [legal, part]
    return functions.concat(*pieces)


def result_id() -> Column:
    """Return the column with a result's id: a JSON array of subscription, document, ordinal.

    It is null where the document has no id: equal keys would make different rows one.
    """
    from pyspark.sql import functions

    def text(name: str) -> Column:
        return functions.to_json(functions.array(functions.col(name)))

    # The elements of an array have one type, so the three are put together by hand.
    parts = [text("subscription"), text("document")]
    trimmed = [functions.regexp_replace(part, r"^\[|\]$", "") for part in parts]
    whole = functions.format_string("[%s,%s,%d]", *trimmed, functions.col("ordinal"))
    return functions.when(functions.col("document").isNotNull(), whole)
