"""Rows as the tuples of a SQL table.

Lists, maps and the fault of a document become text and plain columns, since few databases have
anything else in common.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from penstock.results import Result
from penstock.results.columns import COLUMNS, FAULT_FIELDS, Bindings, Fault, Texts
from penstock.results.documents import microseconds_of, moment_of

if TYPE_CHECKING:
    from pyspark.sql import Column


def _paths() -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, type_ in COLUMNS.items():
        if type_ is Fault:
            yield from (((name, field), field_type) for field, field_type in FAULT_FIELDS.items())
        else:
            yield (name,), type_


_PATHS = dict(_paths())
"""The columns of rows with their types; in the place of the fault, each of its fields."""

_SQL_TYPES = {int: "INTEGER", bytes: "BLOB"}
TYPES = {"_".join(path): _SQL_TYPES.get(type_, "TEXT") for path, type_ in _PATHS.items()} | {
    "ordinal": "INTEGER NOT NULL",
    "kind": "TEXT NOT NULL",
    "id": "TEXT",
    "run": "TEXT NOT NULL",
    "batch": "INTEGER NOT NULL",
}
"""The columns of the table, as SQLite declares them.

``id`` is a hash of subscription, document and ordinal, short enough for an index of any database.
A row of a document without an id has none, so that it equals no other row.
"""

_TABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def columns(run: str, batch: int, **instead: Column) -> list[Column]:
    """Return the columns of the table, made of those of the rows or given ``instead``."""
    from pyspark.sql import functions

    flat = {"id": id_column(), "run": functions.lit(run), "batch": functions.lit(batch)}
    for path, type_ in _PATHS.items():
        make = functions.to_json if type_ in (Texts, Bindings) else functions.col
        flat["_".join(path)] = make(".".join(path))
    flat |= instead
    return [flat[name].alias(name) for name in TYPES]


def values(row: Result, batch: int, run: str) -> tuple[Any, ...]:
    """Return the tuple of a row of the in-process engine."""
    flat = []
    for path, type_ in _PATHS.items():
        value: Any = row
        for name in path:
            value = None if value is None else getattr(value, name)
        if value is not None and type_ in _AS_TEXT:
            value = _AS_TEXT[type_](value)
        flat.append(value)
    return (*flat, _id(row), run, batch)


def moment(micros: int) -> str:
    """Return an event time, in microseconds since 1970, as text."""
    return moment_of(micros).isoformat()


def checked_name(table: str) -> str:
    """Return the name of a table.

    Raises:
        ValueError: It is not a name that needs no quotes.
    """
    if not _TABLE.fullmatch(table):
        raise ValueError(f"a table's name is letters, digits and _, not {table!r}")
    return table


# The hashed text begins with the ordinal and the length of the subscription's name, so that no
# two ids have the same text. Both functions make the same text.
def id_column() -> Column:
    """Return the column with the hash of a result's id."""
    from pyspark.sql import functions

    subscription = functions.col("subscription")
    parts = (
        functions.col("ordinal").cast("string"),
        functions.lit(" "),
        functions.coalesce(functions.length(subscription), functions.lit(-1)).cast("string"),
        functions.lit(" "),
        functions.coalesce(subscription, functions.lit("")),
        functions.col("document"),
    )
    return functions.sha2(functions.concat(*parts), 256)


def _id(row: Result) -> str | None:
    if row.document is None:
        return None
    length = -1 if row.subscription is None else len(row.subscription)
    text = f"{row.ordinal} {length} {row.subscription or ''}{row.document}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_AS_TEXT: dict[Any, Callable[[Any], str]] = {
    Texts: _json,
    Bindings: lambda bindings: _json(dict(bindings)),
    datetime: lambda time: moment(microseconds_of(time)),
}
