"""The sources of a pipeline's file."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from penstock.definitions.nodes import Fields, Node, query_error
from penstock.errors import QueryError
from penstock.sources.feeds.fetching import require_http
from penstock.sources.paths import RecordPath
from penstock.spark.pipelines import settings
from penstock.spark.pipelines.paths import HAS_SCHEME, disk_reader, path_reader
from penstock.spark.sources.options import (
    FEED_OPTIONS,
    KAFKA_OPTIONS,
    XML_OPTIONS,
    FeedOptions,
    XmlOptions,
    require_known,
)

_FILE_OPTIONS = tuple(name for name in XML_OPTIONS if name != "columns")
"""A pipeline asks for the columns that it needs."""
_NAME = r"(?:[A-Za-z_][A-Za-z0-9_]*|`(?:[^`]|``)+`)"
_TABLE = re.compile(rf"{_NAME}(?:\.{_NAME})*")
SOURCES = ("files", "kafka", "feeds", "table", "spark")


def read_source(node: Node, folder: Path) -> settings.SourceSetting:
    """Return a source; mistakes are reported.

    Raises:
        ConfigurationError: There is no such kind of source.
    """
    match kind_of(node, SOURCES):
        case "files":
            return _files(node, folder)
        case "kafka":
            return _kafka(node)
        case "feeds":
            return _feeds(node, folder)
        case "table":
            return _table(node)
        case _:
            return _spark(node, folder)


def kind_of(node: Node, allowed: tuple[str, ...]) -> str:
    """Return the kind of a source or sink.

    Raises:
        ConfigurationError: It is missing, or none of those.
    """
    entries = node.entries()
    if "kind" not in entries:
        message = "the key `kind` is missing here"
        raise node.error("PC0003", message, f"one of {', '.join(allowed)}")
    return entries["kind"].choice(allowed)


def _stream(fields: Fields) -> str:
    return fields.text("stream", "default")


def _files(node: Node, folder: Path) -> settings.SourceSetting:
    keys = ("kind", "stream", "path", "record", "namespaces", "ancestors", "options")
    fields = node.fields(keys, required=("path",))
    path = fields.read("path", path_reader(folder), "")
    is_plain = not HAS_SCHEME.match(path) and not any(c in path for c in "*?[{")
    if path and is_plain and not Path(path).exists():
        node.report(fields["path"].error("PC0008", f"there is no file or folder {path}"))
    record = fields.optional("record")
    namespaces, ancestors = fields.settings("namespaces"), fields.settings("ancestors")
    for name in ("namespaces", "ancestors"):
        if "record" not in fields and name in fields:
            message = f"`{name}` belongs to records, and no `record` is given"
            node.report(fields[name].error("PC0007", message))
    if record is not None:
        try:
            RecordPath(record, namespaces, ancestors)
        except QueryError as error:
            at_fault = "record" if error.text == record else "ancestors"
            node.report(query_error(fields[at_fault], error))
    known = {"path": "."} if record is None else {"path": ".", "recordPath": "/record"}
    options = _options(fields, _FILE_OPTIONS, lambda given: XmlOptions.of({**known, **given}))
    return settings.FileSource(_stream(fields), path, record, namespaces, ancestors, options)


def _kafka(node: Node) -> settings.SourceSetting:
    keys = ("kind", "stream", "servers", "topics", "options")
    fields = node.fields(keys, required=("servers", "topics"))
    options = _options(fields, KAFKA_OPTIONS)
    servers = ",".join(fields.texts("servers"))
    return settings.KafkaSource(_stream(fields), servers, fields.texts("topics"), options)


def _feeds(node: Node, folder: Path) -> settings.SourceSetting:
    keys = ("kind", "stream", "urls", "state", "options")
    fields = node.fields(keys, required=("urls",))
    urls = fields.texts("urls")
    for url in urls:
        try:
            require_http(url)
        except ValueError as error:
            node.report(fields["urls"].error("PC0005", str(error)))
    state = fields.read("state", disk_reader(folder), "") or None
    options = _options(
        fields, FEED_OPTIONS, lambda given: FeedOptions.of({"path": "http://localhost", **given})
    )
    return settings.FeedSource(_stream(fields), urls, state, options)


def _table(node: Node) -> settings.SourceSetting:
    keys = ("kind", "stream", "table", "options", "document", "id", "time")
    fields = node.fields(keys, required=("table", "document", "id"))
    return settings.TableSource(
        _stream(fields),
        fields.read("table", table_name, ""),
        fields.text("document"),
        fields.text("id"),
        fields.optional("time"),
        fields.settings("options"),
    )


def table_name(node: Node) -> str:
    """Return the name of a table in a catalog, with those of catalog and schema before it.

    Raises:
        ConfigurationError: It is no such name.
    """
    name = node.text()
    if not _TABLE.fullmatch(name):
        message = f"`{name}` is no name of a table"
        raise node.error("PC0005", message, "write it like: catalog.schema.`a name`")
    return name


def _spark(node: Node, folder: Path) -> settings.SourceSetting:
    keys = ("kind", "stream", "format", "path", "options", "schema", "document", "id", "time")
    fields = node.fields(keys, required=("format", "document", "id"))
    return settings.SparkSource(
        _stream(fields),
        fields.text("format"),
        fields.read("path", path_reader(folder), "") or None,
        fields.optional("schema"),
        fields.text("document"),
        fields.text("id"),
        fields.optional("time"),
        fields.settings("options"),
    )


def _options(
    fields: Fields,
    known: tuple[str, ...],
    check: Callable[[dict[str, str]], object] = lambda given: None,
) -> dict[str, str]:
    """Return the options of a source; each that is unknown or wrong is reported at its place."""
    options = fields.settings("options")
    if not options:
        return options
    entries = fields["options"].entries()
    is_sound = True
    for name, value in options.items():
        try:
            require_known([name], known)
            # What belongs to a record path is judged together with it.
            if name.lower() not in ("namespaces", "ancestors"):
                check({name: value})
        except (ValueError, QueryError) as error:
            is_sound = False
            fields.node.report(entries[name].error("PC0005", str(error)))
    if is_sound:
        try:
            check(options)
        except (ValueError, QueryError) as error:
            fields.node.report(fields["options"].error("PC0005", str(error)))
    return options
