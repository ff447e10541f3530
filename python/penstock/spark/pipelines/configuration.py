"""What a pipeline is, and how it is read from YAML. Nothing here starts Spark.

Paths are taken from the folder of the file, unless they are absolute or name a file system
(``s3a://…``).
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, cast

from penstock.errors import PenstockError, QueryError
from penstock.languages.xpath import xpath
from penstock.limits import Limits
from penstock.registry import Registry
from penstock.registry.durable import DATABASE
from penstock.sinks import ConsoleSink, FilesSink, JdbcSink, KafkaSink, Sink, SqliteSink, WriteMode
from penstock.sources.feeds.fetching import require_http
from penstock.sources.paths import RecordPath
from penstock.spark.pipelines.nodes import ConfigurationError, Node, parse
from penstock.spark.pipelines.settings import (
    FeedSource,
    FileSource,
    KafkaSource,
    SourceSetting,
    SparkSource,
)
from penstock.spark.sources.options import XmlOptions

ROWS = ("results", "quarantine", "all")
TRIGGERS = ("batch", "available_now", "once")
SINKS = ("parquet", "json", "sqlite", "jdbc", "kafka", "console")
SOURCES = ("files", "kafka", "feeds", "spark")

_DURATION = re.compile(r"\d+\s*(?:milliseconds?|seconds?|minutes?|hours?)")
_HAS_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")


@dataclass(frozen=True, slots=True)
class Trigger:
    """When rows are computed: one batch, all there is, or again and again."""

    kind: str = "batch"
    interval: str | None = None

    @property
    def is_streaming(self) -> bool:
        """Whether the pipeline goes on where it stopped, by its checkpoint."""
        return self.kind != "batch"


@dataclass(frozen=True, slots=True)
class SinkSetting:
    """A sink, its name, and which rows it gets."""

    name: str
    sink: Sink
    rows: str = "results"


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Everything that ``penstock run`` needs to know."""

    name: str
    sources: tuple[SourceSetting, ...]
    registry: Registry
    sinks: tuple[SinkSetting, ...]
    trigger: Trigger = Trigger()
    checkpoint: str | None = None
    limits: Limits = field(default_factory=Limits)
    master: str = "local[*]"
    settings: Mapping[str, str] = field(default_factory=dict)


def load(path: str | os.PathLike[str]) -> Pipeline:
    """Return the pipeline of a YAML file, checked.

    Raises:
        ConfigurationError: The file is not a pipeline; it says where and why.
        OSError: The file cannot be read.
    """
    file = Path(path)
    text = file.read_text("utf-8-sig")
    return _Reader(file.absolute().parent).pipeline(parse(text, str(path)), file.stem)


