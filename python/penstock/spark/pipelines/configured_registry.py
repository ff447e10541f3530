"""The registry of a pipeline's file: a folder, or subscriptions that stand in the file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from penstock.definitions.mistakes import ConfigurationError
from penstock.definitions.nodes import Fields, Node, query_error
from penstock.errors import PenstockError, QueryError
from penstock.languages.tables.files import read_definition
from penstock.languages.xpath import xpath
from penstock.languages.xscl import xscl
from penstock.planning.program import Request, request_of
from penstock.planning.streams import named_streams
from penstock.registry import AnyRegistry, MemoryRegistry
from penstock.registry.circles import publishers_of
from penstock.registry.durable import DurableRegistry
from penstock.registry.storage.folder import DATABASE, folder_of
from penstock.spark.pipelines.paths import path_reader
from penstock.twigs import Query

EXAMPLE = "registry: {subscriptions: [{name: a, query: //a}]}"
HINTS = {"subscriptions": f"subscriptions stand below `registry`, as in {EXAMPLE}"}
"""Ways out for who looks for subscriptions in another place."""

_OPTIONS = {
    "xpath": ("dialect", "select", "context"),
    "xquery": ("untyped", "empty", "within"),
    "xscl": (),
}
"""Languages, and the options that a query has in one of them alone."""
_OWN = sorted({option for options in _OPTIONS.values() for option in options})


def read_registry(parts: Sequence[tuple[Node, Path]]) -> AnyRegistry:
    """Return the registry of all files, each with its folder; mistakes are reported.

    It is one folder, or has the subscriptions of all files.
    """
    registry = MemoryRegistry()
    durable: DurableRegistry | None = None
    for node, folder in parts:
        read = partial(_read, registry, node, folder)
        made = node.attempt(read, None)
        if made is not None and len(parts) > 1:
            message = "a folder of subscriptions is a pipeline's whole registry, and others follow"
            way_out = "add the subscriptions of the other files to that folder"
            node.report(node.error("PC0007", message, way_out))
        durable = made if durable is None else durable
    # An empty registry is false.
    return registry if durable is None else durable


def _read(registry: MemoryRegistry, node: Node, folder: Path) -> DurableRegistry | None:
    """Add the subscriptions of a file, or return the folder that it names."""
    if node.kind == "str":
        return _durable(node, folder)
    if node.kind == "seq":
        message = "a registry is a path, or a list below the key `subscriptions`"
        raise node.error("PC0004", message, HINTS["subscriptions"])
    fields = node.fields(("path", "subscriptions"))
    given = [name for name in ("path", "subscriptions") if name in fields]
    if len(given) != 1:
        message = "a registry is a `path` or a list of `subscriptions`, one of the two"
        raise node.error("PC0007", message, f"as in {EXAMPLE}")
    if given == ["path"]:
        return _durable(fields["path"], folder)
    fields["subscriptions"].read_items(lambda item: _subscribe(registry, item, folder))
    return None


def _durable(node: Node, folder: Path) -> DurableRegistry:
    try:
        path = folder_of(path_reader(folder)(node))
    except PenstockError as error:
        raise node.error("PC0005", str(error)) from None
    if not (path / DATABASE).exists():
        message = f"there is no registry in {path}"
        way_out = "make one in Python: penstock.Registry.open(path).add(name, query)"
        raise node.error("PC0008", message, way_out)
    try:
        registry = DurableRegistry(path)
    except PenstockError as error:
        raise node.error("PC0008", str(error)) from None
    return registry


def refuse_published(parts: Sequence[tuple[Node, Path]], registry: AnyRegistry) -> None:
    """Report subscriptions that would wait in vain for published events: joins alone read them."""
    streams = {one.publish: name for name, one in publishers_of(registry.snapshot()).items()}
    if not streams:
        return
    for one in registry:
        # XPath reads the documents of all streams, so it misses nothing that it names.
        if request_of(one.program) is not Request.MESSAGES:
            continue
        for stream in streams.keys() & set(named_streams(one.query)):
            message = (
                f"`{one.name}` reads the stream `{stream}`, which `{streams[stream]}` publishes; "
                "in a pipeline joins alone read published events"
            )
            way_out = (
                f"write it in XSCL, or let another pipeline read the rows of `{streams[stream]}`"
            )
            parts[0][0].report(parts[0][0].error("PC0007", message, way_out))


def holds_joins(registry: AnyRegistry) -> bool:
    """Return whether any subscription of a registry joins documents."""
    plan = registry.snapshot().plan
    return any(plan.request_count(one.value) for one in (Request.RECORDS, Request.BINDINGS))


def _subscribe_table(registry: MemoryRegistry, fields: Fields, name: str, folder: Path) -> None:
    node = fields["table"]
    if any(key not in ("name", "table", "owner") for key, _ in fields.items()):
        message = "a table has its query in its file"
        raise node.error("PC0007", message, "leave all but name and owner away")
    try:
        query = read_definition(path_reader(folder)(node))
        registry.add(name, query, owner=fields.optional("owner"))
    except OSError as error:
        raise node.error("PC0008", f"the table cannot be read: {error.strerror}") from None
    except ConfigurationError as error:
        for mistake in (error.with_others(()), *error.others):
            node.report(mistake)
    except PenstockError as error:
        raise node.error("PC0005", str(error)) from None


def _subscribe(registry: MemoryRegistry, node: Node, folder: Path) -> None:
    keys = ("name", "query", "table", "language", "mode", "owner", "delivery")
    how = ("namespaces", "variables", *_OWN)
    fields = node.fields((*keys, *how), required=("name",))
    name = fields.text("name")
    if "table" in fields:
        _subscribe_table(registry, fields, name, folder)
        return
    if not fields.is_given("query"):
        node.report(node.missing("query"))
    _subscribe_text(registry, fields, name)


def _subscribe_text(registry: MemoryRegistry, fields: Fields, name: str) -> None:
    language = fields.choice("language", tuple(_OPTIONS), "xpath")
    for option in _OWN:
        if option in fields and option not in _OPTIONS[language]:
            message = f"a query in {language} has no `{option}`"
            raise fields[option].error("PC0007", message, "leave it out")
    text = fields.text("query")
    mode = fields.choice("mode", ("query", "filter"), "query")
    if not name or not text:
        return  # the mistake is reported
    try:
        registry.add(
            name,
            _query(text, fields, language),
            "filter" if mode == "filter" else "query",
            fields.optional("owner"),
            fields.read("delivery", Node.plain, None),
        )
    except QueryError as error:
        raise query_error(fields["query"], error) from None
    except PenstockError as error:
        raise fields["name"].error("PC0005", str(error)) from None


def _query(text: str, fields: Fields, language: str) -> Query:
    options: dict[str, Any] = {
        "namespaces": fields.read("namespaces", _namespaces, None),
        "variables": fields.read("variables", Node.plain, None),
    }
    if language == "xscl":
        return xscl(text, **options)
    if language == "xquery":
        # Few pipelines construct messages, and the front end is large.
        from penstock.languages.xquery import xquery

        untyped = fields.choice("untyped", ("error", "false"), "error")
        empty = fields.choice("empty", ("drop", "send"), "drop")
        within = fields.optional("within")
        return xquery(text, **options, untyped=untyped, empty=empty, within=within)
    return xpath(
        text,
        **options,
        select=fields.settings("select") or None,
        dialect=fields.text("dialect", "xpath"),
        context=fields.text("context", "/"),
    )


def _namespaces(node: Node) -> dict[str, tuple[str, ...]] | None:
    return {prefix: value.attempt(value.texts, ()) for prefix, value in node.entries().items()}
