"""The table of columns; rows, their JSON, Arrow, Spark and SQL tables all follow from it.

A new column is one more field of :class:`Columns`. A new type of column needs an entry wherever
types are translated: ``arrow.py`` beside this file, ``spark/schema.py`` and ``sinks/tables.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import NoneType
from typing import Any, get_args, get_type_hints

from penstock.errors import DocumentError

Texts = tuple[str, ...]
Bindings = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a document, and where."""

    code: str
    reason: str
    byte: int
    line: int
    path: str

    @classmethod
    def of(cls, error: DocumentError) -> Fault:
        """Return the fault that an error reports."""
        return cls(error.code, error.reason, error.byte, error.line, error.path)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {name: getattr(self, name) for name in FAULT_FIELDS}


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns in order, the same wherever rows go.

    ``value`` is source text for an element or document and the string value for everything else.
    ``start`` and ``end`` count bytes of the document in UTF-8; an atomic value has neither, and
    a piece of a result that goes on has no ``end``. ``decided_at`` is the offset just past the
    event that decided the result. ``bindings`` are the values that the query selects beside the
    result, by name; None where there is no such node.
    """

    subscription: str | None
    stream: str
    document: str
    documents: Texts | None
    ordinal: int
    kind: str
    name: str
    value: str | None
    start: int | None
    end: int | None
    decided_at: int
    event_time: datetime | None = None
    bindings: Bindings | None = None
    error: Fault | None = None
    source: bytes | None = None


def _types(table: type) -> dict[str, Any]:
    """Return the types of the fields of a table by name, without the None of what may be null."""
    hints = get_type_hints(table)
    return {
        name: get_args(hint)[0] if NoneType in get_args(hint) else hint
        for name, hint in hints.items()
    }


COLUMNS = _types(Columns)
"""The types of the columns by name, in order."""
FAULT_FIELDS = _types(Fault)
"""The types of the fields of the column ``error`` by name, in order."""
