"""Where rows go: files, a SQL table, a table of a lake, Kafka, the console.

A sink takes rows of the in-process engine with ``write``, or a batch of rows as a DataFrame with
``write_batch``, which is what ``foreachBatch`` calls. A batch that is written again, after a
crash, leaves what it left the first time; ``write`` modes say what becomes of earlier runs.
"""

from penstock.sinks.base import Sink, WriteMode
from penstock.sinks.catalog import TableSink
from penstock.sinks.console import ConsoleSink
from penstock.sinks.delta import DeltaSink
from penstock.sinks.files import FilesSink
from penstock.sinks.iceberg import IcebergSink
from penstock.sinks.jdbc import JdbcSink
from penstock.sinks.kafka import KafkaSink
from penstock.sinks.sqlite import SqliteSink

__all__ = [
    "ConsoleSink",
    "DeltaSink",
    "FilesSink",
    "IcebergSink",
    "JdbcSink",
    "KafkaSink",
    "Sink",
    "SqliteSink",
    "TableSink",
    "WriteMode",
]
