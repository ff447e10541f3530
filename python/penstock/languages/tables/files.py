"""Tables in files: YAML or JSON with a record, columns, and how to read them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, get_args

from penstock.definitions.nodes import Node, parse, query_error, read_text
from penstock.errors import QueryError
from penstock.languages.tables.frontend import table
from penstock.twigs import Query
from penstock.twigs.tables import OnError

_REQUIRED = ("record", "columns")
_FIELDS = (*_REQUIRED, "namespaces", "variables", "on_error")
_How = dict[str, Any] | None
"""Namespaces and variables; None if they are not known."""
_FORMS = "write a path, [path, type], keys with values, [path, {…}] or [path, [{…}]]"


def read_definition(name: str) -> Query:
    """Return the table of a file.

    Raises:
        ConfigurationError: The file is no YAML or no table; all mistakes are named with their
            places.
        OSError: The file cannot be read.
    """
    text = _as_yaml(read_text(Path(name).read_bytes(), name))
    contents = "a table has a record and columns"
    node, holder = parse(text, name, contents=contents, is_filled=False)
    fields = node.fields(_FIELDS, _REQUIRED)
    around = {
        "namespaces": fields.read("namespaces", _namespaces, None),
        "variables": fields.read("variables", _variables, None),
    }
    on_error: Any = fields.read("on_error", _on_error, "null")
    # Where one of them is wrong, a path that uses it would be wrong for that reason alone.
    is_known = all(value is not None for name, value in around.items() if name in fields)
    how = around if is_known else None
    record = fields.text("record")
    if record:
        _check(fields["record"], record, {"checked": "."}, how)
    columns = fields.read("columns", lambda one: _columns(one, how), dict[str, Any]())
    holder.require_no_mistakes()
    try:
        return table(record, columns, **around, on_error=on_error)
    except QueryError as error:
        # What is left is about all columns together.
        holder.report(query_error(fields["columns"], error))
        holder.require_no_mistakes()
        raise


def _as_yaml(text: str) -> str:
    """Return a text as YAML that means the same; JSON has tabs and escapes that YAML has not."""
    try:
        written = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if "\\" in text:
        return json.dumps(written, ensure_ascii=False, indent=1)
    return text.replace("\t", " ")


def _namespaces(node: Node) -> dict[str, tuple[str, ...]]:
    return {prefix: value.attempt(value.texts, ()) for prefix, value in node.entries().items()}


def _variables(node: Node) -> dict[str, Any]:
    return {name: value.attempt(value.plain, None) for name, value in node.entries().items()}


def _on_error(node: Node) -> str:
    # The word `null` is YAML's nothing.
    return "null" if node.kind == "null" else node.choice(get_args(OnError))


def _columns(node: Node, how: _How) -> dict[str, Any]:
    """Return the columns of a mapping; those that are wrong are reported and left out."""
    entries = node.entries()
    if not entries:
        node.report(node.error("PC0005", "there is no column here", "write a name and a path"))
    read = {name: one.attempt(partial(_column, one, how), None) for name, one in entries.items()}
    return {name: column for name, column in read.items() if column is not None}


def _column(node: Node, how: _How) -> Any:
    """Return a column as ``table`` takes it.

    Raises:
        ConfigurationError: It is none.
    """
    if node.kind == "map":
        return _columns(node, how)
    if node.kind != "seq":
        path = node.text()
        _check(node, "/*", {"checked": path}, how)
        return path
    parts = node.items()
    if len(parts) != 2:
        message = f"a column has a path and a type here, not {len(parts)} items"
        raise node.error("PC0004", message, _FORMS)
    path = parts[0].text()
    inner = parts[1]
    if inner.kind == "map":
        _check(parts[0], "/*", {"checked": (path, {"inner": "."})}, how)
        return path, _columns(inner, how)
    if inner.kind == "seq":
        listed = inner.items()
        if len(listed) != 1 or listed[0].kind != "map":
            raise inner.error("PC0004", "keys with values are needed in these brackets", _FORMS)
        _check(parts[0], "/*", {"checked": (path, {"inner": "."})}, how)
        return path, [_columns(listed[0], how)]
    written = inner.text()
    _check(inner, "/*", {"checked": (".", written)}, how)
    _check(parts[0], "/*", {"checked": path}, how)
    return path, written


def _check(node: Node, record: str, columns: Mapping[str, Any], how: _How) -> None:
    """Report a mistake of a part of a table, which is the only one in these columns."""
    if how is None:
        return
    try:
        table(record, columns, **how)
    except QueryError as error:
        node.report(query_error(node, error))
