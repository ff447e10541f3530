"""The entry points: a record and columns to a query, and the text of one to the same query."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, get_args

from penstock.errors import QueryError
from penstock.languages.tables.columns import ColumnReader, as_json
from penstock.languages.xpath.frontend import options_of, xpath
from penstock.languages.xpath.namespaces import NamespaceMap, Namespaces
from penstock.twigs import Query
from penstock.twigs.slots import SlotTable
from penstock.twigs.tables import OnError, Table

_FIELDS = {"record", "columns", "on_error"}


def table(
    record: str,
    columns: Mapping[str, Any],
    *,
    namespaces: NamespaceMap | None = None,
    variables: Mapping[str, object] | None = None,
    on_error: OnError = "null",
) -> Query:
    """Return the query for a table: a row for each record, with typed columns.

    >>> table("//book", {"id": "@id", "price": ("price", "decimal(8,2)"), "shop": "../name"})
    <Query table: {"record": "//book", "columns": {"id": "@id", "price": ["price", "decimal(8,2)"], "shop": "../name"}}>

    ``record`` is a path. ``columns`` maps a name to an expression of XPath 1.0 relative to the
    record, or to ``(expression, type)``. Types are ``string``, ``integer``, ``decimal(p,s)``,
    ``double``, ``boolean``, ``date``, ``timestamp``, ``binary``, ``xml``, and ``list[T]`` for all
    nodes instead of the first. A mapping of columns is a struct of the record; ``(path, columns)``
    is a struct of the first node of a path, ``(path, [columns])`` a list of structs of all of them.
    No node is null, and an empty element is ``''`` where a string is asked for.

    A value that does not fit its type is null and listed in the column ``errors``; with
    ``on_error="quarantine"`` or ``"raise"`` its document fails. ``namespaces`` and ``variables``
    are those of :func:`penstock.xpath`.

    Raises:
        QueryError: A path, a type or the form of the columns is not valid.
    """  # noqa: E501  # what is printed is one line
    if on_error not in get_args(OnError):
        way_out = f"use one of {', '.join(get_args(OnError))}"
        raise QueryError("PQ0704", f"on_error is {on_error!r}", (0, 0), way_out, "")
    if not isinstance(record, str):
        raise QueryError("PQ0701", f"the record is {record!r}, not a path", (0, 0), "'//book'", "")
    bindings = Namespaces(namespaces, record)
    slots = SlotTable()
    reader = ColumnReader(bindings, dict(variables or {}), slots)
    output = Table(reader.record(record), reader.columns(columns), on_error)
    if output.has_errors and "errors" in columns:
        message = "the column `errors` says which values do not fit"
        way_out = 'give the column another name, or use on_error="raise"'
        raise QueryError("PQ0701", message, (0, 0), way_out, "")
    written: dict[str, Any] = {"record": record, "columns": as_json(columns)}
    if on_error != "null":
        written["on_error"] = on_error
    text = json.dumps(written, ensure_ascii=False)
    options = options_of(bindings, variables)
    return Query((), output, tuple(slots.values), (), text, "table", options)


def read_table(
    text: str,
    *,
    namespaces: NamespaceMap | None = None,
    variables: Mapping[str, object] | None = None,
) -> Query:
    """Return the query of a table's text: ``record``, ``columns`` and ``on_error`` in JSON.

    Raises:
        QueryError: The text is no table.
    """
    try:
        written = json.loads(text)
    except (ValueError, RecursionError):
        written = None
    if not isinstance(written, dict) or not {"record", "columns"} <= written.keys() <= _FIELDS:
        message = "a table has a record and columns, in JSON"
        way_out = '{"record": "//book", "columns": {"id": "@id"}}'
        raise QueryError("PQ0705", message, (0, len(text)), way_out, text)
    return table(**written, namespaces=namespaces, variables=variables)


def record_query(query: Query) -> Query:
    """Return the query for the records of a table, as nodes."""
    return xpath(json.loads(query.text)["record"], **query.options)
