"""What a pipeline reads and writes, and when, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.sinks import Sink
from penstock.spark.pipelines.choices import Choice


@dataclass(frozen=True, slots=True)
class FileSource:
    """Files and folders: a document each, or the records of a path in them."""

    stream: str
    path: str
    record: str | None = None
    namespaces: Mapping[str, str] = field(default_factory=dict)
    ancestors: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class KafkaSource:
    """Topics whose messages are documents."""

    stream: str
    servers: str
    topics: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class FeedSource:
    """RSS and Atom feeds whose items are documents; ``state`` is a folder for a stream."""

    stream: str
    urls: tuple[str, ...] = field(repr=False)
    state: str | None = None
    options: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class SparkSource:
    """Anything that Spark reads and that has a column of documents."""

    stream: str
    format: str
    path: str | None
    schema: str | None
    document: str
    id: str
    time: str | None = None
    options: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class TableSource:
    """A table of Spark's catalog that has a column of documents."""

    stream: str
    table: str
    document: str
    id: str
    time: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)


SourceSetting = FileSource | KafkaSource | FeedSource | SparkSource | TableSource


@dataclass(frozen=True, slots=True)
class SinkSetting:
    """A sink, its name, and which rows it gets."""

    name: str
    sink: Sink
    rows: str = "results"
    table: str | None = None
    """The table whose rows it gets, with their own columns."""
    choice: Choice = field(default_factory=Choice)
    """The subscriptions whose rows it gets."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """When rows are computed: one batch, all there is, or again and again."""

    kind: str = "batch"
    interval: str | None = None

    @property
    def is_streaming(self) -> bool:
        """Whether the pipeline goes on where it stopped, by its checkpoint."""
        return self.kind != "batch"
