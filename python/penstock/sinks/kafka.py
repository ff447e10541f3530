"""Rows as Kafka messages: the value is the row in JSON, the key is the result's id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.sinks.base import Sink
from penstock.sinks.console import as_json

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class KafkaSink(Sink):
    """A topic. ``options`` are those of Spark's Kafka connector.

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
            messages(rows)
            .write.format("kafka")
            .option("kafka.bootstrap.servers", self.servers)
            .option("topic", self.topic)
            .options(**self.options)
            .save()
        )


def messages(rows: DataFrame) -> DataFrame:
    """Return rows as Kafka messages, batch or streaming: the columns ``key`` and ``value``."""
    return rows.select(result_id().alias("key"), as_json(rows.columns).alias("value"))


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
