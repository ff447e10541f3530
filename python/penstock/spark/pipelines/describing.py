"""A pipeline in words, for somebody who wants to know before it runs."""

from __future__ import annotations

import os

from penstock.sinks import (
    ConsoleSink,
    FilesSink,
    JdbcSink,
    KafkaSink,
    Sink,
    SqliteSink,
    TableSink,
)
from penstock.sinks.merging import MergingSink
from penstock.spark.pipelines import settings
from penstock.spark.pipelines.configuration import Pipeline
from penstock.spark.pipelines.configured_registry import holds_joins


def describe(pipeline: Pipeline) -> list[str]:
    """Return what a pipeline reads, asks and writes, one line each."""
    registry = pipeline.registry
    trigger = pipeline.trigger
    when = trigger.kind if trigger.interval is None else f"every {trigger.interval}"
    lines = [f"pipeline {pipeline.name} on {pipeline.master}, {when}"]
    lines += [f"  reads {_source(one)} as stream {one.stream}" for one in pipeline.sources]
    count = len(registry)
    words = "1 subscription" if count == 1 else f"{count:,} subscriptions"
    lines.append(f"  asks {words}, version {registry.version}")
    lines += [f"  writes {_rows(one)} to {_sink(one.sink)}" for one in pipeline.sinks]
    if pipeline.checkpoint is not None:
        lines.append(f"  goes on from {_short(pipeline.checkpoint)}")
        lines += _joins(pipeline)
    return [pipeline.secrets.redacted(line) for line in lines]


def _joins(pipeline: Pipeline) -> list[str]:
    """Return how a stream joins, if it does."""
    if not (holds_joins(pipeline.registry) or pipeline.lateness is not None):
        return []
    late = "without a bound on lateness"
    if pipeline.lateness is not None:
        late = f"with a lateness of {pipeline.lateness:g} seconds"
    state = pipeline.state or f"{pipeline.checkpoint}-joins"
    return [f"  joins {late}, its state in {_short(state)}"]


def warnings_of(pipeline: Pipeline) -> list[str]:
    """Return what is probably not meant: sinks for rows that no subscription gives now."""
    registry = pipeline.registry
    choosing = [setting for setting in pipeline.sinks if setting.choice]
    owners = {one.name: one.owner for one in registry} if choosing else {}
    return [
        pipeline.secrets.redacted(
            f"the sink `{setting.name}` gets nothing now: no subscription is of {setting.choice}"
        )
        for setting in choosing
        if not any(setting.choice.has(name, owner) for name, owner in owners.items())
    ]


def _short(path: str) -> str:
    """Return a path as somebody in this folder would write it."""
    here = os.getcwd()
    return os.path.relpath(path, here) if path.startswith(here + os.sep) else path


def _source(source: settings.SourceSetting) -> str:
    match source:
        case settings.FileSource(path=path, record=None):
            return _short(path)
        case settings.FileSource(path=path, record=record):
            return f"{record} of {_short(path)}"
        case settings.KafkaSource(servers=servers, topics=topics):
            return f"Kafka {', '.join(topics)} at {servers}"
        case settings.TableSource(table=table):
            return f"the table {table} of the catalog"
        case settings.FeedSource(urls=urls):
            return "1 feed" if len(urls) == 1 else f"{len(urls):,} feeds"
        case other:
            return f"{other.format} {other.path or ''}".strip()


def _rows(setting: settings.SinkSetting) -> str:
    rows = setting.table or setting.rows
    return f"{rows} of {setting.choice}" if setting.choice else rows


def _sink(sink: Sink) -> str:
    match sink:
        case FilesSink():
            return f"{sink.format} files in {_short(sink.path)}"
        case SqliteSink():
            return f"the table {sink.table} of {_short(str(sink.path))}"
        case JdbcSink():
            return f"the table {sink.table} at {sink.place}"
        case MergingSink():
            where = sink.table if sink.path is None else f"in {_short(sink.path)}"
            return f"the {sink.format.capitalize()} table {where}"
        case TableSink():
            return f"the table {sink.table} of the catalog"
        case KafkaSink():
            return f"Kafka {sink.topic} at {sink.servers}"
        case ConsoleSink():
            return "the console"
        case other:
            return type(other).__name__