class _Reader:
    """Reads the parts of a file that lies in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def pipeline(self, root: Node, stem: str) -> Pipeline:
        keys = ("name", "sources", "registry", "sinks", "checkpoint", "limits", "trigger", "spark")
        found = root.fields(keys, required=("sources", "registry", "sinks"))
        trigger = _trigger(found["trigger"]) if "trigger" in found else Trigger()
        checkpoint = self._path(found["checkpoint"]) if "checkpoint" in found else None
        if trigger.is_streaming and checkpoint is None:
            message = f"the trigger `{trigger.kind}` needs a checkpoint, to go on where it stopped"
            way_out = "add a key: checkpoint: out/checkpoint"
            raise found["trigger"].error("PC0007", message, way_out)
        if checkpoint is not None and not trigger.is_streaming:
            message = "a batch has no checkpoint"
            way_out = "remove it, or add a key: trigger: available_now"
            raise found["checkpoint"].error("PC0007", message, way_out)
        sources = tuple(self._source(one) for one in found["sources"].items())
        if trigger.is_streaming:
            sources = tuple(_with_state(one, checkpoint) for one in sources)
        sinks = self._sinks(found["sinks"])
        registry = self._registry(found["registry"])
        spark = found["spark"].fields(("master", "settings")) if "spark" in found else {}
        return Pipeline(
            found["name"].text() if "name" in found else stem,
            sources,
            registry,
            sinks,
            trigger,
            checkpoint,
            _limits(found["limits"]) if "limits" in found else Limits(),
            spark["master"].text() if "master" in spark else "local[*]",
            spark["settings"].settings() if "settings" in spark else {},
        )

    def _source(self, node: Node) -> SourceSetting:
        readers: dict[str, Callable[[Node], SourceSetting]] = {
            "files": self._files,
            "kafka": _kafka_source,
            "feeds": self._feeds,
            "spark": self._spark_source,
        }
        return readers[_kind(node, SOURCES)](node)

    def _files(self, node: Node) -> SourceSetting:
        keys = ("kind", "stream", "path", "record", "namespaces", "ancestors", "options")
        found = node.fields(keys, required=("path",))
        path = self._path(found["path"])
        is_plain = not _HAS_SCHEME.match(path) and not any(c in path for c in "*?[{")
        if is_plain and not Path(path).exists():
            raise found["path"].error("PC0008", f"there is no file or folder {path}")
        record = found["record"].text() if "record" in found else None
        for name in ("namespaces", "ancestors"):
            if record is None and name in found:
                message = f"`{name}` belongs to records, and no `record` is given"
                raise found[name].error("PC0007", message)
        namespaces = found["namespaces"].settings() if "namespaces" in found else {}
        ancestors = found["ancestors"].settings() if "ancestors" in found else {}
        if record is not None:
            try:
                RecordPath(record, namespaces, ancestors)
            except QueryError as error:
                at_fault = "record" if error.text == record else "ancestors"
                raise _query_error(found[at_fault], error) from None
        options = _options(found)
        try:
            XmlOptions.of({"path": path, **options})
        except ValueError as error:
            raise found["options"].error("PC0005", str(error)) from None
        return FileSource(_stream(found), path, record, namespaces, ancestors, options)

    def _feeds(self, node: Node) -> SourceSetting:
        keys = ("kind", "stream", "urls", "state", "options")
        found = node.fields(keys, required=("urls",))
        urls = found["urls"].texts()
        for url in urls:
            try:
                require_http(url)
            except ValueError as error:
                raise found["urls"].error("PC0005", str(error)) from None
        state = self._path(found["state"]) if "state" in found else None
        return FeedSource(_stream(found), urls, state, _options(found))

    def _spark_source(self, node: Node) -> SourceSetting:
        keys = ("kind", "stream", "format", "path", "options", "schema", "document", "id", "time")
        found = node.fields(keys, required=("format", "document", "id"))
        return SparkSource(
            _stream(found),
            found["format"].text(),
            self._path(found["path"]) if "path" in found else None,
            found["schema"].text() if "schema" in found else None,
            found["document"].text(),
            found["id"].text(),
            found["time"].text() if "time" in found else None,
            _options(found),
        )

    def _sinks(self, node: Node) -> tuple[SinkSetting, ...]:
        made: dict[str, SinkSetting] = {}
        for one in node.items():
            setting = self._sink(one)
            if setting.name in made:
                message = f"two sinks are called `{setting.name}`"
                raise one.error("PC0005", message, "give one of them a `name`")
            made[setting.name] = setting
        return tuple(made.values())

    def _sink(self, node: Node) -> SinkSetting:
        kind = _kind(node, SINKS)
        common = ("kind", "name", "rows", "write")
        match kind:
            case "parquet" | "json":
                found = node.fields((*common, "path"), required=("path",))
                sink: Sink = FilesSink(self._path(found["path"]), kind, _mode(found, FilesSink))
            case "sqlite":
                found = node.fields((*common, "path", "table"), required=("path",))
                path, mode = self._path(found["path"]), _mode(found, SqliteSink)
                sink = _made(found, lambda table: SqliteSink(path, table, mode))
            case "jdbc":
                found = node.fields((*common, "url", "table", "options"), required=("url",))
                url, options, mode = found["url"].text(), _options(found), _mode(found, JdbcSink)
                sink = _made(found, lambda table: JdbcSink(url, table, options, mode))
            case "kafka":
                needed = ("servers", "topic")
                found = node.fields((*common, *needed, "options"), required=needed)
                _mode(found, KafkaSink)
                servers = ",".join(found["servers"].texts())
                sink = KafkaSink(servers, found["topic"].text(), _options(found))
            case _:
                found = node.fields(common)
                _mode(found, ConsoleSink)
                sink = ConsoleSink()
        rows = found["rows"].choice(ROWS) if "rows" in found else "results"
        name = found["name"].text() if "name" in found else f"{kind} {rows}"
        return SinkSetting(name, sink, rows)

    def _registry(self, node: Node) -> Registry:
        if node.kind == "str":
            return self._durable(node)
        found = node.fields(("path", "subscriptions"))
        if len(found) != 1:
            message = "a registry is a `path` or a list of `subscriptions`, one of the two"
            raise node.error("PC0007", message)
        if "path" in found:
            return self._durable(found["path"])
        registry = Registry()
        for one in found["subscriptions"].items():
            _subscribe(registry, one)
        return registry

    def _durable(self, node: Node) -> Registry:
        path = Path(self._path(node))
        if not (path / DATABASE).exists():
            message = f"there is no registry in {path}"
            way_out = "make one in Python: penstock.Registry.open(path).add(name, query)"
            raise node.error("PC0008", message, way_out)
        try:
            return Registry.open(path)
        except PenstockError as error:
            raise node.error("PC0008", str(error)) from None

    def _path(self, node: Node) -> str:
        text = node.text()
        return text if _HAS_SCHEME.match(text) else str(self._folder / text)


def _kind(node: Node, allowed: tuple[str, ...]) -> str:
    entries = node.entries()
    if "kind" not in entries:
        message = "the key `kind` is missing here"
        raise node.error("PC0003", message, f"one of {', '.join(allowed)}")
    return entries["kind"].choice(allowed)


def _stream(found: Mapping[str, Node]) -> str:
    return found["stream"].text() if "stream" in found else "default"


def _with_state(source: SourceSetting, checkpoint: str | None) -> SourceSetting:
    """Return a source that has a place for what it remembers, beside the checkpoint."""
    if not isinstance(source, FeedSource) or source.state is not None:
        return source
    named = hashlib.blake2b("\n".join(source.urls).encode(), digest_size=4).hexdigest()
    return replace(source, state=f"{checkpoint}-feeds-{named}")


def _options(found: Mapping[str, Node]) -> dict[str, str]:
    return found["options"].settings() if "options" in found else {}


def _kafka_source(node: Node) -> SourceSetting:
    keys = ("kind", "stream", "servers", "topics", "options")
    found = node.fields(keys, required=("servers", "topics"))
    servers = ",".join(found["servers"].texts())
    return KafkaSource(_stream(found), servers, found["topics"].texts(), _options(found))


def _mode(found: Mapping[str, Node], sink: type[Sink]) -> WriteMode | None:
    return cast(WriteMode, found["write"].choice(sink.modes)) if "write" in found else None


def _made(found: Mapping[str, Node], make: Callable[[str], Sink]) -> Sink:
    if "table" not in found:
        return make("results")
    try:
        return make(found["table"].text())
    except ValueError as error:
        raise found["table"].error("PC0005", str(error)) from None


def _trigger(node: Node) -> Trigger:
    if node.kind != "map":
        return Trigger(node.choice(TRIGGERS))
    found = node.fields(("processing_time",), required=("processing_time",))
    interval = found["processing_time"].text()
    if not _DURATION.fullmatch(interval):
        message = f"`{interval}` is no duration"
        raise found["processing_time"].error("PC0005", message, "write it like: 10 seconds")
    return Trigger("processing_time", interval)


def _limits(node: Node) -> Limits:
    found = node.fields(one.name for one in fields(Limits))
    return Limits(**{name: value.integer() for name, value in found.items()})


def _subscribe(registry: Registry, node: Node) -> None:
    how = ("namespaces", "dialect", "variables", "select", "context")
    keys = ("name", "query", "mode", "owner", "delivery", *how)
    found = node.fields(keys, required=("name", "query"))
    mode = found["mode"].choice(("query", "filter")) if "mode" in found else "query"
    namespaces = _namespaces(found["namespaces"]) if "namespaces" in found else None
    dialect = found["dialect"].text() if "dialect" in found else "xpath"
    variables: Any = found["variables"].plain() if "variables" in found else None
    try:
        query = xpath(
            found["query"].text(),
            namespaces=namespaces,
            variables=variables,
            select=found["select"].settings() if "select" in found else None,
            dialect=dialect,
            context=found["context"].text() if "context" in found else "/",
        )
        registry.add(
            found["name"].text(),
            query,
            "filter" if mode == "filter" else "query",
            found["owner"].text() if "owner" in found else None,
            found["delivery"].plain() if "delivery" in found else None,
        )
    except QueryError as error:
        raise _query_error(found["query"], error) from None
    except PenstockError as error:
        raise found["name"].error("PC0005", str(error)) from None


def _query_error(node: Node, error: QueryError) -> ConfigurationError:
    return node.error("PC0005", f"{error.code}: {error.message}", error.help)


def _namespaces(node: Node) -> dict[str, tuple[str, ...]]:
    return {prefix: value.texts() for prefix, value in node.entries().items()}
