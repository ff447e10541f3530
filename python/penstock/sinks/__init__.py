"""Where rows go: files, a SQL table, Kafka, the console.

A sink takes rows of the in-process engine with ``write``, or a batch of rows as a DataFrame with
``write_batch``, which is what ``foreachBatch`` calls. A batch that is written again, after a
crash, leaves what it left the first time.
"""

from penstock.sinks.base import Sink
from penstock.sinks.console import ConsoleSink
from penstock.sinks.files import FilesSink
from penstock.sinks.kafka import KafkaSink
from penstock.sinks.sql import JdbcSink, SqliteSink

__all__ = ["ConsoleSink", "FilesSink", "JdbcSink", "KafkaSink", "Sink", "SqliteSink"]
