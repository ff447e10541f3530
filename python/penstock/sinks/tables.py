"""Rows as the tuples of a SQL table.

Lists, maps and the fault of a document become text and plain columns, since few databases have
anything else in common.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from penstock.results import Result

if TYPE_CHECKING:
    from pyspark.sql import Column

TYPES = {
    "subscription": "TEXT",
    "stream": "TEXT",
    "document": "TEXT",
    "documents": "TEXT",
    "ordinal": "INTEGER NOT NULL",
    "kind": "TEXT NOT NULL",
    "name": "TEXT",
    "value": "TEXT",
    "start": "INTEGER",
    "end": "INTEGER",
    "decided_at": "INTEGER",
    "event_time": "TEXT",
    "bindings": "TEXT",
    "error_code": "TEXT",
    "error_reason": "TEXT",
    "error_byte": "INTEGER",
    "error_line": "INTEGER",
    "error_path": "TEXT",
    "source": "BLOB",
    "id": "TEXT",
    "run": "TEXT NOT NULL",
    "batch": "INTEGER NOT NULL",
}
"""The columns of the table, as SQLite declares them.

``id`` is a hash of subscription, document and ordinal, short enough for an index of any database.
A row of a document without an id has none, so that it equals no other row.
"""

_TABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def columns(instead: Mapping[str, Column]) -> list[Column]:
    """Return the columns of the table, made of those of the rows or given."""
    from pyspark.sql import functions

    made = []
    for name in TYPES:
        if name in instead:
            column = instead[name]
        elif name == "id":
            column = _id_column()
        elif name in ("documents", "bindings"):
            column = functions.to_json(name)
        elif name.startswith("error_"):
            column = functions.col(f"error.{name.removeprefix('error_')}")
        else:
            column = functions.col(name)
        made.append(column.alias(name))
    return made


def values(row: Result, batch: int, run: str) -> tuple[Any, ...]:
    """Return the tuple of a row of the in-process engine."""
    fault = row.error
    return (
        row.subscription,
        row.stream,
        row.document,
        None if row.documents is None else _json(row.documents),
        row.ordinal,
        row.kind,
        row.name,
        row.value,
        row.start,
        row.end,
        row.decided_at,
        None if row.event_time is None else moment(_micros(row.event_time)),
        None if row.bindings is None else _json(row.bindings),
        *(
            (None,) * 5
            if fault is None
            else (fault.code, fault.reason, fault.byte, fault.line, fault.path)
        ),
        row.source,
        _id(row),
        run,
        batch,
    )


def moment(micros: int) -> str:
    """Return an event time, in microseconds since 1970, as text."""
    seconds, rest = divmod(micros, 1_000_000)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest).isoformat()


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
def _id_column() -> Column:
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


def _json(value: Any) -> str:
    plain = dict(value) if isinstance(value, Mapping) else list(value)
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def _micros(event_time: datetime) -> int:
    passed = event_time - _EPOCH
    return (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds
