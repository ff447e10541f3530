"""The sinks of a pipeline's file."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import cast

from penstock.definitions.nodes import Fields, Node, choice_hint
from penstock.registry import AnyRegistry, MemoryRegistry
from penstock.registry.durable import DurableRegistry
from penstock.results.columns import COLUMNS
from penstock.sinks import (
    ConsoleSink,
    DeltaSink,
    FilesSink,
    IcebergSink,
    JdbcSink,
    KafkaSink,
    Sink,
    SqliteSink,
    TableSink,
    WriteMode,
)
from penstock.sinks.catalog import FORMATS
from penstock.sinks.merging import OWN, MergingSink
from penstock.spark.pipelines.choices import Choice, names_like
from penstock.spark.pipelines.configured_sources import kind_of, table_name
from penstock.spark.pipelines.paths import disk_reader, is_within, path_reader
from penstock.spark.pipelines.settings import SinkSetting
from penstock.twigs.tables import Table

_FOLDERS = ("batch", "subscription")
SINKS = (
    *("parquet", "json", "sqlite", "jdbc"),
    *("delta", "iceberg", "table", "kafka", "console"),
)
ROWS = ("results", "quarantine", "errors", "all")
"""Quarantine are documents that failed; errors are those, and what subscriptions failed at."""

PARTITIONS = (
    *(name for name, type_ in COLUMNS.items() if type_ in (str, int, datetime)),
    *("run", "batch"),
)
"""Columns that may divide a table: those that hold one value."""

_CHOICE = ("subscriptions", "owner")
_COMMON = ("kind", "name", "rows", "write", *_CHOICE)
_JDBC = re.compile(r"jdbc:([A-Za-z][A-Za-z0-9+.-]*):.+")
_DATABASES = ("postgresql", "mysql", "mariadb", "sqlserver", "oracle", "db2", "derby", "h2")
"""Databases whose names in a URL people misspell; there are others."""


PlacedSinks = list[tuple[Node, SinkSetting]]
"""Sinks with their places in the files."""


def read_sinks(parts: Sequence[tuple[Node, Path]]) -> PlacedSinks:
    """Return the sinks of all files, each with its folder; mistakes are reported."""
    placed: PlacedSinks = []
    for node, folder in parts:
        _read_list(node, folder, placed)
    return placed


def check_subscriptions(placed: PlacedSinks, registry: AnyRegistry) -> None:
    """Report sinks that write what is not in the registry."""
    for item, setting in placed:
        if setting.table is not None:
            _check_table(item, setting, setting.table, registry)
        # Into a folder of subscriptions they may come later.
        is_complete = isinstance(registry, MemoryRegistry)
        is_complete = is_complete and not isinstance(registry, DurableRegistry)
        if setting.choice and is_complete:
            _check_choice(item, setting.choice, registry)


def _check_table(item: Node, setting: SinkSetting, table: str, registry: AnyRegistry) -> None:
    subscription = registry.get(table)
    if subscription is None or not isinstance(subscription.query.output, Table):
        message = f"the sink `{setting.name}` writes `{table}`, which is no table here"
        way_out = "subscribe it: registry: {subscriptions: [{name: entries, table: entries.yaml}]}"
        item.report(item.error("PC0007", message, way_out))


def _check_choice(item: Node, choice: Choice, registry: AnyRegistry) -> None:
    names = [one.name for one in registry]
    owners = sorted({one.owner for one in registry if one.owner is not None})
    for glob in choice.subscriptions:
        if not names_like(glob, names):
            error = item.entries()["subscriptions"].error
            message = f"no subscription has the name `{glob}`"
            item.report(error("PC0007", message, choice_hint(glob, names)))
    for owner in choice.owners:
        if owner not in owners:
            error = item.entries()["owner"].error
            message = f"no subscription has the owner `{owner}`"
            item.report(error("PC0007", message, choice_hint(owner, owners)))


def _read_list(node: Node, folder: Path, placed: PlacedSinks) -> None:
    no_items: list[tuple[Node, SinkSetting | None]] = []
    items = node.attempt(lambda: node.read_items(lambda item: _sink(item, folder)), no_items)
    for item, setting in items:
        if setting is None:
            continue
        settings = [other for _, other in placed]
        if any(other.name == setting.name for other in settings):
            message = f"two sinks are called `{setting.name}`"
            item.report(item.error("PC0005", message, "give one of them a `name`"))
        for other in settings:
            shared = _shared_place(setting.sink, other.sink)
            if shared is not None:
                message = f"the sinks `{other.name}` and `{setting.name}` both write to {shared}"
                way_out = "give each a place of its own, or one sink `rows: all`"
                item.report(item.error("PC0007", message, way_out))
        placed.append((item, setting))


def holds(sink: Sink, path: str) -> bool:
    """Return whether a path lies in the folder of a sink, or the other way round."""
    folder = sink.path if isinstance(sink, FilesSink | MergingSink) else None
    return folder is not None and _shared_folder(path, folder) is not None


def _sink(node: Node, folder: Path) -> SinkSetting | None:
    """Return a sink, or None if it is not known where it writes."""
    kind, place, typed = kind_of(node, SINKS), "known", None
    match kind:
        case "parquet" | "json":
            fields = node.fields((*_COMMON, "path", "folders", "table"), required=("path",))
            typed = fields.optional("table")
            besides = [key for key in ("rows", "folders", *_CHOICE) if key in fields]
            if typed is not None and besides:
                message = "a sink of a table has the rows and the columns of that table"
                raise fields["table"].error("PC0007", message, f"leave `{besides[0]}` away")
            place = fields.read("path", path_reader(folder), "")
            is_apart = fields.choice("folders", _FOLDERS, "batch") == "subscription"
            sink: Sink = FilesSink(place, kind, _mode(fields, FilesSink), is_apart)
        case "sqlite":
            fields = node.fields((*_COMMON, "path", "table"), required=("path",))
            place, mode = fields.read("path", disk_reader(folder), ""), _mode(fields, SqliteSink)
            sink = _table_sink(fields, lambda table: SqliteSink(place, table, mode))
        case "jdbc":
            fields = node.fields((*_COMMON, "url", "table", "options"), required=("url",))
            place, mode = fields.read("url", _jdbc_url, ""), _mode(fields, JdbcSink)
            options = fields.settings("options")
            sink = _table_sink(fields, lambda table: JdbcSink(place, table, options, mode))
        case "delta" | "iceberg":
            fields = node.fields((*_COMMON, "path", "table", "partition_by"))
            path, table = _lake_place(fields, folder)
            place, lake = path or table, DeltaSink if kind == "delta" else IcebergSink
            mode, parts = _mode(fields, lake), _partitions(fields, PARTITIONS)
            sink = lake(path or None, None if path else table, mode, parts)
        case "table":
            keys = (*_COMMON, "table", "format", "partition_by")
            fields = node.fields(keys, required=("table",))
            place = fields.read("table", table_name, "")
            form = fields.choice("format", FORMATS, FORMATS[0])
            # These two are partitions of every table of files.
            known = [name for name in PARTITIONS if name not in OWN]
            parts = _partitions(fields, known)
            sink = TableSink(place, form, _mode(fields, TableSink), parts)
        case "kafka":
            needed = ("servers", "topic")
            fields = node.fields((*_COMMON, *needed, "options"), required=needed)
            _mode(fields, KafkaSink)
            servers = ",".join(fields.texts("servers"))
            sink = KafkaSink(servers, fields.text("topic"), fields.settings("options"))
        case _:
            fields = node.fields(_COMMON)
            _mode(fields, ConsoleSink)
            sink = ConsoleSink()
    rows = fields.choice("rows", ROWS, "results")
    choice = Choice(fields.texts("subscriptions"), fields.texts("owner"))
    if choice and rows == "quarantine":
        message = "documents that failed belong to no subscription"
        raise fields["rows"].error("PC0007", message, "leave `subscriptions` and `owner` away")
    name = fields.text("name", f"{kind} {rows if typed is None else typed}")
    return SinkSetting(name, sink, rows, typed, choice) if place else None


def _lake_place(fields: Fields, folder: Path) -> tuple[str, str]:
    """Return path and name of a table, of which it has one; the other is empty."""
    if ("path" in fields) == ("table" in fields):
        message = "a table has a `path`, or a name in a catalog as `table`"
        raise fields.node.error("PC0007", message, "give one of the two")
    table = fields.read("table", table_name, "")
    return fields.read("path", path_reader(folder), ""), table


def _partitions(fields: Fields, known: Sequence[str]) -> tuple[str, ...]:
    names = fields.texts("partition_by")
    for name in names:
        if name not in known:
            message = f"`{name}` is no column by which a table is divided"
            error = fields["partition_by"].error("PC0005", message, choice_hint(name, known))
            fields.node.report(error)
    return names


def _mode(fields: Fields, sink: type[Sink]) -> WriteMode:
    return cast(WriteMode, fields.choice("write", sink.modes, sink.modes[0]))


def _table_sink(fields: Fields, make: Callable[[str], Sink]) -> Sink:
    try:
        return make(fields.text("table", "results"))
    except ValueError as error:
        raise fields["table"].error("PC0005", str(error)) from None


def _jdbc_url(node: Node) -> str:
    url = node.text()
    parts = _JDBC.fullmatch(url)
    if parts is None:
        message = "this is no address of a database"
        raise node.error("PC0005", message, "write it like: jdbc:postgresql://host/database")
    database = parts[1].lower()
    close = get_close_matches(database, _DATABASES, 1, 0.75)
    if close and database not in _DATABASES:
        raise node.error(
            "PC0005", f"there is no database `{database}`", f"did you mean `{close[0]}`?"
        )
    return url


def _shared_place(sink: Sink, other: Sink) -> str | None:
    """Return what two sinks both write to, or None."""
    match sink, other:
        case FilesSink(), FilesSink():
            return sink.path if holds(sink, other.path) else None
        case (FilesSink() as files, SqliteSink() as table) | (
            SqliteSink() as table,
            FilesSink() as files,
        ):
            return files.path if is_within(str(table.path), files.path) else None
        case SqliteSink(), SqliteSink():
            is_same = is_within(str(sink.path), str(other.path)) and _is_same_table(sink, other)
            return f"the table `{sink.table}` of {sink.path}" if is_same else None
        case ((MergingSink() | TableSink()), (MergingSink() | TableSink())):
            is_same = sink.place.lower() == other.place.lower()
            return sink.place if is_same else None
        case (FilesSink() as files, MergingSink() as lake) | (
            MergingSink() as lake,
            FilesSink() as files,
        ):
            return None if lake.path is None else _shared_folder(files.path, lake.path)
        case JdbcSink(), JdbcSink():
            is_same = sink.url == other.url and _is_same_table(sink, other)
            return f"the table `{sink.table}` at {sink.place}" if is_same else None
        case _:
            return None


def _shared_folder(one: str, other: str) -> str | None:
    return one if is_within(one, other) or is_within(other, one) else None


def _is_same_table(sink: SqliteSink | JdbcSink, other: SqliteSink | JdbcSink) -> bool:
    return sink.table.lower() == other.table.lower()
